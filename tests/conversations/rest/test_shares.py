"""Links over the API: what they are, what is asked of who makes one, and that they are their person's."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from artifacts.models import Artifact
from conversations.models import Share, Thread
from conversations.runtime.db import in_database
from conversations.sharing import shares
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOTHING = {"book": False, "files": False, "names": False, "title": False}


@pytest.fixture(autouse=True)
def sharing_is_on(settings: Settings) -> None:
    settings.OPENBOOK_SHARING = True


def rows(user: User) -> tuple[Thread, Artifact]:
    thread = make_thread(user, ["One", "Two", "Three"])
    return thread, make_artifact(thread, "First", "Second")


async def test_a_link_to_a_thread_is_made_listed_and_revoked(user: User, api: Api) -> None:
    thread, _ = await in_database(rows)(user)
    second = await thread.messages.aget(position=2)
    made = await api.post(
        f"threads/{thread.id}/shares/", {"message": str(second.id), "days": 7, "shows": {"book": True}}
    )
    row = await Share.objects.aget()
    assert made.status == 201
    assert made.body | {"created_at": "", "expires_at": ""} == {
        "id": str(row.id),
        "url": shares.address_of(row),
        "kind": "thread",
        "thread": str(thread.id),
        "message": str(second.id),
        "artifact": None,
        "version": None,
        "shows": NOTHING | {"book": True},
        "views": 0,
        "created_at": "",
        "expires_at": "",
    }
    assert abs(row.expires_at - row.created_at - timedelta(days=7)) < timedelta(minutes=5)
    assert (await api.get("shares/")).body["results"] == [made.body]
    assert (await api.get(f"shares/?thread={thread.id}")).body["results"] == [made.body]
    assert (await api.get(made.body["url"])).status == 200
    assert (await api.call("DELETE", f"shares/{row.id}/")).status == 204
    assert (await api.get("shares/")).body["results"] == []
    assert (await api.get(made.body["url"])).status == 404
    assert (await api.call("DELETE", f"shares/{row.id}/")).code[2] == "share_not_found"


async def test_without_a_body_the_newest_turn_and_the_newest_version_are_shared(user: User, api: Api) -> None:
    thread, artifact = await in_database(rows)(user)
    newest = await thread.messages.aget(position=3)
    of_thread = (await api.post(f"threads/{thread.id}/shares/", {})).body
    of_artifact = (await api.post(f"artifacts/{artifact.id}/shares/", {})).body
    assert (of_thread["message"], of_thread["shows"]) == (str(newest.id), NOTHING)
    assert (of_artifact["artifact"], of_artifact["message"], of_artifact["version"]) == (str(artifact.id), None, None)
    until = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%S.%fZ}"
    fixed = (await api.post(f"artifacts/{artifact.id}/shares/", {"version": 1, "expires_at": until})).body
    assert (fixed["version"], fixed["expires_at"]) == (1, until)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"days": 0}, "invalid"),
        ({"days": 91}, "invalid"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "invalid"),
        ({"expires_at": "2999-01-01T00:00:00Z"}, "invalid"),
        ({"days": 1, "expires_at": f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%MZ}"}, "invalid"),
        ({"shows": {"memory": "yes", "book": 7}}, "invalid"),
        ({"message": "nonsense"}, "invalid"),
        ({"message": "0198c0de-0000-7000-8000-000000000000"}, "message_not_found"),
    ],
)
async def test_what_can_not_be_shared_is_told(user: User, api: Api, body: dict[str, Any], code: str) -> None:
    thread, artifact = await in_database(rows)(user)
    assert (await api.post(f"threads/{thread.id}/shares/", body)).code[2] == code
    assert (await api.post(f"artifacts/{artifact.id}/shares/", {"version": 9})).code[2] == "version_not_found"
    empty = await in_database(make_thread)(user)
    assert (await api.post(f"threads/{empty.id}/shares/", {})).code[2] == "invalid_message"
    other = await in_database(make_thread)(user, ["One"])
    of_other = {"message": str((await other.messages.aget()).id)}
    assert (await api.post(f"threads/{thread.id}/shares/", of_other)).code[2] == "message_not_found"
    assert not await Share.objects.aexists()


async def test_there_is_an_end_to_how_many(user: User, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MOST", 2)
    thread, _ = await in_database(rows)(user)
    made = [await api.post(f"threads/{thread.id}/shares/", {}) for _ in range(3)]
    assert [each.status for each in made] == [201, 201, 409]
    assert made[2].code[2] == "too_many_shares"


async def test_a_server_shares_nothing_unless_it_is_told_to(user: User, api: Api, settings: Settings) -> None:
    thread, artifact = await in_database(rows)(user)
    made = (await api.post(f"threads/{thread.id}/shares/", {})).body
    settings.OPENBOOK_SHARING = False
    for path in (f"threads/{thread.id}/shares/", f"artifacts/{artifact.id}/shares/"):
        assert (await api.post(path, {})).code == (403, "permission", "sharing_off")
    assert (await api.get("shares/")).body["results"] == [made]
    assert (await api.call("DELETE", f"shares/{made['id']}/")).status == 204
