"""What the caller has already isn't sent again, and what was changed meanwhile isn't changed unseen."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.models import Message, Thread
from conversations.runtime.db import in_database
from memory import forgetting
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_thread
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture
async def thread(user: User) -> Thread:
    return await in_database(make_thread)(user, ["Tea?", "Yes."], title="Tea")


async def unchanged(api: Api, path: str, tag: str) -> bool:
    answer = await api.get(path, **{"If-None-Match": f'"else", W/{tag}'})
    assert answer.status in (200, 304)
    assert answer.status == 200 or (answer.body, answer.headers["etag"]) == ("", tag)
    return answer.status == 304


async def test_a_thread_and_its_turns_are_sent_again_only_when_something_of_them_is_new(
    api: Api, user: User, thread: Thread, model: ModelServer
) -> None:
    paths = [f"threads/{thread.id}/", f"threads/{thread.id}/messages/"]
    first = await Message.objects.aget(thread=thread, position=1)

    async def failed() -> None:
        model.script(scripts.error(400, "invalid_request_error"))
        assert (await api.post(f"threads/{thread.id}/messages/", {"content": "More?"})).status == 502

    async def retried() -> None:
        newest = (await api.get(paths[1])).body["results"][-1]
        retry = await api.post(f"replies/{newest['reply']['id']}/retry/")
        assert [event["type"] async for event in api.events("GET", f"replies/{retry.body['id']}/events/")]

    changes: list[Callable[[], Awaitable[Any]]] = [
        lambda: api.call("PATCH", paths[0], {"title": "Coffee"}),
        failed,
        retried,
        lambda: in_database(forgetting.forget_turn)(user, first.id),
    ]
    for change in changes:
        tags = [(await api.get(path)).headers["etag"] for path in paths]
        assert [await unchanged(api, path, tag) for path, tag in zip(paths, tags, strict=True)] == [True, True]
        await change()
        assert [await unchanged(api, path, tag) for path, tag in zip(paths, tags, strict=True)] == [False, False]


async def test_each_page_of_turns_has_its_own_tag(api: Api, thread: Thread) -> None:
    path = f"threads/{thread.id}/messages/?page_size=1"
    first = await api.get(path)
    assert not await unchanged(api, first.body["next"], first.headers["etag"])


async def test_an_artifact_and_its_file_are_sent_again_only_when_it_changed(api: Api, thread: Thread) -> None:
    artifact = await in_database(make_artifact)(thread, "one")
    path, file = f"artifacts/{artifact.id}/", f"artifacts/{artifact.id}/export/"
    tags = [(await api.get(each)).headers["etag"] for each in (path, file)]
    assert [await unchanged(api, path, tags[0]), await unchanged(api, file, tags[1])] == [True, True]
    assert not await unchanged(api, f"{file}?as=html", tags[1])
    changed = await api.call("PATCH", path, {"content": "two"}, **{"If-Match": tags[0]})
    assert changed.status == 200
    assert await unchanged(api, path, changed.headers["etag"])
    assert [await unchanged(api, path, tags[0]), await unchanged(api, file, tags[1])] == [False, False]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
@pytest.mark.parametrize("kind", ["thread", "artifact"])
async def test_what_was_changed_meanwhile_is_neither_changed_nor_deleted(
    api: Api, thread: Thread, method: str, kind: str
) -> None:
    artifact = await in_database(make_artifact)(thread, title="Tea")
    path = f"threads/{thread.id}/" if kind == "thread" else f"artifacts/{artifact.id}/"
    seen = (await api.get(path)).headers["etag"]
    now = (await api.call("PATCH", path, {"title": "Theirs"})).headers["etag"]
    for stale in (seen, f"W/{now}"):
        refused = await api.call(method, path, {"title": "Mine"}, **{"If-Match": stale})
        assert refused.code == (412, "precondition_failed", "precondition_failed")
        assert refused.body["error"]["details"] == {"etag": now}
    assert (await api.get(path)).body["title"] == "Theirs"
    done = await api.call(method, path, {"title": "Mine"}, **{"If-Match": f'"else", {now}'})
    assert done.status in (200, 204)
