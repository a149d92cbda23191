"""Artifacts over REST: made, changed, deleted and restored; nothing of a version is ever lost."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from artifacts.models import Artifact, ArtifactVersion
from conversations.models import Message, Thread
from conversations.runtime.db import in_database
from conversations.runtime.shapes import moment
from conversations.wire import artifacts as wire
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api, ApiResponse

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def thread_of(user: User, *turns: str) -> Thread:
    return await in_database(make_thread)(user, turns)


async def artifact_of(user: User, *contents: str, **values: Any) -> Artifact:
    return await in_database(make_artifact)(await thread_of(user), *contents, **values)


def titles(answer: ApiResponse) -> list[str]:
    return [artifact["title"] for artifact in answer.body["results"]]


async def versions() -> list[tuple[int, str, str]]:
    rows = ArtifactVersion.objects.order_by("number").values_list("number", "content", "origin")
    return [row async for row in rows]


def make_answered(user: User) -> tuple[Message, Artifact]:
    """An answer, and the artifact that its reply saved before the answer was stored."""
    thread = make_thread(user, ["Write a BRD"])
    reply = make_reply(thread)
    values = {"thread": thread, "role": "assistant", "text": "Done", "token_count": 5, "token_total": 10}
    answer = Message.objects.create(
        **values, position=2, depth=2, parent=thread.messages.get(), reply=reply, created_at=NOON
    )
    return answer, make_artifact(thread, "# BRD", reply_id=reply.id, after_position=1, created_at=NOON)


async def test_an_artifact_that_a_program_adds_is_given_as_it_was_sent(user: User, api: Api) -> None:
    thread = await thread_of(user, "Hi", "Hello")
    sent = {"title": "Sums", "kind": "code", "language": "python", "content": "1 + 1\n"}
    made = await api.post(f"threads/{thread.id}/artifacts/", sent)
    told = dict(made.body)
    times = [told.pop(name) for name in ("created_at", "updated_at")]
    assert (made.status, told.pop("id"), times) == (
        201,
        made.body["id"],
        [moment((await Artifact.objects.aget()).created_at)] * 2,
    )
    assert told == sent | {
        "thread": str(thread.id),
        "version": 1,
        "size": 6,
        "deleted_at": None,
        "message": None,
        "reply": None,
        "preset": "",
        "after_position": 2,
        "origin": "program",
    }
    assert (await api.get(f"artifacts/{made.body['id']}/")).body == made.body
    listed = (await api.get(f"threads/{thread.id}/artifacts/?content=false")).body
    assert listed == {
        "next": None,
        "previous": None,
        "results": [{name: value for name, value in made.body.items() if name != "content"}],
    }
    whole = (await api.get(f"threads/{thread.id}/artifacts/")).body
    assert whole["results"] == [made.body]


async def test_a_version_of_a_reply_names_the_turn_that_the_reply_became(user: User, api: Api) -> None:
    answer, artifact = await in_database(make_answered)(user)
    provenance = {"message": str(answer.id), "reply": str(answer.reply_id), "origin": "reply"}
    one = (await api.get(f"artifacts/{artifact.id}/")).body
    [listed] = (await api.get(f"threads/{answer.thread_id}/artifacts/")).body["results"]
    assert [one[name] for name in provenance] == [listed[name] for name in provenance] == [*provenance.values()]
    version = {
        "title": "BRD",
        "kind": "document",
        "version": 1,
        "size": 5,
        "created_at": "2026-03-01T12:00:00Z",
        **provenance,
    }
    assert (await api.get(f"artifacts/{artifact.id}/versions/?content=false")).body["results"] == [version]
    assert (await api.get(f"artifacts/{artifact.id}/versions/1/")).body == version | {"content": "# BRD"}


async def test_a_list_costs_the_same_for_many_artifacts_as_for_one(user: User, api: Api) -> None:
    def lists(thread: Thread) -> list[int]:
        counts = []
        for whole in (False, True):
            with CaptureQueriesContext(connection) as queries:
                rows = wire.artifact_rows(thread.user_id, Artifact.objects.filter(thread=thread), whole=whole)
                made = [wire.artifact_object(row, whole=whole) for row in rows]
                [wire.version_object(row) for row in wire.version_rows(thread.user_id, thread.artifact_versions.all())]
            assert len(made) == thread.artifacts.count()
            counts.append(len(queries))
        return counts

    def measure() -> list[list[int]]:
        threads = [make_thread(user, ["Hi"]) for _ in range(2)]
        for thread, many in zip(threads, (1, 5), strict=True):
            for _ in range(many):
                make_artifact(thread, "old", "new", reply_id=make_reply(thread).id)
        return [lists(thread) for thread in threads]

    assert await in_database(measure)() == [[2, 2], [2, 2]]


async def test_pages_lead_through_artifacts_and_versions(user: User, api: Api) -> None:
    thread = await thread_of(user)
    for hour, title in enumerate(["first", "second", "third"]):
        await in_database(make_artifact)(thread, title=title, created_at=NOON.replace(hour=hour))
    one = await api.get(f"threads/{thread.id}/artifacts/?page_size=2")
    two = await api.get(one.body["next"])
    assert [titles(one), titles(two), two.body["next"]] == [["third", "second"], ["first"], None]

    artifact = await in_database(make_artifact)(thread, *map(str, range(1, 201)))
    numbers, address = [], f"artifacts/{artifact.id}/versions/?page_size=90"
    while address:
        page = (await api.get(address)).body
        numbers += [(each["version"], each["content"]) for each in page["results"]]
        address = page["next"]
    assert numbers == [(number, str(number)) for number in range(200, 0, -1)]


async def test_another_content_makes_a_version_by_hand_and_the_same_one_makes_none(user: User, api: Api) -> None:
    artifact = await artifact_of(user, "one", title="Old", kind="document")
    change = {"title": "New", "kind": "code", "language": "sql", "content": "two", "version": 1}
    changed = (await api.call("PATCH", f"artifacts/{artifact.id}/", change)).body
    expected = change | {"version": 2, "origin": "hand"}
    assert {name: changed[name] for name in expected} == expected
    again = await api.call("PATCH", f"artifacts/{artifact.id}/", {"content": "two", "version": 2})
    assert (again.status, again.body) == (200, changed)
    renamed = (await api.call("PATCH", f"artifacts/{artifact.id}/", {"title": "Newest"})).body
    assert renamed == changed | {"title": "Newest"}
    assert await versions() == [(1, "one", "program"), (2, "two", "hand")]


async def test_a_change_based_on_an_older_version_stores_nothing_of_itself(user: User, api: Api) -> None:
    artifact = await artifact_of(user, "one", "two", title="Kept")
    before = (await api.get(f"artifacts/{artifact.id}/")).body
    refused = await api.call("PATCH", f"artifacts/{artifact.id}/", {"content": "mine", "title": "Mine", "version": 1})
    assert refused.refusal == (
        409,
        {
            "type": "conflict",
            "code": "version_conflict",
            "message": "Version 2 was saved meanwhile. Look at it, then save again based on it; nothing was stored.",
            "details": {"version": 2},
        },
    )
    assert (await api.get(f"artifacts/{artifact.id}/")).body == before


@pytest.mark.parametrize("based_on", [{"version": 1}, {}])
async def test_of_writers_at_once_none_overwrites_another(user: User, api: Api, based_on: dict[str, int]) -> None:
    artifact = await artifact_of(user, "one")
    bodies = [{"content": f"by {writer}", **based_on} for writer in range(6)]
    answers = await asyncio.gather(*(api.call("PATCH", f"artifacts/{artifact.id}/", body) for body in bodies))
    stored = [str(body["content"]) for body, answer in zip(bodies, answers, strict=True) if answer.status == 200]
    refused = [answer.code for answer in answers if answer.status != 200]
    assert refused == [(409, "conflict", "version_conflict")] * (5 if based_on else 0)
    found = await versions()
    assert [number for number, *_ in found] == list(range(1, len(stored) + 2))
    assert sorted(content for _, content, _ in found) == sorted(["one", *stored])


async def test_a_deleted_artifact_is_out_of_sight_until_it_is_restored(user: User, api: Api) -> None:
    artifact = await artifact_of(user, "one", "two")
    address, listed = f"artifacts/{artifact.id}/", f"threads/{artifact.thread_id}/artifacts/"
    before = (await api.get(address)).body
    assert (await api.call("DELETE", address)).status == 204
    deleted_at = (await Artifact.objects.aget()).deleted_at
    assert deleted_at
    for hidden in (address, f"{address}versions/", f"{address}versions/1/"):
        assert (await api.get(hidden)).code == (404, "not_found", "artifact_not_found")
    assert (await api.call("PATCH", address, {"content": "x"})).code == (409, "conflict", "artifact_deleted")
    assert (await api.call("PATCH", address, {"title": "x"})).code == (409, "conflict", "artifact_deleted")
    assert [titles(await api.get(listed + query)) for query in ("", "?deleted=true")] == [[], ["BRD"]]
    seen = (await api.get(f"{address}?deleted=true")).body
    assert seen == before | {"deleted_at": moment(deleted_at)}
    assert (await api.get(f"{address}versions/1/?deleted=true")).body["content"] == "one"

    assert (await api.call("DELETE", address)).status == 204
    assert (await Artifact.objects.aget()).deleted_at == deleted_at
    for _ in range(2):
        restored = await api.post(f"{address}restore/")
        assert (restored.status, restored.body) == (200, before)


async def test_what_can_not_be_stored_is_refused_and_leaves_nothing(user: User, api: Api, settings: Any) -> None:
    cases: list[tuple[Any, int, str]] = [
        ({"title": "T", "content": " \n"}, 400, "content_missing"),
        ({"title": "T"}, 400, "invalid"),
        ({"content": "x"}, 400, "invalid"),
        ({"title": "\x00\x1f \x9f\n", "content": "x"}, 400, "title_missing"),
        ({"title": "x" * 201, "content": "x"}, 400, "title_too_long"),
        ({"title": "T", "content": "x" * 101}, 413, "artifact_too_long"),
        ({"title": "T", "content": "x", "kind": "spreadsheet"}, 400, "invalid"),
        ({"title": "T", "content": "x", "language": "x" * 41}, 400, "invalid"),
        ({"title": ["T"], "content": {"a": 1}}, 400, "invalid"),
        ({"title": None, "content": None}, 400, "invalid"),
        ([], 400, "invalid"),
    ]
    for sent, status, code in cases:
        settings.OPENBOOK_MAX_ARTIFACT_CHARS = 100
        thread = await thread_of(user)
        refused = await api.post(f"threads/{thread.id}/artifacts/", sent)
        assert (refused.code[0], refused.code[2]) == (status, code), sent
        assert [await Artifact.objects.acount(), await ArtifactVersion.objects.acount()] == [0, 0], sent


async def test_texts_are_stored_as_they_can_be_held(user: User, api: Api) -> None:
    thread = await thread_of(user)
    sent = {"title": "a\x00\r\nb\x1b[0m\ud800 ", "content": " \x00\ud83c\udf75\tkept\r\n ", "language": "my\nsql"}
    made = (await api.post(f"threads/{thread.id}/artifacts/", sent)).body
    assert [made["title"], made["content"], made["language"]] == [
        "a b [0m\ufffd",
        " \ufffd🍵\tkept\r\n ",
        "my sql",
    ]


async def test_a_version_that_there_is_none_of_is_not_found(user: User, api: Api) -> None:
    cases: list[str] = ["0", "3", "-1", "x", "²", "9" * 40, "1.0"]
    for number in cases:
        artifact = await artifact_of(user, "one", "two")
        missing = await api.get(f"artifacts/{artifact.id}/versions/{number}/")
        assert missing.code == (404, "not_found", "version_not_found"), number


async def test_a_switch_or_a_page_that_makes_no_sense_is_refused(user: User, api: Api) -> None:
    cases: list[str] = ["content=yes", "deleted=1", "page_size=0", "cursor=x"]
    for query in cases:
        thread = await thread_of(user)
        assert (await api.get(f"threads/{thread.id}/artifacts/?{query}")).status == 400, query
