"""Exports over REST: the same document out as in, in pieces, and whatever the caller sees."""

import json
import time
import tracemalloc
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone

from conversations.import_export import export_pages
from conversations.import_export.document_writer import export
from conversations.models import Message, Reply, Thread, text_blocks
from conversations.runtime.db import in_database
from memory.models import DailySummary, IndexedPassage, Memory, Topic
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api
from tests.conversations.rest.documents import FULL, NINE, TABLES, counts, document, iso, of_user, talk
from tests.model_server import ModelServer
from tests.statements import statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


async def test_an_export_is_the_document_that_was_imported_also_in_another_account(
    user: User, other_user: User, api: Api, others_api: Api
) -> None:
    assert (await api.post("import/", FULL)).status == 201
    exported = (await api.get("export/")).body
    assert exported == of_user(FULL, user)

    for thread in FULL["threads"]:
        assert (await api.call("DELETE", f"threads/{thread['id']}/")).status == 204
    await Memory.objects.all().adelete()
    await Topic.objects.all().adelete()
    assert await counts() == [0] * len(TABLES)
    assert (await others_api.post("import/", exported)).status == 201
    assert (await others_api.get("export/")).body == of_user(FULL, other_user)
    nothing: dict[str, Any] = {"threads": [], "memories": [], "topics": [], "prompts": []}
    assert (await api.get("export/")).body == FULL | nothing, "what a person decided is still so"
    days = [(day.user_id, day.day.isoformat(), day.text) async for day in DailySummary.objects.all()]
    assert days == [(other_user.id, "2026-03-01", "A cup was drawn.")]


@pytest.mark.parametrize("more", [0, 1])
async def test_an_answer_is_exported_with_the_model_that_wrote_it(
    user: User, api: Api, others_api: Api, model: ModelServer, more: int
) -> None:
    model.script(scripts.text("Mint."))
    sent = (await api.post("threads/new/messages/", {"content": "Which tea?"})).body
    for _ in range(more):  # short threads are read together, another way than one
        await in_database(make_thread)(user, ["Later"])
    exported = (await api.get("export/")).body
    wrote = [turn.get("model") for turn in exported["threads"][0]["messages"]]
    assert wrote == [None, sent["assistant_message"]["model"]] == [None, "claude-sonnet-5-5"]

    there = (await others_api.post("import/", exported)).body["threads"][0]["id"]
    turns = (await others_api.get(f"threads/{there}/messages/")).body["results"]
    assert [(turn["model"], turn["reply"]) for turn in turns] == [(None, None), ("claude-sonnet-5-5", None)]
    again = (await others_api.get("export/")).body["threads"][0]["messages"]
    assert [turn.get("model") for turn in again] == wrote

    assert (await others_api.post(f"messages/{turns[1]['id']}/forget/")).status == 200
    assert (await others_api.get(f"threads/{there}/messages/")).body["results"][1]["model"] is None
    assert "claude-sonnet" not in json.dumps((await others_api.get("export/")).body)


async def test_a_book_with_forgotten_turns_is_imported_as_it_was_exported(
    user: User, api: Api, others_api: Api
) -> None:
    assert (await api.post("import/", FULL)).status == 201
    gone = FULL["threads"][0]["messages"][0]["id"]
    assert (await api.call("DELETE", f"messages/{gone}/")).status == 204
    exported = (await api.get("export/")).body
    blanked = next(turn for thread in exported["threads"] for turn in thread["messages"] if turn["id"] == gone)
    assert (blanked["content"], blanked["status"]) == ([{"type": "text", "text": "[forgotten]"}], "forgotten")

    blanked["content"] = "Not so."  # nothing can be said in the name of what is forgotten
    assert (await others_api.post("import/?ids=new", exported)).status == 201
    turns = [(one.text, one.status, one.content) async for one in Message.objects.filter(status="forgotten")]
    assert turns == [("[forgotten]", "forgotten", None)] * 2
    places = [(one.position, one.length) async for one in IndexedPassage.objects.filter(terms=[], position=1)]
    assert places == [(1, 0)] * 2, "nothing finds them"


def make_written(user: User) -> Reply:
    """A thread as the application writes it: an answer that a retry replaced, an artifact that was made in mid-reply, one with
    two versions, one deleted."""
    thread = make_thread(user, ["Draw", "Failed"], title="Drawn")
    question, failed = thread.messages.order_by("position")
    Message.objects.filter(id=failed.id).update(is_active=False)
    reply = make_reply(thread)
    values = {"thread": thread, "role": "assistant", "text": "Done", "token_count": 5, "token_total": 10}
    Message.objects.create(
        **values, position=3, depth=2, content=text_blocks("Done"), parent=question, reply=reply, created_at=NINE
    )
    Thread.objects.filter(id=thread.id).update(last_position=3)
    made: dict[str, dict[str, Any]] = {
        "by reply": {"reply_id": reply.id, "after_position": 3},
        "by replaced turn": {"message": failed, "after_position": 2},
        "deleted": {"deleted_at": NINE},
    }
    for title, more in made.items():
        make_artifact(thread, "old", "new", title=title, created_at=NINE, **more)
    Memory.objects.create(user=user, content="Seen", sources=[failed.id], created_at=NINE)
    return reply


@pytest.mark.parametrize("more", [0, 1])
async def test_an_export_holds_what_the_caller_sees(user: User, api: Api, others_api: Api, more: int) -> None:
    reply = await in_database(make_written)(user)
    for _ in range(more):  # short threads are read together, another way than one
        await in_database(make_thread)(user, ["Later"])
    answer, left = await Message.objects.aget(reply=reply), str((await Message.objects.aget(text="Failed")).id)
    exported = (await api.get("export/")).body
    thread = exported["threads"][0]
    assert [message["content"][0]["text"] for message in thread["messages"]] == ["Draw", "Done"]
    assert [(turn["id"], turn["parent"], turn["after_position"]) for turn in thread["branches"]] == [
        (left, thread["messages"][0]["id"], 1)
    ]
    artifacts = thread["artifacts"]
    told = {
        each["title"]: (each["content"], each["message"], each["after_position"], each.get("after"))
        for each in artifacts
    }
    assert told == {
        "by reply": ("new", str(answer.id), 2, None),  # its place on the path, not among all turns
        "by replaced turn": ("new", left, 1, left),
    }
    assert [[(v["content"], v["message"]) for v in each["versions"]] for each in artifacts] == [
        [(content, each["message"]) for content in ("old", "new")] for each in artifacts
    ]
    assert [(each["content"], each["source"]) for each in exported["memories"]] == [("Seen", left)]
    assert (await others_api.get("export/")).body == document() | {"topics": [], "prompts": []}
    assert (await others_api.post("import/?ids=new", exported)).status == 201


async def test_an_export_is_a_file_that_no_cache_keeps(user: User, api: Api) -> None:
    answer = await api.get("export/", Accept="text/html")
    assert (answer.status, answer.headers["content-type"], answer.headers["cache-control"]) == (
        200,
        "application/json",
        "no-store",
    )
    assert answer.headers["content-disposition"] == f'attachment; filename="openbook-{timezone.now():%Y-%m-%d}.json"'


async def export_all(user: User) -> tuple[list[bytes], dict[str, Any]]:
    pieces = [piece async for piece in export(user)]
    assert b"" not in pieces  # an empty one would end a chunked response
    parsed: dict[str, Any] = json.loads(b"".join(pieces))
    return pieces, parsed


@pytest.mark.wide
@pytest.mark.parametrize("turns", [40, 2])
async def test_an_export_of_long_turns_takes_the_memory_of_a_few(
    user: User, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """40 turns of half of what is read at once, in one thread or in many that are read together."""
    monkeypatch.setattr(export_pages, "AT_ONCE", 200_000)
    for _ in range(40 // turns):
        await in_database(make_thread)(user, ["x" * 100_000] * turns)
    size = 0
    tracemalloc.start()
    try:
        async for piece in export(user):
            size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 4_000_000
    assert peak < 2_000_000


async def test_an_export_asks_no_more_for_many_threads_than_for_few(
    user: User, other_user: User, api: Api, others_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.post("import/", document(*[talk(2, artifacts=[{"title": "T", "content": "x"}])] * 3))
    await others_api.post("import/", document(*[talk(2, artifacts=[{"title": "T", "content": "x"}])] * 90))
    asked = {}
    for each in (user, other_user):
        with statements(monkeypatch) as asked[each]:
            _, book = await export_all(each)
        assert len(book["threads"]) in (3, 90)
    assert len(asked[user]) == len(asked[other_user]) == 18


async def test_a_long_export_comes_in_pieces_without_a_gap(
    user: User, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_pages, "PAGE", page := 20)
    threads = [talk(2 * page + 1), *(talk(turns % 5) for turns in range(page + 3)), talk(page)]
    memories = [{"content": f"Memory {number}", "created_at": iso(number % 7)} for number in range(page + 3)]
    assert (await api.post("import/", document(*threads, memories=memories))).status == 201
    pieces, book = await export_all(user)
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 4
    told = [[message["content"][0]["text"] for message in thread["messages"]] for thread in book["threads"]]
    expected = [[message["content"] for message in thread["messages"]] for thread in threads]
    assert sorted(told) == sorted(expected)
    assert [thread["created_at"] for thread in book["threads"]] == sorted(
        thread["created_at"] for thread in book["threads"]
    )
    assert sorted(each["content"] for each in book["memories"]) == sorted(each["content"] for each in memories)
    assert len({thread["id"] for thread in book["threads"]}) == len(threads)


async def test_artifacts_too_long_to_be_in_memory_come_version_by_version(user: User, api: Api) -> None:
    def version(number: int) -> dict[str, Any]:
        return {"content": f"{number}" + "x" * 90_000, "created_at": iso(number), "origin": "hand", "message": None}

    many = {"title": "Many", "versions": [version(number) for number in range(13)]}
    few = {"title": "Few", "versions": [version(number) for number in range(13, 15)], "created_at": iso(13)}
    one = {"title": "One", "content": "x", "created_at": iso(20)}
    assert (await api.post("import/", document(talk(2, artifacts=[many, few, one]), talk(1)))).status == 201
    pieces, book = await export_all(user)
    assert max(map(len, pieces)) < 6 * 90_000
    told = [(each["title"], each["content"][:3], each.get("versions")) for each in book["threads"][0]["artifacts"]]
    assert told[:2] == [("Many", "12x", many["versions"]), ("Few", "14x", few["versions"])]
    assert [told[2][:2], len(told[2][2])] == [("One", "x"), 1]


async def test_a_session_exports_where_its_person_has_just_proven_who_they_are(user: User) -> None:
    browser = AsyncClient()
    await browser.aforce_login(user)
    answers = [await browser.get("/api/v1/export/")]
    session = await browser.asession()
    await session.aset("account_authentication_methods", [{"method": "socialaccount", "at": time.time()}])
    await session.aset("account_authentication_methods_user", str(user.pk))
    await session.asave()
    answers.append(await browser.get("/api/v1/export/"))
    assert [answer.status_code for answer in answers] == [403, 200]
    assert answers[0].json()["error"]["code"] == "fresh_sign_in_needed"
    assert [part async for part in answers[1]]  # type: ignore[attr-defined]  # it is a stream
