"""A document is read whole and right, or refused with the place where it is wrong. No database here."""

import uuid
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.sessions import Session
from conversations.errors import InvalidImport
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.document_reader import DocumentReader, tags_here
from conversations.import_export.import_sections import UNKNOWN
from conversations.import_export.records import ArtifactRecord, MemoryRecord, ThreadRecord, TurnRecord, VersionRecord
from conversations.import_export.rows import last_session
from conversations.import_export.turn_reader import filled
from conversations.models import text_blocks
from tests.conversations.import_export.books import ALONE, ReadBook, read_book, take_nothing

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
THREAD, QUESTION, ANSWER, ARTIFACT, MEMORY = (uuid.UUID(int=number) for number in range(1, 6))
ASKED = {"role": "user", "content": "Hi"}
CALL = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}


def at(hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, 1, hour, minute, tzinfo=UTC)


def document(*threads: Any, **parts: Any) -> dict[str, Any]:
    return {"format": "openbook/1", "threads": list(threads), **parts}


def make_question(**fields: Any) -> dict[str, Any]:
    """A document with one thread of one message."""
    return document({"messages": [ASKED | fields]})


def book_of(value: Any, **options: Any) -> ReadBook:
    return read_book(value, user_id=7, now=NOW, **options)


def contents(value: Any) -> list[dict[str, Any]]:
    return book_of(make_question(content=value)).threads[0].turns[0].content


FULL = document(
    {
        "id": str(THREAD),
        "title": "Two\n lines\x1b",
        "assistant": "analyst",
        "created_at": "2026-03-01T09:00:00Z",
        "starred": "unknown fields are ignored",
        "messages": [
            {"id": str(QUESTION), "role": "user", "content": "Draw it", "created_at": "2026-03-01T12:00:00+02:00"},
            {
                "id": str(ANSWER),
                "role": "assistant",
                "content": [*text_blocks("Here."), CALL],
                "created_at": "2026-03-01 10:01",
                "status": "stopped",
            },
        ],
        "artifacts": [
            {"id": str(ARTIFACT), "title": "Plan", "kind": "svg", "content": "<svg/>", "message": str(ANSWER)},
        ],
    },
    memories=[
        {
            "id": str(MEMORY),
            "content": "Likes tea",
            "tags": ["drinks", "user:1", f"thread:{THREAD}", "thread:elsewhere"],
            "source": str(QUESTION),
            "created_at": "2026-03-02T00:00:00Z",
            "valid_until": "2026-04-01T00:00:00Z",
        }
    ],
)


def test_a_document_is_read_with_every_field() -> None:
    assert book_of(FULL) == ReadBook(
        threads=[
            ThreadRecord(
                id=THREAD,
                place="threads[0]",
                title="Two lines",
                assistant="analyst",
                created_at=at(9),
                turns=[
                    TurnRecord(
                        id=QUESTION, role="user", content=text_blocks("Draw it"), created_at=at(10), status="complete"
                    ),
                    TurnRecord(
                        id=ANSWER,
                        role="assistant",
                        content=[*text_blocks("Here."), CALL],
                        created_at=at(10, 1),
                        status="stopped",
                    ),
                ],
                artifacts=[
                    ArtifactRecord(
                        id=ARTIFACT,
                        title="Plan",
                        kind="svg",
                        language="",
                        preset="",
                        after_position=2,
                        created_at=at(10, 1),
                        versions=[
                            VersionRecord(content="<svg/>", created_at=at(10, 1), origin="program", message_id=ANSWER)
                        ],
                    )
                ],
            )
        ],
        memories=[
            MemoryRecord(
                id=MEMORY,
                content="Likes tea",
                tags=["drinks", "user:7", f"thread:{THREAD}"],
                origin="program",
                sources=[QUESTION],
                created_at=datetime(2026, 3, 2, tzinfo=UTC),
                said_at=datetime(2026, 3, 2, tzinfo=UTC),
                valid_until=datetime(2026, 4, 1, tzinfo=UTC),
            )
        ],
    )


def test_new_ids_replace_the_given_ones_wherever_they_stand() -> None:
    kept, book = book_of(FULL), book_of(FULL, new_ids=True)
    thread, memory = book.threads[0], book.memories[0]
    ids = {thread.id, *(turn.id for turn in thread.turns), thread.artifacts[0].id, memory.id}
    assert len(ids) == 5
    assert ids.isdisjoint({THREAD, QUESTION, ANSWER, ARTIFACT, MEMORY})
    assert thread.artifacts[0].versions[0].message_id == thread.turns[1].id
    assert memory.sources == [thread.turns[0].id]
    assert memory.tags == ["drinks", "user:7", f"thread:{thread.id}"]
    assert [turn.content for turn in thread.turns] == [turn.content for turn in kept.threads[0].turns]


def test_a_document_may_hold_nothing() -> None:
    assert book_of({"format": "openbook/1"}) == ReadBook(threads=[], memories=[])
    assert book_of(document(memories=None, threads=None)) == ReadBook(threads=[], memories=[])


def test_a_thread_without_a_title_gets_one_from_the_first_message_of_the_user() -> None:
    greeting = {"role": "assistant", "content": "Welcome!"}
    threads = [{"messages": [greeting, ASKED]}, {"messages": [greeting]}, {"messages": [ASKED], "title": ""}, {}]
    assert [thread.title for thread in book_of(document(*threads)).threads] == ["Hi", "", "", ""]


def test_the_turn_that_made_an_artifact_may_be_named_by_its_place() -> None:
    messages = [ASKED, {"role": "assistant", "content": "Done"}]
    thread = book_of(
        document({"messages": messages, "artifacts": [{"title": "T", "content": "", "message": 2}]})
    ).threads[0]
    assert (thread.artifacts[0].versions[0].message_id, thread.artifacts[0].kind) == (thread.turns[1].id, "document")


@pytest.mark.parametrize(
    ("given", "start", "times"),
    [
        ([None, None], at(9), [at(9), at(9)]),
        ([at(10), None, at(11), None], at(9), [at(10), at(10), at(11), at(11)]),
        ([None, at(10)], at(9), [at(9), at(10)]),
        ([None, None, at(8), at(10)], at(9), [at(8), at(8), at(8), at(10)]),
        ([at(11), at(10), at(12)], at(9), [at(11), at(10), at(12)]),
        ([], at(9), []),
    ],
)
def test_a_missing_time_never_goes_back_and_a_given_one_stays(
    given: list[datetime | None], start: datetime, times: list[datetime]
) -> None:
    assert list(filled(lambda: given, start)) == times


def test_a_thread_without_a_time_began_with_its_first_message() -> None:
    timed = {"messages": [ASKED, ASKED | {"created_at": "2026-03-01T09:00:00"}]}
    assert [thread.created_at for thread in book_of(document(timed, {"messages": [ASKED]}, {})).threads] == [
        at(9),
        NOW,
        NOW,
    ]


@pytest.mark.parametrize(
    ("tags", "here"),
    [
        ([], ["user:7"]),
        (["a", "b", "a"], ["user:7", "a", "b"]),
        (["user:7"], ["user:7"]),
        (["user:1", "user:2", "x"], ["user:7", "x"]),
        (["thread:old", "thread:gone", "threads", ""], ["user:7", f"thread:{THREAD}", "threads"]),
    ],
)
def test_tags_are_about_this_user_and_about_threads_that_came_along(tags: list[str], here: list[str]) -> None:
    assert tags_here(tags, user_id=7, threads={"old": THREAD}, projects={}) == here


BLOCKS = [
    CALL,
    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Found"}, {"type": "image"}]},
    {"type": "tool_result", "tool_use_id": "t1", "content": "Found", "is_error": True},
    {"type": "tool_result", "tool_use_id": "t1"},
    {"type": "thinking", "thinking": "Hm", "signature": "s"},
    {"type": "image", "source": {"type": "url", "url": "https://pictures.example/1.png"}},
    {"type": "text", "text": "Said", "citations": [{"start": 1, "share": 0.5, "of": None, "exact": True}]},
]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_content_block_is_kept_as_it_is(block: dict[str, Any]) -> None:
    assert contents([block]) == [block]


def test_texts_without_a_word_are_left_out_of_a_message() -> None:
    assert contents([{"type": "text", "text": " \n"}, *text_blocks("Hi")]) == text_blocks("Hi")


def test_what_cannot_be_stored_is_replaced_in_every_string() -> None:
    assert contents("a\0b\ud800c") == text_blocks("a�b�c")
    call = {"type": "tool_use", "id": "t\0", "name": "n", "input": {"k\0": ["\udfff", {"x": "\ud83d\ude00"}]}}
    assert contents([call]) == [call | {"id": "t�", "input": {"k�": ["�", {"x": "😀"}]}}]


def test_cache_marks_of_the_request_that_it_came_from_are_dropped() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [text_blocks("Found")[0] | mark]} | mark
    assert contents([result]) == [{"type": "tool_result", "tool_use_id": "t1", "content": text_blocks("Found")}]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


MISSING_FORMAT = '`format` must be "openbook/1".'
NO_BLOCK = "must be a content block: an object with a `type`."
NO_TIME = "must be an ISO 8601 time, for example 2026-03-01T12:00:00Z."
NO_YEAR = "must be a time from 1970 on and before 2100."
NO_MAKER = "must be the `id`, or the place from 1 on, of an assistant's message of this thread."
NO_SUMMARY = "must tell of messages behind those of the summary before: `first` and `last`, from 1 on."
SUMMARY = {"first": 1, "last": 1, "text": "x"}
FIRST = "threads[0].messages[0]"
WRONG_ARTIFACTS: list[tuple[dict[str, Any], str, str]] = [
    ({"language": "x" * 41}, "language", "the limit is 40."),
    ({"preset": 7}, "preset", "must be a text."),
    ({"after_position": -1}, "after_position", "must be a number, 0 or greater."),
    ({"after_position": True}, "after_position", "must be a number, 0 or greater."),
    ({"versions": "x"}, "versions", "must be a list."),
    ({"versions": [7]}, "versions[0]", "must be an object."),
    ({"versions": [{"content": "x"}, {}]}, "versions[1].content", "is missing."),
    ({"versions": [{"content": "x", "message": 1}]}, "versions[0].message", NO_MAKER),
    ({"versions": [{"content": "y"}]}, "content", "must be that of the last version, or be left out."),
    ({"versions": [{"content": "x"}] * 1_001}, "versions", "the limit is 1,000."),
]

WRONG: list[tuple[Any, str, str]] = [
    ([], "", UNKNOWN),
    (None, "", UNKNOWN),
    ({}, "format", MISSING_FORMAT),
    ({"format": "openbook/2"}, "format", MISSING_FORMAT),
    ({"format": ["openbook/1"]}, "format", MISSING_FORMAT),
    (
        [{"messages": []}],
        "[0]",
        "is no conversation of a ChatGPT export (`mapping`) or a Claude export (`chat_messages`).",
    ),
    (document() | {"threads": {}}, "threads", "`threads` must be a list."),
    (document("x"), "threads[0]", "`threads[0]` must be an object."),
    (document({}, {"title": 7}), "threads[1].title", "`threads[1].title` must be a text."),
    (document({"title": "x" * 201}), "threads[0].title", "has 201 characters; the limit is 200. Split it."),
    (document({"assistant": 7}), "threads[0].assistant", "must be a text."),
    (document({"id": "new"}), "threads[0].id", "must be a UUID. Leave it out to get a new one."),
    (document({"id": 7}), "threads[0].id", "must be a UUID. Leave it out to get a new one."),
    (
        document({"id": str(THREAD)}, {"id": f"{{{THREAD}}}"}),
        "threads[1].id",
        f"stands twice in the document: {THREAD}.",
    ),
    (document({"messages": "Hi"}), "threads[0].messages", "must be a list."),
    (document({"messages": [ASKED, None]}), "threads[0].messages[1]", "must be an object."),
    (make_question(id=str(THREAD)[:-1]), f"{FIRST}.id", "must be a UUID. Leave it out to get a new one."),
    (make_question(role=None), f"{FIRST}.role", "is missing."),
    (make_question(role="system"), f"{FIRST}.role", "must be one of: user, assistant."),
    (make_question(role={}), f"{FIRST}.role", "must be one of: user, assistant."),
    (make_question(status="running"), f"{FIRST}.status", "must be one of: complete, incomplete, refused"),
    (make_question(content=None), f"{FIRST}.content", "is missing."),
    (make_question(content=7), f"{FIRST}.content", "must be a text or a list of content blocks."),
    (make_question(content=" \n"), f"{FIRST}.content", "is empty."),
    (make_question(content=[]), f"{FIRST}.content", "is empty."),
    (make_question(content=text_blocks(" ")), f"{FIRST}.content", "is empty."),
    (make_question(content=["Hi"]), f"{FIRST}.content[0]", NO_BLOCK),
    (make_question(content=[CALL, {"text": "Hi"}]), f"{FIRST}.content[1]", NO_BLOCK),
    (make_question(content=[{"type": 7}]), f"{FIRST}.content[0]", NO_BLOCK),
    (make_question(content=[{"type": "text"}]), f"{FIRST}.content[0].text", "is missing."),
    (make_question(content=[{"type": "other", "text": []}]), f"{FIRST}.content[0].text", "must be a text."),
    (make_question(content=[CALL | {"id": ""}]), f"{FIRST}.content[0].id", "is empty."),
    (make_question(content=[CALL | {"name": None}]), f"{FIRST}.content[0].name", "is missing."),
    (make_question(content=[CALL | {"input": "q"}]), f"{FIRST}.content[0].input", "must be an object."),
    (make_question(content=[{"type": "tool_result"}]), f"{FIRST}.content[0].tool_use_id", "is missing."),
    (
        make_question(content=[{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": 7}]}]),
        f"{FIRST}.content[0].content[0].text",
        "must be a text.",
    ),
    (
        make_question(content=[{"type": "tool_result", "tool_use_id": "t", "content": 7}]),
        f"{FIRST}.content[0].content",
        "must be a text.",
    ),
    (
        make_question(content=[{"type": "x", "y": nested(64)}]),
        f"{FIRST}.content[0]",
        "is nested more than 64 levels deep.",
    ),
    (
        make_question(content=[{"type": "x", "y": float("inf")}]),
        f"{FIRST}.content[0]",
        "holds a number that is too large.",
    ),
    (make_question(created_at="yesterday"), f"{FIRST}.created_at", NO_TIME),
    (make_question(created_at="2026-02-30T00:00:00Z"), f"{FIRST}.created_at", NO_TIME),
    (make_question(created_at=1772366400), f"{FIRST}.created_at", NO_TIME),
    (make_question(created_at="\ud800"), f"{FIRST}.created_at", NO_TIME),
    (make_question(created_at="0001-01-01T00:00:00+14:00"), f"{FIRST}.created_at", NO_YEAR),
    (make_question(created_at="9999-12-31T23:59:59-14:00"), f"{FIRST}.created_at", NO_YEAR),
    (make_question(created_at="9999-12-31T23:59:59"), f"{FIRST}.created_at", NO_YEAR),
    (document({"created_at": "1969-12-31T23:59:59Z"}), "threads[0].created_at", NO_YEAR),
    (document({"artifacts": ["x"]}), "threads[0].artifacts[0]", "must be an object."),
    (document({"artifacts": [{"content": "x"}]}), "threads[0].artifacts[0].title", "is missing."),
    (document({"artifacts": [{"title": "T"}]}), "threads[0].artifacts[0].content", "is missing."),
    (
        document({"artifacts": [{"title": "T", "content": "x", "kind": "spreadsheet"}]}),
        "threads[0].artifacts[0].kind",
        "must be one of: document, code, html, svg, mermaid, table.",
    ),
    *(
        (
            document({"artifacts": [{"title": "T", "content": "x"} | fields]}),
            f"threads[0].artifacts[0].{place}",
            problem,
        )
        for fields, place, problem in WRONG_ARTIFACTS
    ),
    *(
        (
            document({"messages": [ASKED], "artifacts": [{"title": "T", "content": "x", "message": maker}]}),
            "threads[0].artifacts[0].message",
            NO_MAKER,
        )
        for maker in (0, 1, 2, -1, str(THREAD))
    ),
    (document(memories=[7]), "memories[0]", "must be an object."),
    (document(memories=[{}]), "memories[0].content", "is missing."),
    (document(memories=[{"content": "\t"}]), "memories[0].content", "is empty."),
    (document(memories=[{"content": "x" * 10_001}]), "memories[0].content", "the limit is 10,000."),
    (document(memories=[{"content": "x", "tags": "a"}]), "memories[0].tags", "must be a list."),
    (document(memories=[{"content": "x", "tags": ["a", 7]}]), "memories[0].tags[1]", "must be a text."),
    (document(memories=[{"content": "x", "tags": ["a" * 101]}]), "memories[0].tags[0]", "the limit is 100."),
    (document(memories=[{"content": "x", "valid_until": "soon"}]), "memories[0].valid_until", NO_TIME),
    (document(memories=[{"content": "x", "source": "m"}]), "memories[0].source", "must be a UUID."),
    (document(topics=[{"thread": str(THREAD)}]), "topics[0].title", "is missing."),
    (document(preferences={"time_zone": "Mars/Base"}), "preferences.time_zone", "for example Europe/Paris."),
    (document(preferences={"remembers": 1}), "preferences.remembers", "must be true or false."),
    (document({"messages": [ASKED], "summaries": [{"first": 1, "last": 2}]}), "threads[0].summaries[0]", NO_SUMMARY),
    (document({"messages": [ASKED], "summaries": [SUMMARY, SUMMARY]}), "threads[0].summaries[1]", NO_SUMMARY),
]


@pytest.mark.parametrize(("value", "place", "problem"), WRONG, ids=lambda value: str(value)[:60])
def test_what_is_wrong_is_refused_with_its_place(value: Any, place: str, problem: str) -> None:
    with pytest.raises(InvalidImport) as refusal:
        book_of(value)
    assert refusal.value.details == {"place": place}
    assert refusal.value.message.startswith(f"`{place}` " if place else "The document")
    assert problem in refusal.value.message
    assert refusal.value.message.isprintable()


@pytest.mark.parametrize(
    "content",
    ["x" * 1_000_001, text_blocks("x" * 510_000) * 2, [{"type": "image", "data": "x" * 1_000_000}]],
    ids=["a text", "several", "other blocks"],
)
def test_what_is_too_long_costs_its_own_message_alone(content: Any) -> None:
    book = book_of(document({"messages": [{"role": "user", "content": content}, {"role": "user", "content": "Hi"}]}))
    assert [len(thread.turns) for thread in book.threads] == [1]


def test_a_reference_to_a_turn_of_another_thread_is_refused() -> None:
    other = {"messages": [ASKED | {"id": str(ANSWER), "role": "assistant"}]}
    with pytest.raises(InvalidImport, match="of this thread"):
        book_of(document(other, {"artifacts": [{"title": "T", "content": "x", "message": str(ANSWER)}]}))


def test_all_versions_of_an_artifact_are_read_with_who_made_them() -> None:
    versions = [
        {"content": "one", "created_at": "2026-03-01T10:00:00Z", "origin": "reply", "message": 2},
        {"content": "two", "origin": "hand"},
        {"content": "three", "created_at": "2026-03-01T11:00:00Z", "origin": "nobody"},
    ]
    told = {
        "title": "T",
        "kind": "code",
        "language": " my\nsql",
        "preset": "brd",
        "versions": versions,
        "content": "three",
    }
    messages = [ASKED, {"role": "assistant", "content": "Done"}, ASKED]
    thread = book_of(document({"messages": messages, "artifacts": [told]})).threads[0]
    assert thread.artifacts == [
        ArtifactRecord(
            id=thread.artifacts[0].id,
            title="T",
            kind="code",
            language="my sql",
            preset="brd",
            after_position=2,
            created_at=at(10),
            versions=[
                VersionRecord(content="one", created_at=at(10), origin="reply", message_id=thread.turns[1].id),
                VersionRecord(content="two", created_at=at(10), origin="hand", message_id=None),
                VersionRecord(content="three", created_at=at(11), origin="program", message_id=None),
            ],
        )
    ]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, 3),  # times may go back: the last turn that is not younger
        ({"created_at": "2026-03-01T09:30:00Z"}, 0),
        ({"created_at": "2026-03-01T10:00:00Z"}, 1),
        ({"created_at": "2026-03-01T09:30:00Z", "message": 2}, 2),
        ({"after_position": 0}, 0),
        ({"after_position": 10**40}, 3),
    ],
)
def test_an_artifact_stands_below_the_turn_that_was_the_newest(fields: dict[str, Any], place: int) -> None:
    times = ["10:00", "12:00", "11:00"]
    messages = [{"role": "assistant", "content": "x", "created_at": f"2026-03-01T{time}:00Z"} for time in times]
    artifact = {"title": "T", "content": "x", "created_at": "2026-03-01T11:30:00Z"} | fields
    [thread] = book_of(document({"messages": messages, "artifacts": [artifact]})).threads
    assert thread.artifacts[0].after_position == place


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "title", "role", "content", "type", "text", "created_at", "messages", "artifacts", "tags"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_a_document_holds_it_is_read_or_refused(value: Any) -> None:
    reader = DocumentReader(user_id=7, now=NOW, new_ids=False, scratch=Scratch(), take=take_nothing)
    for part in (partial(reader.thread, document=ALONE), reader.memory, reader.topic):
        for each in (
            value,
            {"messages": [value]},
            ASKED | {"content": value},
            {"messages": [ASKED | {"content": value}]},
            {"artifacts": [{"title": "T", "versions": [value], "origin": value, "after_position": value}]},
            {"artifacts": [{"title": "T", "content": "x", "origin": value, "after_position": value}]},
            {"messages": [ASKED], "summaries": [value]},
            {"messages": [ASKED | {"files": value}], "files": value},
            {"messages": [ASKED | {"files": [value]}], "files": [value]},
            {"messages": [ASKED | {"content": [{"type": "file", "file": value, "name": value, "note": value}]}]},
            {"messages": [ASKED | {"content": [{"type": "image", "source": value}, value]}]},
            {
                "messages": [ASKED],
                "summaries": [{"first": 1, "last": 1, "text": "x", "key_moments": value, "made_at": value}],
            },
        ):
            try:
                part(each, "place")
            except InvalidImport as refusal:
                assert str(refusal.details["place"]).startswith("place")


@pytest.mark.parametrize(
    ("roles", "times", "session"),
    [
        ("", [], None),
        ("a", [at(9)], None),
        ("u", [at(9)], Session(started_at=at(9))),
        ("uau", [at(9), at(9, 1), at(9, 31)], Session(started_at=at(9))),
        ("uaua", [at(9), at(9, 1), at(9, 32), at(9, 33)], Session(started_at=at(9, 32), away_since=at(9, 1))),
        ("uuu", [at(9), at(11), at(14)], Session(started_at=at(14), away_since=at(11))),
        ("uu", [at(11), at(9)], Session(started_at=at(9))),  # what is yet to come holds no session open
    ],
)
def test_a_thread_ends_in_the_session_of_its_last_user_turn(
    roles: str, times: list[datetime], session: Session | None
) -> None:
    turns = [
        TurnRecord(
            id=uuid.uuid4(),
            role={"u": "user", "a": "assistant"}[role],
            content=text_blocks("x"),
            created_at=time,
            status="complete",
        )
        for role, time in zip(roles, times, strict=True)
    ]
    assert last_session(turns) == session
