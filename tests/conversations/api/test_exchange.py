"""Import and export over REST: all or nothing, as if the turns had been sent, and the same document out as in."""

import asyncio
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import models
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.tokens import turn_tokens
from conversations.db import in_database
from conversations.exchange.writing import PAGE, export
from conversations.models import Message, Reply, Thread, text_blocks
from memory.models import IndexedTurn, Memory
from tests.artifacts.factories import make_artifact
from tests.conversations.api.client import Answer, Api
from tests.conversations.factories import make_reply, make_thread
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
TABLES: list[type[models.Model]] = [Thread, Message, Artifact, ArtifactVersion, Memory]
CALL = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "чай"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Tea"}]}


def iso(minute: float) -> str:
    return (NINE + timedelta(minutes=minute)).isoformat().replace("+00:00", "Z")


def said(role: str, content: Any, minute: float, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "created_at": iso(minute), **fields}


def document(*threads: Any, memories: Any = ()) -> dict[str, Any]:
    return {"format": "openbook/1", "threads": list(threads), "memories": list(memories)}


def talk(turns: int, **fields: Any) -> dict[str, Any]:
    messages = [said(("user", "assistant")[number % 2], f"Turn {number}", number) for number in range(turns)]
    return {"title": f"{turns} turns", "created_at": iso(0), "messages": messages, **fields}


async def counts() -> list[int]:
    return [await table._default_manager.acount() for table in TABLES]


async def test_an_imported_thread_is_as_if_its_turns_had_been_sent(user: User, api: Api) -> None:
    messages = [
        said("user", "What is there to drink?", 0),
        said("assistant", [*text_blocks("Let me look."), CALL], 1.5),
        said("user", [RESULT], 2),
        said("user", "And?", 90),
        said("assistant", "Tea.", 89, status="stopped"),
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
        "created_at": iso(0),
        "updated_at": iso(89),
        "message_count": 5,
        "running_reply": None,
        "remembers": True,
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
            "status": messages[number].get("status", "complete"),
            "created_at": messages[number]["created_at"],
            "token_count": tokens[number],
            "client_message_id": None,
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
            said("user", text_blocks("Draw a cup 🍵"), 0, id="00000000-0000-7000-8000-000000000011"),
            said("assistant", [*text_blocks("Here."), CALL], 1.5, id="00000000-0000-7000-8000-000000000012"),
            said("user", [RESULT], 1, id="00000000-0000-7000-8000-000000000013"),
            said("user", text_blocks('"Two" in a row\n'), 2, id="00000000-0000-7000-8000-000000000014"),
            said("assistant", text_blocks("…"), 3, id="00000000-0000-7000-8000-000000000015", status="failed"),
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
    },
    {
        "id": "00000000-0000-7000-8000-000000000002",
        "title": "",
        "assistant": "companion",
        "created_at": iso(5),
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
)


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
    assert await counts() == [0] * len(TABLES)
    assert (await others_api.post("import/", exported)).status == 201
    assert (await others_api.get("export/")).body == of_user(FULL, other_user)
    assert (await api.get("export/")).body == {"format": "openbook/1", "threads": [], "memories": []}


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
    places = [(one.position, one.length) async for one in IndexedTurn.objects.filter(terms=[], position=1)]
    assert places == [(1, 0)] * 2, "nothing finds them"


async def test_an_import_of_what_is_here_already_says_how_to_make_copies(user: User, api: Api) -> None:
    await api.post("import/", FULL)
    before = await counts()
    assert (await api.post("import/", FULL)).refusal == (
        409,
        {
            "type": "conflict",
            "code": "already_exists",
            "message": "Nothing was imported: the thread 00000000-0000-7000-8000-000000000001 exists here already. "
            "To import copies with new ids, add `?ids=new`.",
            "details": {"kind": "thread", "id": "00000000-0000-7000-8000-000000000001"},
        },
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
async def test_an_id_that_is_taken_stores_nothing_and_does_not_tell_by_whom(
    user: User, api: Api, others_api: Api, kind: str
) -> None:
    await api.post("import/", FULL)
    before = await counts()
    own, others = await api.post("import/", TAKEN[kind]), await others_api.post("import/", TAKEN[kind])
    assert own.refusal == others.refusal
    assert (own.code, own.refusal[1]["details"]["kind"]) == ((409, "conflict", "already_exists"), kind)
    assert own.refusal[1]["details"]["id"] in json.dumps(TAKEN[kind])
    assert await counts() == before


async def test_two_imports_of_one_document_at_once_store_it_once(user: User, api: Api, others_api: Api) -> None:
    answers = await asyncio.gather(api.post("import/", FULL), others_api.post("import/", FULL))
    assert sorted(answer.status for answer in answers) == [201, 409]
    assert await counts() == [2, 5, 2, 3, 2]


@pytest.mark.parametrize(
    ("path", "body", "place", "message"),
    [
        ("import/", {}, "format", '`format` must be "openbook/1".'),
        ("import/", [], "", 'The document must be an object with `"format": "openbook/1"`.'),
        ("import/?ids=mine", FULL, "ids", "`ids` must be one of: keep, new."),
        (
            "import/",
            document(talk(3), {"messages": [*talk(17)["messages"], said("user", "", 0)]}),
            "threads[1].messages[17].content",
            "`threads[1].messages[17].content` is empty.",
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
            document({"messages": [said("user", [{"type": "x", "y": 7, "z": "1e999"}], 0)]}),
            "threads[0].messages[0].content[0]",
            "`threads[0].messages[0].content[0]` holds a number that is too large.",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_document_with_a_mistake_is_refused_whole_and_the_place_named(
    user: User, api: Api, path: str, body: Any, place: str, message: str
) -> None:
    raw = json.dumps(body).replace('"1e999"', "1e999")  # which JSON allows and a float cannot hold
    answer = await api.send("POST", path, raw.encode())
    assert answer.refusal == (
        400,
        {"type": "invalid_request", "code": "invalid_import", "message": message, "details": {"place": place}},
    )
    assert await counts() == [0] * len(TABLES)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff", b'{"format": NaN}', b"[" * 100_000, b'{"format": "openbook/1"} {}', b"7" * 5_000],
    ids=lambda body: body[:20],
)
async def test_what_is_no_json_document_is_refused(user: User, api: Api, body: bytes) -> None:
    answer = await api.send("POST", "import/", body)
    assert (answer.status, answer.refusal[1]["type"]) == (400, "invalid_request")


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_document_larger_than_a_message_passes_up_to_its_own_limit(
    user: User, api: Api, settings: Any, chunked: bool
) -> None:
    settings.OPENBOOK_MAX_IMPORT_MB = 3
    lengths = {"Content-Length": "", "Transfer-Encoding": "chunked"} if chunked else {}
    long = document({"messages": [said("user", "x" * 900_000, 0)] * 3})
    passes = await api.send("POST", "import/", json.dumps(long).encode(), **lengths)
    assert (passes.status, await Message.objects.acount()) == (201, 3)

    long["threads"][0]["messages"] *= 2
    assert (await api.send("POST", "import/", json.dumps(long).encode(), **lengths)).refusal == (
        413,
        {
            "type": "invalid_request",
            "code": "import_too_large",
            "message": "The document is too large; the limit is 3 MiB. Nothing was imported: send it as several documents, "
            "each with some of its threads.",
            "details": {"limit": 3 * 2**20},
        },
    )
    assert await Message.objects.acount() == 3


@pytest.mark.parametrize("call", [("POST", "import/"), ("GET", "export/")])
async def test_nobody_imports_or_exports_without_an_account(_shipped_assistants: None, call: tuple[str, str]) -> None:
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
    answer = await Message.objects.aget(reply=reply)
    exported = (await api.get("export/")).body
    assert [message["content"][0]["text"] for message in exported["threads"][0]["messages"]] == ["Draw", "Done"]
    artifacts = exported["threads"][0]["artifacts"]
    assert {each["title"]: (each["content"], each["message"], each["after_position"]) for each in artifacts} == {
        "by reply": ("new", str(answer.id), 2),  # its place in the document, not among turns that are not in it
        "by replaced turn": ("new", None, 1),
    }
    assert [[(v["content"], v["message"]) for v in each["versions"]] for each in artifacts] == [
        [(content, each["message"]) for content in ("old", "new")] for each in artifacts
    ]
    assert [(each["content"], each["source"]) for each in exported["memories"]] == [("Seen", None)]
    assert (await others_api.get("export/")).body == {"format": "openbook/1", "threads": [], "memories": []}
    assert (await others_api.post("import/?ids=new", exported)).status == 201


async def test_an_export_is_a_file_that_no_cache_keeps(user: User, api: Api) -> None:
    answer = await api.get("export/", Accept="text/html")
    assert (answer.status, answer.headers["content-type"], answer.headers["cache-control"]) == (
        200,
        "application/json",
        "no-store",
    )
    assert answer.headers["content-disposition"] == f'attachment; filename="openbook-{timezone.now():%Y-%m-%d}.json"'


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of the database, on whatever connection."""
    asked: list[str] = []
    execute = CursorWrapper.execute

    def noted(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        asked.append(str(sql))
        return execute(self, sql, params)

    with monkeypatch.context() as patched:
        patched.setattr(CursorWrapper, "execute", noted)
        yield asked


async def exported(user: User) -> tuple[list[bytes], dict[str, Any]]:
    pieces = [piece async for piece in export(user)]
    assert b"" not in pieces  # an empty one would end a chunked response
    parsed: dict[str, Any] = json.loads(b"".join(pieces))
    return pieces, parsed


async def test_an_export_asks_no_more_for_many_threads_than_for_few(
    user: User, other_user: User, api: Api, others_api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.post("import/", document(*[talk(2, artifacts=[{"title": "T", "content": "x"}])] * 3))
    await others_api.post("import/", document(*[talk(2, artifacts=[{"title": "T", "content": "x"}])] * 90))
    asked = {}
    for each in (user, other_user):
        with statements(monkeypatch) as asked[each]:
            _, book = await exported(each)
        assert len(book["threads"]) in (3, 90)
    assert len(asked[user]) == len(asked[other_user]) == 6


async def test_a_long_export_comes_in_pieces_without_a_gap(user: User, api: Api) -> None:
    threads = [talk(2 * PAGE + 1), *(talk(turns % 5) for turns in range(PAGE + 3)), talk(PAGE)]
    memories = [{"content": f"Memory {number}", "created_at": iso(number % 7)} for number in range(PAGE + 3)]
    assert (await api.post("import/", document(*threads, memories=memories))).status == 201
    pieces, book = await exported(user)
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
    pieces, book = await exported(user)
    assert max(map(len, pieces)) < 6 * 90_000
    told = [(each["title"], each["content"][:3], each.get("versions")) for each in book["threads"][0]["artifacts"]]
    assert told[:2] == [("Many", "12x", many["versions"]), ("Few", "14x", few["versions"])]
    assert [told[2][:2], len(told[2][2])] == [("One", "x"), 1]


async def test_an_import_of_many_turns_leaves_the_planner_informed(user: User, api: Api) -> None:
    answer: Answer = await api.post("import/", document(talk(3_000)))
    thread = await Thread.objects.aget(id=answer.body["threads"][0]["id"])
    turns = Message.objects.filter(thread=thread, is_active=True, position__gt=10).order_by("position")[:PAGE]
    assert "Sort" not in await in_database(turns.explain)()
