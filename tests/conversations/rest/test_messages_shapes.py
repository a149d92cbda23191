"""What is read of a call of the Messages API and told in its shapes, and which thread a message belongs to. Pure."""

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from anthropic.resources import Messages
from openai.resources.chat.completions import Completions
from openai.resources.responses import Responses

from conversations.context.caller_options import CallerOptions
from conversations.errors import InvalidMessage
from conversations.models import Message, Reply
from conversations.replies.events import Event
from conversations.rest import completions_shapes, messages_shapes, responses_shapes
from conversations.rest.messages_shapes import MessagesStream, SentTurn, answer, error_body, failure, frame, read_call
from conversations.rest.thread_matching import IncomingMessage, MessageAction, PathTurn, goes_on, step_for

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
COUNTED = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 8}
OWN_USAGE = COUNTED | {"cache_creation_1h_input_tokens": 6, "thinking_tokens": 4}
USAGE = COUNTED | {
    "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 6},
    "output_tokens_details": {"thinking_tokens": 4},
}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
TOOL = {"name": "f", "input_schema": {"type": "object"}}
CALL = {"name": "f", "type": "tool_use", "id": "t", "input": {}}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "companion", "max_tokens": 9, "messages": list(messages) or [user("Hello")], **more}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def text(*texts: str, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text, **more} for text in texts]


def document(type: str, **source: Any) -> dict[str, Any]:
    return {"type": "document", "source": {"type": type, **source}}


def event(type: str, **data: Any) -> Event:
    return Event(reply=uuid.UUID(int=1), seq=1, type=type, data=data, at=NOW)


def ending(type: str = "reply.completed", said: str = "", **data: Any) -> Event:
    told = {"message": {"text": said} if said else None, "stop_reason": "end_turn", "usage": OWN_USAGE, "request": None}
    return event(type, **told | data)


def error(code: str) -> dict[str, Any]:
    return {"type": "model", "code": code, "message": "Try again.", "details": {"retryable": True}, "request_id": "r"}


def test_the_newest_message_is_the_turn_and_what_is_no_text_before_it_is_left_out() -> None:
    call = read_call(
        body(
            user([*text("What is", "in it?"), IMAGE]),
            assistant([CALL]),
            user([{"type": "tool_result", "tool_use_id": "t", "content": "a cat"}]),
            assistant("A cat."),
            {"role": "system", "content": "Be kind."},
            user("Which "),
            user(text("one?", cache_control={"type": "ephemeral"})),
            system=text("Be brief."),
            metadata={"user_id": "x", "thread": "some-id"},
            temperature=1.0,
        )
    )
    given = {"type": "tool_result", "tool_use_id": "t", "content": "a cat"}
    assert (call.earlier, call.newest) == (
        [
            SentTurn(role="user", text="What is\n\nin it?", files=[], blocks=[]),
            SentTurn(role="assistant", text="", files=[], blocks=[CALL]),
            SentTurn(role="user", text="", files=[], blocks=[given]),
            SentTurn(role="assistant", text="A cat.", files=[], blocks=[]),
        ],
        text("Which ", "one?"),
    )
    assert (call.options, call.stream, call.thread) == (
        CallerOptions(instructions="Be brief.\n\nBe kind.", max_tokens=9),
        False,
        "some-id",
    )


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ([], "The body must be a JSON object"),
        (body(model=7), "`model` must be"),
        (body(model=""), "`model` must be"),
        (body(max_tokens=0), "`max_tokens` must be"),
        (body(max_tokens=True), "`max_tokens` must be"),
        (body(max_tokens=None), "`max_tokens` must be"),
        (body(stream="yes"), "`stream` must be"),
        (body(system=[1]), "`system` must be"),
        (body(metadata=["x"]), "`metadata.thread` must be"),
        (body(metadata={"thread": 1}), "`metadata.thread` must be"),
        ({"model": "x", "max_tokens": 1}, "`messages` must be"),
        ({"model": "x", "max_tokens": 1, "messages": []}, "`messages` must be"),
        (body("Hello"), "`messages[0]` must be"),
        (body({"role": "tool", "content": "x"}), "`messages[0]` must be"),
        (body(user("x"), user(None)), "`messages[1].content` must be"),
        (body(user("x"), assistant("The answer is (")), "The last message must be the user's"),
        (body({"role": "system", "content": "x"}), "The last message must be the user's"),
        (body(user([IMAGE])), "`messages[0].content[0].source` names an address, and Openbook fetches nothing"),
        (body(user([CALL])), "`messages[0].content[0]` is of type 'tool_use': the newest message may hold text"),
        (body(user([{"type": "image"}])), "`messages[0].content[0].source` must be an object with `type`"),
        (body(user([document("base64")])), "source.media_type` must be application/pdf"),
        (body(user([document("base64", media_type="application/pdf")])), "source.data` must be base64"),
        (body(user([document("text", media_type="text/html")])), "source.media_type` must be text/plain"),
        (
            body(user([document("file", file_id="file_011CNha8iCJcU1wXNR6q4V8w")])),
            "the id of a file that was uploaded here",
        ),
        (
            body(user([document("content", content=[CALL])])),
            "`messages[0].content[0].source.content[0]` is of type 'tool_use'",
        ),
        (body(user([document("content", content=7)])), "source.content` must be a text or a list of blocks"),
        (body(user([document("content", content="a") | {"title": 7}])), "content[0].title` must be a text"),
        (body(user([document("content", content="a")] * 21)), "A message may bring 20 files; this one has 21"),
        (body(tools=[{"name": "f"}]), "`tools[0]` must have a JSON Schema"),
        (body(tools=[{"name": "f", "type": "web_search_20250305"}]), "`tools[0]` is of type 'web_search_20250305'"),
        (body(tools=[TOOL | {"defer_loading": True}]), "Leave `tools[0].defer_loading` out"),
        (body(tools=[TOOL, TOOL]), "Two of `tools` have the same name"),
        (body(stop_sequences="END"), "`stop_sequences` must be a list"),
        (body(temperature=0.5), "Leave `temperature` out: the assistant decides."),
        (body(thinking={"type": "between_tools"}), "`thinking` must be disabled, adaptive, or enabled"),
        (body(tool_choice={"type": "any"}), "`tool_choice` names a tool that is not among `tools`"),
        (body(tools=[TOOL], tool_choice={"type": "tool", "name": "g"}), "`tool_choice` names a tool"),
        (
            body(metadata={"topic": "tea"}),
            "`metadata` may hold `thread` and `user_id`, and nothing else; leave `topic`",
        ),
        (body(output_config={"format": {"type": "json_schema"}}), "`output_config` must have a JSON Schema"),
        (body(output_config={"effort": "low"}), "Leave `effort` of `output_config` out"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_what_to_do(wrong: Any, what: str) -> None:
    with pytest.raises(InvalidMessage) as caught:
        read_call(wrong)
    assert what in caught.value.message


TABLES = {
    "## What is honoured": messages_shapes,
    "## OpenAI's Chat Completions": completions_shapes,
    "## OpenAI's Responses": responses_shapes,
}
LEGACY = {"best_of", "functions", "function_call"}
"""Of earlier versions of the APIs, which the table has under ``what isn't in this table``."""


@pytest.mark.parametrize(("heading", "shapes"), TABLES.items())
def test_the_table_of_an_api_names_each_parameter_under_what_becomes_of_it(heading: str, shapes: ModuleType) -> None:
    section = Path("docs/messages-api.md").read_text().partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    kinds: dict[str, set[str]] = {"READ": set(), "WITHOUT_EFFECT": set(), "REFUSED": set()}
    for names, meaning in re.findall(r"^\| (`[^|]+?) \| (.+) \|$", section, re.MULTILINE):
        kind = (
            "REFUSED" if meaning.startswith("refused") else "WITHOUT_EFFECT" if meaning.startswith("taken") else "READ"
        )
        kinds[kind] |= {name.partition(".")[0] for name in re.findall(r"`(\w[\w.]*)`", names)}
    assert kinds == {kind: {*getattr(shapes, kind)} - LEGACY for kind in kinds}


SDK_OPTIONS = {"self", "extra_headers", "extra_query", "extra_body", "timeout"}


@pytest.mark.parametrize(
    ("shapes", "sdk"), [(messages_shapes, Messages), (completions_shapes, Completions), (responses_shapes, Responses)]
)
def test_each_parameter_of_the_sdk_has_an_answer_of_its_own(shapes: ModuleType, sdk: Any) -> None:
    assert [name for name in signature(sdk.create).parameters.keys() - SDK_OPTIONS if not shapes.known(name)] == []


def test_what_tools_gave_and_documents_in_parts_are_files_of_their_words() -> None:
    blocks = [
        document("content", content=text("One.", "Two.")) | {"title": "Plan", "context": "Of May."},
        {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [*text("12 degrees"), document("content", content="More.")],
        },
        {"type": "tool_result", "tool_use_id": "u"},
        *text("And?"),
    ]
    call = read_call(body(user(blocks)))
    assert [(file.name, file.content) for file in call.files] == [
        ("Plan.txt", "One.\n\nTwo."),
        ("document-1.txt", "More."),
        ("tool-result-1.txt", "12 degrees"),
    ]
    assert call.newest == text("Plan.txt: Of May.", "And?")


def test_a_frame_is_whole_for_clients_that_break_lines_at_every_separator_of_unicode() -> None:
    event = {"type": "content_block_delta", "text": "a\u2028b\u2029c\x85d\x0be é😀"}
    head, data, *rest = frame(event).decode().splitlines()
    assert (head, json.loads(data.removeprefix("data: ")), rest) == ("event: content_block_delta", event, [""])


def test_a_stream_of_several_rounds_is_one_message_with_one_text() -> None:
    stream = MessagesStream(id="msg_1", model="companion")
    events = [
        event("message.saved"),
        event("context.built", total_tokens=7),
        event("reply.started"),
        event("reply.delta", text="I look. "),
        event("tool.started"),
        event("context.built", total_tokens=70),
        event("reply.delta", text="\n\nFound."),
        ending(said="I look. \n\nFound."),
    ]
    told = [told for one in events for told in stream.of(one)]
    start: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "companion",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 7,
            "output_tokens": 0,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens_details": {"thinking_tokens": 0},
        },
    }
    assert told == [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look. "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "\n\nFound."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": USAGE},
        {"type": "message_stop"},
    ]
    assert json.loads(frame(told[0]).split(b"data: ")[1]) == told[0]


@pytest.mark.parametrize(
    ("last", "content", "stop_reason"),
    [
        (ending(said="Hi"), ["Hi"], "end_turn"),
        (ending(said="Hi", stop_reason="max_tokens"), ["Hi"], "max_tokens"),
        (ending(said="Hi", stop_reason="refusal"), ["Hi"], "refusal"),
        (ending(said="Hi", stop_reason="tool_use"), ["Hi"], "end_turn"),
        (ending("reply.stopped", stop_reason=""), [], "end_turn"),
        (ending("reply.failed", error=error("refused")), [], "refusal"),
    ],
)
def test_how_a_reply_ended_is_told_in_the_words_of_the_api(last: Event, content: list[str], stop_reason: str) -> None:
    told = answer(last, id="msg_1", model="companion")
    assert (told["content"], told["stop_reason"], failure(last)) == (text(*content), stop_reason, None)
    assert next(part for part in MessagesStream(id="", model="").of(last) if part["type"] == "message_delta")[
        "delta"
    ] == {
        "stop_reason": stop_reason,
        "stop_sequence": None,
    }


@pytest.mark.parametrize(
    ("code", "status", "type"),
    [
        ("overloaded", 529, "overloaded_error"),
        ("rate_limited", 429, "rate_limit_error"),
        ("timeout", 504, "timeout_error"),
        ("invalid_request", 400, "invalid_request_error"),
        ("authentication", 500, "api_error"),
        ("one to come", 500, "api_error"),
    ],
)
def test_how_a_reply_failed_is_told_in_the_words_of_the_api(code: str, status: int, type: str) -> None:
    found = failure(ending("reply.failed", error=error(code)))
    assert found == (status, error(code))
    told = {
        "type": "error",
        "error": {
            "type": type,
            "message": "Try again.",
            "param": None,
            "code": code,
            "details": {"retryable": True, "code": code},
        },
        "request_id": "r",
    }
    assert error_body(*found) == told
    assert list(MessagesStream(id="", model="").of(ending("reply.failed", error=error(code)))) == [told]


PATH = [("user", "Hi"), ("assistant", "Hello! \n"), ("user", "Tea?"), ("assistant", "Yes.")]


@pytest.mark.parametrize(
    ("path", "earlier", "expected"),
    [
        (PATH, PATH, True),
        (PATH, [("user", "Hi"), ("assistant", "Hello!"), *PATH[2:]], True),
        (PATH, PATH[2:], True),
        (PATH, PATH[1:], True),
        (PATH, PATH[:2], False),
        (PATH, [("user", "Oh"), *PATH], False),
        (PATH, [("user", "Tea?"), ("assistant", "No.")], False),
        (PATH, [("user", "Tea?"), ("user", "Yes.")], False),
        (PATH, [], False),
        ([], [], True),
    ],
    ids=[
        "whole",
        "trimmed",
        "newest part",
        "begins with a reply",
        "moved on",
        "more than there is",
        "other",
        "role",
        "none",
        "empty",
    ],
)
def test_a_thread_goes_on_where_it_ends_with_what_went_before(path: Any, earlier: Any, expected: bool) -> None:
    assert goes_on([PathTurn(*turn) for turn in path], [PathTurn(*turn) for turn in earlier]) is expected


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ([b"a", b"b"], [b"a", b"b"], True),
        ([b"a", b"b"], [b"b", b"a"], False),
        ([b"a"], [b"c", b"a", b"b"], True),
        ([b"a"], [b"b"], False),
        ([b"a", b"b"], [], True),
        ([None], [b"a"], True),
        ([b"a"], [None], True),
        ([], [b"a"], True),
    ],
    ids=["same", "order", "not all taken", "other", "left out", "mine is gone", "theirs is gone", "none taken"],
)
def test_a_turn_is_the_same_with_the_same_files_or_where_some_are_missing(
    mine: Any, theirs: Any, expected: bool
) -> None:
    assert goes_on([PathTurn("user", "Look", mine)], [PathTurn("user", "Look", theirs)]) is expected


def test_the_same_words_with_another_file_are_no_retry() -> None:
    failed = newest_reply("failed", 1)
    assert step_for(IncomingMessage(text="yes", files=[b"a"]), failed, NOW, [b"a"]) is MessageAction.RETRY
    assert step_for(IncomingMessage(text="yes", files=[b"b"]), failed, NOW, [b"a"]) is MessageAction.SAY
    assert step_for(IncomingMessage(text="yes"), failed, NOW, [b"a"]) is MessageAction.SAY


def newest_reply(status: str, ended: int | None = None, key: str | None = None) -> Reply:
    at = None if ended is None else NOW - timedelta(seconds=ended)
    return Reply(user_message=Message(text="yes\n", client_message_id=key), status=status, ended_at=at)


@pytest.mark.parametrize(
    ("sent", "before", "expected"),
    [
        (IncomingMessage(text="yes"), None, MessageAction.SAY),
        (IncomingMessage(text="yes"), newest_reply("completed", 1), MessageAction.SAY),
        (IncomingMessage(text="yes"), newest_reply("running"), MessageAction.SAY),
        (IncomingMessage(text="yes", retried=True), newest_reply("running"), MessageAction.FOLLOW),
        (IncomingMessage(text="yes", retried=True), newest_reply("completed", 119), MessageAction.FOLLOW),
        (IncomingMessage(text="yes", retried=True), newest_reply("completed", 121), MessageAction.SAY),
        (IncomingMessage(text="no", retried=True), newest_reply("running"), MessageAction.SAY),
        (IncomingMessage(text="yes"), newest_reply("failed", 9_999), MessageAction.RETRY),
        (IncomingMessage(text="yes", retried=True), newest_reply("interrupted", 1), MessageAction.RETRY),
        (IncomingMessage(text="yes", key="a"), newest_reply("completed", 9_999, "a"), MessageAction.FOLLOW),
        (IncomingMessage(text="yes", key="b", retried=True), newest_reply("completed", 1, "a"), MessageAction.SAY),
        (IncomingMessage(text="yes", key="a"), newest_reply("failed", 1, "a"), MessageAction.RETRY),
    ],
)
def test_the_same_words_again_are_a_turn_unless_they_are_a_retry(
    sent: IncomingMessage, before: Reply | None, expected: MessageAction
) -> None:
    assert step_for(sent, before, NOW) is expected
