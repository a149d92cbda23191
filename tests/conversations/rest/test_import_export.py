"""Import and export over REST: all or nothing, as if the turns had been sent, and the same document out as in."""

import asyncio
import io
import json
import threading
import tracemalloc
import uuid
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import ANY

import pytest
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.tokens.estimate import turn_tokens
from conversations.import_export import export_pages, insertion, store
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.document_reader import DocumentReader
from conversations.import_export.document_writer import export
from conversations.import_export.export_pages import PAGE
from conversations.import_export.import_sections import UNKNOWN
from conversations.import_export.known_ids import KnownIds
from conversations.import_export.records import Record
from conversations.models import Message, Reply, Thread, text_blocks
from conversations.rest import import_export as exchange_view
from conversations.runtime.db import in_database
from memory.models import DailySummary, IndexedPassage, Memory, ThreadSummary, Topic
from tests import model_scripts as scripts
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.import_export.books import ALONE, NothingHere, take_nothing
from tests.conversations.rest.client import Api, ApiResponse
from tests.model_server import ModelServer
from tests.statements import statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
TABLES: list[type[models.Model]] = [Thread, Message, Artifact, ArtifactVersion, Memory, ThreadSummary, Topic]
CALL = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "чай"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Tea"}]}


def iso(minute: float) -> str:
    return (NINE + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def make_message(role: str, content: Any, minute: float, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "created_at": iso(minute), **fields}


def document(*threads: Any, memories: Any = ()) -> dict[str, Any]:
    return {"format": "openbook/1", "threads": list(threads), "memories": list(memories)}


def talk(turns: int, **fields: Any) -> dict[str, Any]:
    messages = [make_message(("user", "assistant")[number % 2], f"Turn {number}", number) for number in range(turns)]
    return {"title": f"{turns} turns", "created_at": iso(0), "messages": messages, **fields}


async def counts() -> list[int]:
    return [await table._default_manager.acount() for table in TABLES]


async def test_an_imported_thread_is_as_if_its_turns_had_been_sent(user: User, api: Api) -> None:
    messages = [
        make_message("user", "What is there to drink?", 0),
        make_message("assistant", [*text_blocks("Let me look."), CALL], 1.5, model=" gpt-4o\n"),
        make_message("user", [RESULT], 2, model="of a person there is none"),
        make_message("user", "And?", 90),
        make_message("assistant", "Tea.", 89, status="stopped"),
    ]
    answer = await api.post("import/", document({"messages": messages, "assistant": "analyst"}))
    thread = await Thread.objects.select_related("assistant").aget()
    assert (answer.status, answer.body) == (
        201,
        {"threads": [{"id": str(thread.id), "message_count": 5}], "memories": 0},
    )
    assert (await api.get(f"threads/{thread.id}/")).body == {
        "id": str(thread.id),
        "title": "What is there to drink?",
        "assistant": "analyst",
        "model": "",
        "model_note": None,
        "created_at": iso(0),
        "updated_at": iso(89),
        "message_count": 5,
        "running_reply": None,
        "remembers": True,
        "temporary": False,
        "forked_from": None,
        "forks": [],
        "project": None,
        "instructions": "",
        "uses_account_instructions": True,
        "pinned": False,
        "archived": False,
        "tags": [],
    }
    assert (thread.last_position, thread.session_started_at, thread.away_since) == (
        5,
        NINE + timedelta(minutes=90),
        NINE + timedelta(minutes=2),
    )

    blocks = [
        text_blocks(each["content"]) if isinstance(each["content"], str) else each["content"] for each in messages
    ]
    tokens = [turn_tokens(each) for each in blocks]
    turns = [turn async for turn in Message.objects.order_by("position")]
    assert [(turn.position, turn.depth, turn.token_total, turn.parent_id, turn.is_active) for turn in turns] == [
        (number, number, sum(tokens[:number]), turns[number - 2].id if number > 1 else None, True)
        for number in range(1, 6)
    ]
    assert (await api.get(f"threads/{thread.id}/messages/")).body["results"] == [
        {
            "id": str(turn.id),
            "position": number + 1,
            "role": messages[number]["role"],
            "content": blocks[number],
            "text": ["What is there to drink?", "Let me look.", "", "And?", "Tea."][number],
            "citations": [],
            "status": messages[number].get("status", "complete"),
            "created_at": messages[number]["created_at"],
            "token_count": tokens[number],
            "model": [None, "gpt-4o", None, None, None][number],
            "client_message_id": None,
            "parent": str(turn.parent_id) if turn.parent_id else None,
            "versions": [str(turn.id)],
            "reply": None,
        }
        for number, turn in enumerate(turns)
    ]


async def test_imported_turns_reach_the_very_next_request(user: User, api: Api, model: ModelServer) -> None:
    imported = await api.post("import/", document(talk(4)))
    thread = imported.body["threads"][0]["id"]
    preview = (await api.post(f"threads/{thread}/context/", {"content": "And now?"})).body
    texts = [message["content"][0]["text"] for message in preview["request"]["messages"]]
    assert texts == ["Turn 0", "Turn 1", "Turn 2", "Turn 3", "And now?"]

    sent = await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert (sent.status, sent.body["user_message"]["position"], sent.body["reply"]["message_history_count"]) == (
        201,
        5,
        4,
    )


async def test_memories_belong_to_the_caller(user: User, api: Api) -> None:
    thread = uuid.uuid4()
    memory = {"content": "Likes tea", "tags": ["user:1", f"thread:{thread}", "drinks"], "created_at": iso(0)}
    answer = await api.post("import/", document({"id": str(thread)}, memories=[memory, {"content": "Is tall"}]))
    assert answer.body == {"threads": [{"id": str(thread), "message_count": 0}], "memories": 2}
    first, second = [each async for each in Memory.objects.order_by("created_at")]
    assert (first.user_id, first.content, first.tags, first.created_at) == (
        user.id,
        "Likes tea",
        [f"user:{user.id}", f"thread:{thread}", "drinks"],
        NINE,
    )
    assert (second.user_id, second.content, second.tags) == (user.id, "Is tall", [f"user:{user.id}"])


FULL = document(
    {
        "id": "00000000-0000-7000-8000-000000000001",
        "title": "Tea",
        "assistant": "analyst",
        "created_at": iso(0),
        "messages": [
            make_message("user", text_blocks("Draw a cup 🍵"), 0, id="00000000-0000-7000-8000-000000000011"),
            make_message("assistant", [*text_blocks("Here."), CALL], 1.5, id="00000000-0000-7000-8000-000000000012"),
            make_message("user", [RESULT], 1, id="00000000-0000-7000-8000-000000000013"),
            make_message("user", text_blocks('"Two" in a row\n'), 2, id="00000000-0000-7000-8000-000000000014"),
            make_message(
                *("assistant", text_blocks("…"), 3),
                id="00000000-0000-7000-8000-000000000015",
                status="failed",
                model="gpt-4o",
            ),
        ],
        "artifacts": [
            {
                "id": "00000000-0000-7000-8000-000000000021",
                "title": "Cup",
                "kind": "svg",
                "language": "",
                "preset": "brd",
                "after_position": 2,
                "content": "<svg/>",
                "created_at": iso(1.6),
                "origin": "hand",
                "message": None,
                "versions": [
                    {
                        "content": "<svg></svg>",
                        "created_at": iso(1.7),
                        "origin": "reply",
                        "message": "00000000-0000-7000-8000-000000000012",
                    },
                    {"content": "<svg/>", "created_at": iso(1.8), "origin": "hand", "message": None},
                ],
            },
            {
                "id": "00000000-0000-7000-8000-000000000022",
                "title": "Notes",
                "kind": "document",
                "language": "en",
                "preset": "",
                "after_position": 0,
                "content": "",
                "created_at": iso(3),
                "origin": "program",
                "message": None,
            },
        ],
        "summaries": [
            {
                "id": "00000000-0000-7000-8000-000000000041",
                "first": 1,
                "last": 3,
                "text": "A cup was drawn.",
                "key_moments": ["A cup"],
                "sources": ["00000000-0000-7000-8000-000000000011", "00000000-0000-7000-8000-000000000013"],
                "started_at": iso(0),
                "ended_at": iso(1),
                "made_by": "rules",
                "made_at": iso(9),
            },
            {
                "id": "00000000-0000-7000-8000-000000000042",
                "first": 4,
                "last": 5,
                "text": "",
                "key_moments": [],
                "sources": [],
                "started_at": iso(2),
                "ended_at": iso(3),
                "made_by": "",
                "made_at": iso(9),
                "stale_since": iso(10),
            },
        ],
    },
    {
        "id": "00000000-0000-7000-8000-000000000002",
        "title": "",
        "assistant": "companion",
        "created_at": iso(5),
        "pinned": True,
        "archived": True,
        "tags": ["Work", "rust & tide"],
        "remembers": False,
        "messages": [],
        "artifacts": [],
    },
    memories=[
        {
            "id": "00000000-0000-7000-8000-000000000031",
            "content": "Likes tea",
            "tags": ["drinks", "thread:00000000-0000-7000-8000-000000000001", "user:1"],
            "origin": "conversation",
            "source": "00000000-0000-7000-8000-000000000011",
            "sources": ["00000000-0000-7000-8000-000000000011"],
            "created_at": iso(7),
            "valid_from": iso(6),
            "valid_until": iso(9),
            "ended_at": None,
        },
        {
            "id": "00000000-0000-7000-8000-000000000032",
            "content": "Is tall",
            "tags": ["user:1"],
            "origin": "program",
            "source": None,
            "sources": [],
            "created_at": iso(8),
            "valid_from": None,
            "valid_until": None,
            "ended_at": iso(9),
        },
    ],
) | {
    "prompts": [],
    "preferences": {"time_zone": "Asia/Tokyo", "remembers": False, "language": "fr"},
    "topics": [
        {
            "id": "00000000-0000-7000-8000-000000000051",
            "title": "A saucer",
            "thread": "00000000-0000-7000-8000-000000000001",
            "sources": ["00000000-0000-7000-8000-000000000014"],
            "opened_at": iso(2),
            "resolved_at": None,
        },
        {
            "id": "00000000-0000-7000-8000-000000000052",
            "title": "Milk",
            "thread": None,
            "sources": [],
            "opened_at": iso(2),
            "resolved_at": iso(4),
        },
    ],
}


def of_user(book: dict[str, Any], user: User) -> dict[str, Any]:
    """The same document, about another user."""
    parsed: dict[str, Any] = json.loads(json.dumps(book).replace('"user:1"', f'"user:{user.id}"'))
    return parsed


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


async def test_an_import_of_what_is_here_already_stores_nothing_unless_copies_are_asked_for(
    user: User, api: Api
) -> None:
    await api.post("import/", FULL)
    before = await counts()
    again = await api.post("import/", FULL)
    assert (again.status, again.body) == (
        201,
        {"threads": [], "memories": 0, "known": {"threads": 2, "memories": 2, "topics": 2}},
    )
    assert await counts() == before
    assert (await api.post("import/?ids=new", FULL)).status == 201
    assert await counts() == [2 * count for count in before]
    assert await ArtifactVersion.objects.filter(message__thread=models.F("thread")).acount() == 2


TAKEN = {
    "thread": document({"id": FULL["threads"][0]["id"]}),
    "message": document(talk(2), {"messages": [FULL["threads"][0]["messages"][3]]}),
    "artifact": document(talk(2, artifacts=[FULL["threads"][0]["artifacts"][1]])),
    "memory": document(talk(2), memories=[{"content": "new"}, FULL["memories"][0]]),
}


@pytest.mark.parametrize("kind", TAKEN)
async def test_an_id_that_another_has_is_another_one_without_a_word(
    user: User, api: Api, others_api: Api, kind: str
) -> None:
    await api.post("import/", FULL)
    before = await counts()
    others = await others_api.post("import/", TAKEN[kind])
    assert (others.status, others.body.keys()) == (201, {"threads", "memories"})
    added = [now - then for now, then in zip(await counts(), before, strict=True)]
    assert added[:2] == {"thread": [1, 0], "message": [2, 3], "artifact": [1, 2], "memory": [1, 2]}[kind]
    again = await others_api.post("import/", TAKEN[kind])
    assert "known" in again.body or kind in ("message", "artifact")  # whose threads have no ids of their own


async def test_two_people_import_one_document_at_once(user: User, api: Api, others_api: Api) -> None:
    answers = await asyncio.gather(api.post("import/", FULL), others_api.post("import/", FULL))
    assert [answer.status for answer in answers] == [201, 201]
    assert await counts() == [2 * count for count in [2, 5, 2, 3, 2, 2, 2]]


async def test_a_document_with_a_mistake_is_refused_whole_and_the_place_named(user: User, api: Api) -> None:
    cases: list[tuple[str, Any, str, str]] = [
        ("import/", {}, "format", '`format` must be "openbook/1".'),
        ("import/", [], "", UNKNOWN),
        ("import/?ids=mine", FULL, "ids", "`ids` must be one of: keep, new."),
        (
            "import/",
            document(talk(3), {"messages": [*talk(17)["messages"], make_message("user", "", 0)]}),
            "threads[1].messages[17].content",
            "`threads[1].messages[17].content` is empty.",
        ),
        (
            "import/",
            document(talk(2), talk(2, branches=[make_message("user", "x", 0, parent=str(uuid.UUID(int=9)))])),
            "threads[1].branches[0].parent",
            "`threads[1].branches[0].parent` must be the `id` of one of the `messages` of this thread, or of one of its "
            "`branches` that stands before it; leave it out for another first message.",
        ),
        (
            "import/",
            document(talk(2), talk(2, assistant="nobody")),
            "threads[1].assistant",
            "`threads[1].assistant` can't be kept. There is no such assistant. Offered are: companion, analyst.",
        ),
        (
            "import/",
            document(talk(2), memories=[{"content": "x"}, {"content": None}]),
            "memories[1].content",
            "`memories[1].content` is missing.",
        ),
        (
            "import/",
            document({"messages": [make_message("user", [{"type": "x", "y": 7, "z": "1e999"}], 0)]}),
            "threads[0].messages[0].content[0]",
            "`threads[0].messages[0].content[0]` holds a number that is too large.",
        ),
    ]
    for path, body, place, message in cases:
        raw = json.dumps(body).replace('"1e999"', "1e999")  # which JSON allows and a float cannot hold
        answer = await api.send("POST", path, raw.encode())
        assert answer.refusal == (
            400,
            {"type": "invalid_request", "code": "invalid_import", "message": message, "details": {"place": place}},
        ), path
        assert await counts() == [0] * len(TABLES), path


async def test_what_is_no_json_document_is_refused(user: User, api: Api) -> None:
    cases: list[bytes] = [
        b"",
        b"{",
        b"\xff",
        b'{"format": NaN}',
        b"[" * 100_000,
        b'{"format": "openbook/1"} {}',
        b"7" * 5_000,
    ]
    for body in cases:
        answer = await api.send("POST", "import/", body)
        assert (answer.status, answer.refusal[1]["type"]) == (400, "invalid_request"), body


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_document_larger_than_a_message_passes_up_to_its_own_limit(
    user: User, api: Api, settings: Any, chunked: bool
) -> None:
    settings.OPENBOOK_MAX_IMPORT_MB = 1
    lengths = {"Content-Length": "", "Transfer-Encoding": "chunked"} if chunked else {}
    long = document({"messages": [make_message("user", "x" * 300_000, 0)] * 3})
    passes = await api.send("POST", "import/", json.dumps(long).encode(), **lengths)
    assert (passes.status, await Message.objects.acount()) == (201, 3)

    long["threads"][0]["messages"] *= 2
    assert (await api.send("POST", "import/", json.dumps(long).encode(), **lengths)).refusal == (
        413,
        {
            "type": "invalid_request",
            "code": "import_too_large",
            "message": "The document is too large; the limit is 1 MiB. Nothing was imported: send it as several documents, "
            "each with some of its threads.",
            "details": {"limit": 2**20},
        },
    )
    assert await Message.objects.acount() == 3


@pytest.mark.parametrize("call", [("POST", "import/"), ("GET", "export/")])
async def test_nobody_imports_or_exports_without_an_account(call: tuple[str, str]) -> None:
    assert (await Api().call(*call)).code == (401, "authentication", "not_authenticated")


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
    assert len(asked[user]) == len(asked[other_user]) == 16


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


async def test_an_import_of_many_turns_leaves_the_planner_informed(user: User, api: Api) -> None:
    answer: ApiResponse = await api.post("import/", document(talk(store.MANY + 200)))
    thread = await Thread.objects.aget(id=answer.body["threads"][0]["id"])
    turns = Message.objects.filter(thread=thread, is_active=True, position__gt=10).order_by("position")[:PAGE]
    assert "Sort" not in await in_database(turns.explain)()


def conversation(number: int, text: str = "Hi") -> dict[str, Any]:
    """One of Claude's data export."""
    said = {"uuid": str(uuid.UUID(int=number)), "sender": "human", "text": text, "created_at": iso(number)}
    return {"uuid": f"talk-{number}", "name": f"Talk {number}", "created_at": iso(0), "chat_messages": [said]}


async def test_a_data_export_is_imported_once_also_as_the_zip_that_it_comes_in(user: User, api: Api) -> None:
    export = json.dumps([conversation(1), conversation(2, ""), conversation(3)]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/conversations.json", export)
    answer = await api.send("POST", "import/", packed.getvalue(), "application/zip")
    theirs = [uuid.uuid5(uuid.NAMESPACE_URL, f"claude:talk-{number}") for number in (1, 3)]
    first, second = (str(KnownIds(user.pk).derived(id)) for id in theirs)
    assert (answer.status, answer.body) == (
        201,
        {
            "threads": [{"id": first, "message_count": 1}, {"id": second, "message_count": 1}],
            "memories": 0,
            "left_out": 1,
        },
    )
    again = await api.send("POST", "import/", export, "text/plain")
    assert (again.status, again.body["threads"], again.body["known"]) == (201, [], {"threads": 2})
    assert (await api.send("POST", "import/?ids=new", export)).status == 201
    assert await counts() == [4, 4, 0, 0, 0, 0, 0]


async def lines(api: Api, body: Any, path: str = "import/?progress=true") -> list[dict[str, Any]]:
    answer = await api.post(path, body)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in answer.body.splitlines()]


async def test_an_import_tells_how_far_it_is_and_how_it_ended(
    user: User, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insertion, "BATCH", 5)
    begun, *told, done = await lines(api, document(*[talk(2)] * 5, memories=[{"content": "x"}]))
    assert begun == {"type": "progress", "threads": 0, "of": 5, "messages": 0}
    assert told == [
        {"type": "progress", "threads": threads, "of": 5, "messages": 2 * threads} for threads in (2, 4, 5, 5)
    ]
    ids = {str(each) async for each in Thread.objects.values_list("id", flat=True)}
    assert {thread["id"] for thread in done["threads"]} == ids
    assert done == {"type": "done", "threads": [{"id": ANY, "message_count": 2}] * 5, "memories": 1}

    *_, failed = await lines(api, document(*[talk(2)] * 4, {"title": 7}))
    assert failed["type"] == "error"
    assert failed["error"].pop("request_id")
    assert failed["error"] == {
        "type": "invalid_request",
        "code": "invalid_import",
        "message": "`threads[4].title` must be a text.",
        "details": {"place": "threads[4].title"},
    }
    assert await Thread.objects.acount() == 5


async def test_who_leaves_before_the_end_imports_nothing(user: User, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import waits after its first batch until it is left; then its work ends without a trace."""
    begun, left, ended = threading.Event(), threading.Event(), threading.Event()

    def stored_once_left(**options: Any) -> Any:
        begun.set()
        report = options["report"]

        def waits(stored: store.ImportCounts) -> None:
            assert left.wait(30)
            report(stored)

        try:
            return store.store(**options | {"report": waits})
        finally:
            ended.set()

    monkeypatch.setattr(exchange_view, "store", stored_once_left)
    response = await api._response(
        "POST", "import/?progress=true", json.dumps(document(*[talk(2)] * 5)).encode(), "application/json", {}
    )
    pieces = aiter(response.streaming_content)
    assert json.loads(await anext(pieces)) == {"type": "progress", "threads": 0, "of": 5, "messages": 0}
    assert await asyncio.to_thread(begun.wait, 30)
    waiting = asyncio.ensure_future(anext(pieces))
    await asyncio.sleep(0)  # so that it waits for the next line, as it is when a browser leaves
    waiting.cancel()
    await asyncio.wait([waiting])
    left.set()
    assert await asyncio.to_thread(ended.wait, 30)
    assert await counts() == [0] * len(TABLES)


def test_no_more_is_read_than_is_stored_at_once() -> None:
    """However long a document is: a batch is stored before what comes after it is read."""
    reader = DocumentReader(
        user_id=7, now=NINE, new_ids=False, scratch=Scratch(), take=take_nothing, here=NothingHere(7)
    )
    read = []

    def records() -> Iterator[Record]:
        for number in range(1_300):
            read.append(number)
            yield reader.thread(
                talk(3) if number < 600 else {"messages": [make_message("user", "x" * 40_000, 0)]}, "place", ALONE
            )

    sizes = [(len(batch), len(read)) for batch in store.batches(records())]
    assert max(size for size, _ in sizes) <= 251
    assert all(done <= sum(size for size, _ in sizes[: index + 1]) + 1 for index, (_, done) in enumerate(sizes))
    assert sum(size for size, _ in sizes) == 1_300
    assert len(sizes) > 8
