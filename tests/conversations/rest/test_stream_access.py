"""Answers that take long end with the access of who reads them: within one check, busy or silent, whatever is streamed."""

import json
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import AsyncClient
from django.utils import timezone

from conversations.errors import OpenbookError, SignInNeeded
from conversations.models import ApiToken
from conversations.rest import streams
from conversations.rest.streams import AccessEnded, while_allowed
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

type Loss = Callable[[User], Any]


def deactivated(user: User) -> None:
    User.objects.filter(id=user.id).update(is_active=False)


def revoked(user: User) -> None:
    ApiToken.objects.filter(user=user).update(revoked_at=timezone.now())


def expired(user: User) -> None:
    ApiToken.objects.filter(user=user).update(expires_at=timezone.now() - timedelta(seconds=1))


def without_export(user: User) -> None:
    ApiToken.objects.filter(user=user).update(scopes=["read", "write"])


def with_another_password(user: User) -> None:
    changed = User.objects.get(id=user.id)
    changed.set_password("another-horse-battery-9")
    changed.save()


def signed_out(_user: User) -> None:
    Session.objects.all().delete()


TOKEN_LOSSES: dict[Loss, str] = {
    deactivated: "not_authenticated",
    revoked: "not_authenticated",
    expired: "not_authenticated",
    without_export: "insufficient_scope",
}
STREAMS: dict[str, Any] = {
    "threads/new/messages/stream/": {"content": "Hello"},
    "/v1/messages": {
        "model": "companion",
        "max_tokens": 500,
        "stream": True,
        "messages": [{"role": "user", "content": "Hello"}],
    },
}
STOPPED = ("event: reply.stopped", "event: message_stop")
"""Replies of whoever is deactivated are stopped as well: which of the two ends a stream is not told."""


@pytest.fixture(autouse=True)
def checked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.05)


async def signed_in(user: User) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(user)
    return client


@pytest.mark.parametrize("path", STREAMS)
@pytest.mark.parametrize("lose", TOKEN_LOSSES, ids=lambda lose: lose.__name__)
async def test_an_event_stream_ends_with_what_the_token_may(
    user: User, model: ModelServer, lose: Loss, path: str
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("The first half, ", gate, "then the rest."))
    api = await in_database(Api)(user)
    key = {"X-Api-Key": api.headers["Authorization"].removeprefix("Token ")}
    told = api.frames("POST", path, STREAMS[path], **key)
    seen = ""
    while "first half" not in seen:
        seen += await anext(told)
    await in_database(lose)(user)
    rest = "".join([frame async for frame in told])
    gate.open()
    *_, event, data = rest.strip().split("\n")
    code = json.loads(data.removeprefix("data: ")).get("code")
    is_stopped = lose is deactivated and event in STOPPED
    assert is_stopped or (event, code) == ("event: error", TOKEN_LOSSES[lose])
    assert "the rest" not in rest


@pytest.mark.parametrize(
    "lose", [deactivated, with_another_password, signed_out], ids=["deactivated", "another password", "signed out"]
)
async def test_an_event_stream_ends_with_the_session(user: User, model: ModelServer, lose: Loss) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("The first half, ", gate, "then the rest."))
    client = await signed_in(user)
    response: Any = await client.post(
        "/api/v1/threads/new/messages/stream/", {"content": "Hello"}, content_type="application/json"
    )
    told = aiter(response)
    await anext(told)
    await in_database(lose)(user)
    rest = b"".join([frame async for frame in told])
    gate.open()
    is_told = b"event: error\n" in rest and b"not_authenticated" in rest
    assert is_told or b"event: reply.stopped\n" in rest  # whoever is deactivated has their replies stopped
    assert b"the rest" not in rest


@pytest.mark.parametrize("path", ["export/", "threads/{}/export/"])
async def test_a_download_breaks_off_with_the_token(user: User, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.01)
    thread = await in_database(make_thread)(user, ["A long talk. " * 400] * 40)
    await in_database(make_thread)(user, ["A long talk. " * 400] * 40)
    api = await in_database(Api)(user)
    response: Any = await api.client.get(f"/api/v1/{path.format(thread.id)}", headers=api.headers)
    told = aiter(response)
    assert await anext(told)
    await in_database(revoked)(user)
    with pytest.raises(AccessEnded):
        async for _ in told:
            pass


async def always_more() -> AsyncGenerator[int]:
    number = 0
    while True:
        number += 1
        yield number


async def test_a_stream_that_never_pauses_is_checked_too() -> None:
    results: list[OpenbookError | None] = [None, SignInNeeded()]
    with pytest.raises(AccessEnded):
        async for _ in while_allowed(always_more(), lambda: results.pop(0)):
            pass
    assert results == []


async def test_a_database_that_is_away_ends_no_stream() -> None:
    checks = 0

    def check() -> OpenbookError | None:
        nonlocal checks
        checks += 1
        if checks < 3:
            raise OperationalError
        return SignInNeeded()

    with pytest.raises(AccessEnded):
        async for _ in while_allowed(always_more(), check):
            pass
    assert checks == 3
