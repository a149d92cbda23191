"""Imports over REST: all or nothing, and as if the turns had been sent."""

import asyncio
import io
import json
import threading
import uuid
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import ANY

import pytest
from django.contrib.auth.models import User
from django.db import models

from artifacts.models import ArtifactVersion
from conversations.context.tokens.estimate import turn_tokens
from conversations.import_export import insertion, store
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.document_reader import DocumentReader
from conversations.import_export.export_pages import PAGE
from conversations.import_export.import_sections import UNKNOWN
from conversations.import_export.known_ids import KnownIds
from conversations.import_export.records import Record
from conversations.models import Message, Thread, text_blocks
from conversations.rest import import_export as exchange_view
from conversations.runtime.db import in_database
from memory.models import Memory
from tests.conversations.import_export.books import ALONE, NothingHere, take_nothing
from tests.conversations.rest.client import Api, ApiResponse
from tests.conversations.rest.documents import (
    CALL,
    FULL,
    NINE,
    RESULT,
    TABLES,
    counts,
    document,
    iso,
    make_message,
    talk,
)
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


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
            "sources": [],
            "status": messages[number].get("status", "complete"),
            "created_at": messages[number]["created_at"],
            "token_count": tokens[number],
            "model": [None, "gpt-4o", None, None, None][number],
            "client_message_id": None,
            "parent": str(turn.parent_id) if turn.parent_id else None,
            "versions": [str(turn.id)],
            "version": 1,
            "version_count": 1,
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


@pytest.mark.wide
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

        def waits(stored: insertion.ImportCounts) -> None:
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
