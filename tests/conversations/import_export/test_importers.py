"""The data exports of ChatGPT and Claude as threads: what was said is taken as it was shown, nothing is made up."""

import io
import json
import uuid
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.tokens.estimate import text_of
from conversations.errors import ImportTooLarge, InvalidImport
from conversations.import_export.importers import thread_of
from conversations.import_export.known_ids import KnownIds
from conversations.import_export.uploads import documents
from conversations.models import text_blocks
from tests.conversations.import_export.books import read_book

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
THREAD = uuid.UUID("6700a1b2-0000-4000-8000-000000000001")
NINE = 1772355600.0  # 2026-03-01 09:00 UTC

Node = dict[str, Any]


def node(
    id: str, parent: str | None, role: str, content: Any, *, minute: float | None = 0, **fields: Any
) -> tuple[str, Node]:
    """A node of ChatGPT's tree, with all that a real one has. A text stands for content of one part."""
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message: dict[str, Any] = {
        "id": id,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": None if minute is None else NINE + 60 * minute,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {},
        "recipient": "all",
        "channel": None,
    }
    return id, {"id": id, "message": message | fields, "parent": parent, "children": []}


def chatgpt(*nodes: tuple[str, Node], current: str | None, **fields: Any) -> dict[str, Any]:
    root: tuple[str, Node] = ("root", {"id": "root", "message": None, "parent": None, "children": []})
    conversation = {
        "title": "A boat",
        "create_time": NINE,
        "update_time": NINE + 900,
        "mapping": dict([root, *nodes]),
        "moderation_results": [],
        "current_node": current,
        "conversation_id": str(THREAD),
        "id": str(THREAD),
        "is_archived": False,
        "default_model_slug": "gpt-4o",
    }
    return conversation | fields


HIDDEN: dict[str, Any] = {"metadata": {"is_visually_hidden_from_conversation": True}}
PICTURE = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-x", "width": 4, "height": 4}
BOAT = chatgpt(
    node("system", "root", "system", "", minute=None, weight=0.0, **HIDDEN),
    node(
        "about",
        "system",
        "user",
        {"content_type": "user_editable_context", "user_profile": "I sail.", "user_instructions": "Be brief."},
        minute=None,
        **HIDDEN,
    ),
    node(
        "asked",
        "about",
        "user",
        {"content_type": "multimodal_text", "parts": [PICTURE, "What boat is this?"]},
        metadata={"attachments": [{"id": "file-x", "name": "boat.png", "mime_type": "image/png"}]},
    ),
    node("replaced", "asked", "assistant", "A ship.", minute=1),
    node("thought", "asked", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}, minute=1),
    node(
        "searched",
        "thought",
        "assistant",
        {"content_type": "code", "language": "unknown", "text": 'search("boat")', "response_format_name": None},
        minute=2,
        recipient="web.run",
    ),
    node("found", "searched", "tool", {"content_type": "tether_browsing_display", "result": "…", "summary": ""}),
    node(
        "ran", "found", "assistant", {"content_type": "code", "language": "python", "text": "1+1"}, recipient="python"
    ),
    node("printed", "ran", "tool", {"content_type": "execution_output", "text": "2"}),
    node("answered", "printed", "assistant", "A dinghy\ue200cite\ue202turn0search1\ue201【4†source】.", minute=3),
    node("edited", "answered", "user", "Draw it", minute=4),
    node("asked again", "answered", "user", {"content_type": "text", "parts": ["Draw it, please", None, ""]}, minute=5),
    node("asks dalle", "asked again", "assistant", '{"prompt": "a dinghy"}', minute=None, recipient="dalle.text2im"),
    node(
        "drawn",
        "asks dalle",
        "tool",
        {
            "content_type": "multimodal_text",
            "parts": [PICTURE | {"metadata": {"dalle": {"prompt": "a dinghy"}}}, {"content_type": "other", "x": 1}],
        },
        minute=None,
    ),
    node("cut", "drawn", "assistant", "There", minute=None, status="in_progress"),
    current="cut",
)


def named(id: str, name: str, **note: str) -> dict[str, str]:
    return {"type": "file", "file": id, "name": name, **note}


def turn_id(name: str) -> str:
    return str(uuid.uuid5(THREAD, name))


BOAT_FILE = turn_id("file-x")


def test_a_conversation_of_chatgpt_is_the_path_that_was_shown() -> None:
    assert thread_of(BOAT, "[0]") == {
        "id": str(THREAD),
        "title": "A boat",
        "created_at": "2026-03-01T09:00:00+00:00",
        "messages": [
            {
                "role": "user",
                "content": [named(BOAT_FILE, "boat.png"), *text_blocks("What boat is this?")],
                "created_at": "2026-03-01T09:00:00+00:00",
                "id": turn_id("asked"),
            },
            {
                "role": "assistant",
                "content": '[used web.run]\n\n```\nsearch("boat")\n```\n\n[used python]\n\n```python\n1+1\n```\n\n'
                "```\n2\n```\n\nA dinghy.",
                "created_at": "2026-03-01T09:02:00+00:00",
                "id": turn_id("searched"),
                "status": "complete",
            },
            {
                "role": "user",
                "content": "Draw it, please",
                "created_at": "2026-03-01T09:05:00+00:00",
                "id": turn_id("asked again"),
            },
            {
                "role": "assistant",
                "content": [
                    *text_blocks("[used dalle.text2im]\n\n[image: a dinghy]"),
                    named(BOAT_FILE, "", note=""),
                    *text_blocks("There"),
                ],
                "created_at": None,
                "id": turn_id("asks dalle"),
                "status": "interrupted",
            },
        ],
        "branches": [
            {
                "role": "assistant",
                "content": "A ship.",
                "created_at": "2026-03-01T09:01:00+00:00",
                "id": turn_id("replaced"),
                "status": "complete",
                "parent": turn_id("asked"),
                "after_position": 1,
            },
            {
                "role": "user",
                "content": "Draw it",
                "created_at": "2026-03-01T09:04:00+00:00",
                "id": turn_id("edited"),
                "parent": turn_id("searched"),
                "after_position": 2,
            },
        ],
        "files": [{"id": BOAT_FILE, "name": "boat.png", "created_at": "2026-03-01T09:00:00+00:00", "asset": "file-x"}],
        "left_out": {"blocks of the type “other”": 1},
    }


def test_without_their_bytes_files_are_told_of_in_words() -> None:
    (thread,) = read_book([BOAT], user_id=7, now=NOW).threads
    assert [text_of(turn.content) for turn in thread.turns][::3] == [
        "[attached: boat.png – it is not here]\n\nWhat boat is this?",
        "[used dalle.text2im]\n\n[image: a dinghy]\n\nThere",
    ]
    (thread,) = read_book([claude(wrote(1, "human", "Look", **FILES))], user_id=7, now=NOW).threads
    assert [turn.content for turn in thread.turns] == [
        text_blocks(
            "Look\n\n[attached: notes.txt]\n\n````\nSails ``` up\n````\n\n[attached: boat.png – it is not here]"
        )
    ]
    assert (thread.files, thread.turns[0].files) == ([], ())


A, B, C = (
    node(name, parent, "user", name, minute=minute)
    for name, parent, minute in (("a", "root", 1), ("b", "a", 3), ("c", "a", 2))
)


@pytest.mark.parametrize(
    ("conversation", "said"),
    [
        (chatgpt(A, B, C, current="c"), ["a", "c"]),
        (chatgpt(A, B, C, current=None), ["a", "b"]),  # the newest
        (chatgpt(A, B, C, current="deleted"), ["a", "b"]),
        (chatgpt(B, current="b"), ["b"]),  # what it follows was deleted
        (chatgpt(node("a", "b", "user", "a"), node("b", "a", "user", "b"), current="b"), ["a", "b"]),  # in a circle
        (chatgpt(current="root"), None),
        (chatgpt(node("a", "root", "user", "a", **HIDDEN), current="a"), None),
        (chatgpt(node("a", "root", "user", {"content_type": "text", "parts": None}), current="a"), None),
        (chatgpt(node("a", "root", "user", {"content_type": "text", "parts": [" ", None]}), current="a"), None),
    ],
)
def test_a_damaged_tree_gives_what_is_left_of_it(conversation: dict[str, Any], said: list[str] | None) -> None:
    thread = thread_of(conversation, "[0]")
    assert (thread and [turn["content"] for turn in thread["messages"]]) == said


def wrote(number: int, sender: str, text: str, *, parent: int | None = None, **fields: Any) -> dict[str, Any]:
    message = {
        "uuid": str(uuid.UUID(int=number)),
        "text": text,
        "content": [{"type": "text", "text": text, "start_timestamp": None, "citations": []}],
        "sender": sender,
        "created_at": f"2026-03-01T09:0{number}:00.123456Z",
        "updated_at": f"2026-03-01T09:0{number}:00.123456Z",
        "attachments": [],
        "files": [],
    }
    return message | ({} if parent is None else {"parent_message_uuid": str(uuid.UUID(int=parent))}) | fields


def claude(*messages: Any, **fields: Any) -> dict[str, Any]:
    conversation = {
        "uuid": str(THREAD),
        "name": "",
        "created_at": "2026-03-01T09:00:00.000000Z",
        "updated_at": "2026-03-01T10:00:00.000000Z",
        "account": {"uuid": str(THREAD)},
        "chat_messages": list(messages),
    }
    return conversation | fields


TOOLS = [
    {"type": "thinking", "thinking": "Hm."},
    {"type": "text", "text": "Let me see."},
    {"type": "tool_use", "id": "t", "name": "web_search", "input": {"query": "x"}},
    {"type": "tool_result", "tool_use_id": "t", "name": "web_search", "content": [{"type": "text", "text": "much"}]},
    {
        "type": "tool_use",
        "id": "a",
        "name": "artifacts",
        "input": {"command": "create", "title": "Plan", "content": "1."},
    },
    {"type": "token_budget"},
    {"type": "text", "text": "Done."},
]
FILES: dict[str, Any] = {
    "attachments": [
        {"file_name": "notes.txt", "file_size": 9, "file_type": "txt", "extracted_content": "Sails ``` up"}
    ],
    "files": [{"file_name": "boat.png"}, None],
}


AT, NOTES = "2026-03-01T09:01:00.123456+00:00", turn_id(f"{uuid.UUID(int=1)}:0")


def test_a_conversation_of_claude_is_its_messages_with_their_files() -> None:
    conversation = claude(
        wrote(1, "human", "Look", **FILES),
        wrote(2, "assistant", "old", content=TOOLS),
        wrote(3, "human", "And?", content=None),
    )
    assert thread_of(conversation, "[0]") == {
        "id": str(THREAD),
        "created_at": "2026-03-01T09:00:00+00:00",
        "messages": [
            {
                "role": "user",
                "content": [
                    *text_blocks("Look"),
                    named(NOTES, "notes.txt", note="[attached: notes.txt]\n\n````\nSails ``` up\n````"),
                    named(turn_id("boat.png"), "boat.png"),
                ],
                "created_at": "2026-03-01T09:01:00.123456+00:00",
                "id": str(uuid.UUID(int=1)),
            },
            {
                "role": "assistant",
                "content": "Let me see.\n\n[used web_search]\n\n[attached: Plan]\n\n```\n1.\n```\n\nDone.",
                "created_at": "2026-03-01T09:02:00.123456+00:00",
                "id": str(uuid.UUID(int=2)),
            },
            {
                "role": "user",
                "content": "And?",
                "created_at": "2026-03-01T09:03:00.123456+00:00",
                "id": str(uuid.UUID(int=3)),
            },
        ],
        "files": [
            {"id": NOTES, "name": "notes.txt", "created_at": AT, "text": "Sails ``` up"},
            {"id": turn_id("boat.png"), "name": "boat.png", "created_at": AT, "asset": "boat.png"},
        ],
        "left_out": {},
    }


BRANCHED = [
    wrote(1, "human", "1", parent=0),
    wrote(2, "assistant", "2", parent=1),
    wrote(3, "assistant", "3", parent=1),
]


@pytest.mark.parametrize(
    ("conversation", "said"),
    [
        (claude(*BRANCHED), ["1", "3"]),
        (claude(*BRANCHED, current_leaf_message_uuid=str(uuid.UUID(int=2))), ["1", "2"]),
        (claude(*BRANCHED[:2]), ["1", "2"]),
        (claude(None, wrote(1, "system", "x"), wrote(2, "human", ""), wrote(3, "human", "3")), ["3"]),
        (claude(), None),
    ],
)
def test_an_edited_conversation_gives_the_branch_that_it_was_left_on(conversation: Any, said: list[str] | None) -> None:
    thread = thread_of(conversation, "[0]")
    assert (thread and [turn["content"] for turn in thread["messages"]]) == said


def slug(name: Any, default: Any = None) -> dict[str, Any]:
    return {"metadata": {"model_slug": name, "default_model_slug": default}}


@pytest.mark.parametrize(
    ("conversation", "models"),
    [
        (chatgpt(A, node("d", "a", "assistant", "d", **slug("gpt-4o")), current="d"), ["", "gpt-4o"]),
        (chatgpt(A, node("d", "a", "assistant", "d", **slug(None, "gpt-5")), current="d"), ["", "gpt-5"]),
        (chatgpt(A, node("d", "a", "assistant", "d", **slug(7, "auto")), current="d"), ["", ""]),
        (chatgpt(A, node("d", "a", "assistant", "d", metadata=None), current="d"), ["", ""]),
        (
            chatgpt(
                node("a", "root", "user", "a", **slug("gpt-4o")),
                node("d", "a", "assistant", "d", recipient="python", **slug("gpt-4o")),
                node("e", "d", "tool", {"content_type": "execution_output", "text": "2"}, **slug("a tool's")),
                node("f", "e", "assistant", "f", **slug("o3")),
                node("g", "f", "assistant", "g"),
                current="g",
            ),
            ["", "o3"],  # who had the last word
        ),
        (claude(wrote(1, "human", "1"), wrote(2, "assistant", "2"), model="claude-opus-4"), ["", "claude-opus-4"]),
        (
            claude(wrote(1, "human", "1", model="x"), wrote(2, "assistant", "2", model="claude-haiku"), model="x"),
            ["", "claude-haiku"],
        ),
        (claude(wrote(1, "human", "1"), wrote(2, "assistant", "2", model={}), model=[]), ["", ""]),
        (
            claude(wrote(1, "assistant", "1", model="\ud800 m\n\0 "), wrote(2, "assistant", "2", model="m" * 201)),
            ["\ufffd m \ufffd", "m" * 199 + "…"],
        ),
    ],
)
def test_an_answer_keeps_the_model_that_wrote_it(conversation: dict[str, Any], models: list[str]) -> None:
    (thread,) = read_book([conversation], user_id=7, now=NOW).threads
    assert [turn.model for turn in thread.turns] == models


values = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
    | st.sampled_from(["a", "assistant", "tool", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["content_type", "parts", "text", "type", "name", "input", "metadata", "parent", "role", "uuid"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


FIELDS = ["content", "author", "create_time", "metadata", "recipient", "status", "weight", "id"]


@given(values, st.sampled_from(FIELDS))
def test_whatever_an_export_holds_it_is_read_or_refused(value: Any, name: str) -> None:
    id, tree_node = node("a", "root", "tool", "x")
    said = wrote(1, "human", "x")
    for conversation in (
        chatgpt((id, tree_node | {"message": tree_node["message"] | {name: value}}), current="a"),
        chatgpt((id, {"message": value, "parent": value}), current="a"),
        chatgpt(A, current="a")
        | dict.fromkeys(("title", "id", "conversation_id", "current_node", "create_time"), value),
        claude(said | dict.fromkeys(("content", "text", "attachments", "files", "uuid", "created_at"), value)),
        claude(said | {each: [value] for each in ("content", "attachments", "files")}, said | {"uuid": value}),
        claude(said) | dict.fromkeys(("name", "uuid", "created_at", "current_leaf_message_uuid"), value),
    ):
        try:
            book = read_book([conversation], user_id=7, now=NOW)
        except InvalidImport as refusal:
            assert str(refusal.details["place"]).startswith("[0]")
        else:
            assert len(book.threads) <= 1


def packed(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_a_zip_is_read_as_the_conversations_in_it_wherever_they_stand() -> None:
    def listed(*conversations: Any) -> bytes:
        return b"\xef\xbb\xbf" + json.dumps(conversations).encode()

    boat, plan = BOAT, claude(wrote(1, "human", "Plan"), uuid="no-uuid")
    whole = packed({"export/conversations.json": listed(boat, plan), "chat.html": b"<html>", "user.json": b"{"})
    parts = packed(
        {"conversations-001.json": listed(plan), "conversations-000.json": listed(boat), "export_manifest.json": b"{}"}
    )
    books = [read_book(upload, user_id=7, now=NOW) for upload in (whole, parts)]
    assert [[(thread.id, thread.title) for thread in book.threads] for book in books] == [
        [
            (KnownIds(7).derived(THREAD), "A boat"),
            (KnownIds(7).derived(uuid.uuid5(uuid.NAMESPACE_URL, "claude:no-uuid")), "Plan"),
        ]
    ] * 2
    assert [thread.place for book in books for thread in book.threads] == [
        "[0]",
        "[1]",
        "conversations-000.json[0]",
        "conversations-001.json[0]",
    ]


@pytest.mark.parametrize(
    ("upload", "problem"),
    [
        (packed({"chat.html": b""}), "holds no `conversations.json`"),
        (packed({"conversations.json": b"[]" * 99})[:-30], "damaged or encrypted"),
        (packed({"conversations.json": b"[1, 2"}), "no valid JSON: it ends too early, at character 6."),
        (packed({"conversations.json": b'[{"mapping": {}, "x": "\xff"}]'}), "must be JSON in UTF-8"),
    ],
)
def test_a_zip_that_cannot_be_read_is_refused(upload: bytes, problem: str) -> None:
    with pytest.raises(InvalidImport, match=problem):
        read_book(upload, user_id=7, now=NOW)


def test_a_small_zip_of_much_is_refused_before_it_is_unpacked() -> None:
    bomb = packed({"conversations.json": b" " * 2_000_000})
    assert len(bomb) < 5_000
    with pytest.raises(ImportTooLarge), documents(io.BytesIO(bomb), most=1_000_000):
        pass
