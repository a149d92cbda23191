"""Bodies that still come when the access of who sends them has ended."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.server import senders
from config.server.bodies import BodyRefused
from config.server.senders import Sender, watched
from conversations.accounts import deactivation, tokens
from conversations.runtime.db import in_database

pytestmark = pytest.mark.django_db(transaction=True)


def offers(user: User) -> dict[str, dict[str, str]]:
    """The headers of each way to say who one is."""
    token, client = tokens.issue(user=user, name="own"), Client()
    client.force_login(user)
    return {
        "token": {"authorization": f"Token {token}"},
        "bearer": {"authorization": f"bearer {token}"},
        "key": {"x-api-key": token},
        "session": {"cookie": f"other=1; sessionid={client.cookies['sessionid'].value}"},
    }


async def test_whatever_was_offered_ends_with_the_account(user: User) -> None:
    offered = await in_database(offers)(user)
    before = {name: await Sender(headers).refusal() for name, headers in offered.items()}
    await in_database(deactivation.deactivate)(user)
    after = {name: getattr(await Sender(headers).refusal(), "code", None) for name, headers in offered.items()}
    assert (before, after) == (dict.fromkeys(offered), dict.fromkeys(offered, "not_authenticated"))
    assert await Sender({"authorization": "Token x", "cookie": "sessionid=;;"}).refusal()


async def test_a_body_that_the_application_reads_itself_ends_too(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "CHECK_SECONDS", 0.05)
    offered = (await in_database(offers)(user))["token"]
    pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    receive = watched(pieces.get, Sender(offered), BodyRefused)
    pieces.put_nowait({"type": "http.request", "body": b"half", "more_body": True})
    assert (await receive())["body"] == b"half"
    waiting = asyncio.ensure_future(receive())
    await asyncio.wait([waiting], timeout=0.2)
    assert not waiting.done(), "who may still sends as slowly as they like"
    await in_database(deactivation.deactivate)(user)
    with pytest.raises(BodyRefused):
        await waiting
