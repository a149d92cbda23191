import json
from typing import Any

import pytest

from conversations.providers.base import ToolCalled, ToolDelta, ToolStarted
from conversations.providers.errors import StreamError
from conversations.providers.tool_calls import DEEPEST_INPUT, ToolCalls, called_ids


def called(*pieces: str, given: object = None) -> tuple[str, dict[str, Any] | None]:
    """What the deltas of a call join to, and its input."""
    calls = ToolCalls()
    calls.start(0, {"id": "t", "name": "save", "input": {} if given is None else given}, "msg_1")
    *deltas, end = [event for piece in pieces for event in calls.write(0, piece)] + calls.stop(0)
    assert isinstance(end, ToolCalled)
    return "".join(delta.json for delta in deltas if isinstance(delta, ToolDelta)), end.input


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((), {}),
        (("", " "), {}),
        (('{"a": ', "1}"), {"a": 1}),
        (('{"a": "\\', "ud83d\\ud", 'e00"}'), {"a": "😀"}),
        (('{"a": "\ud83d', '\ude00"}'), {"a": "😀"}),
        (('{"a": "\\ud83d"}',), {"a": "\ufffd"}),
        (('{"a\\u0000": "\\u0000"}',), {"a\ufffd": "\ufffd"}),
        (('{"a": "\x00\n\ud83d"}',), {"a": "\ufffd\n\ufffd"}),
        (('{"a": 1e5}',), {"a": 100000.0}),
        (('{"a": ',), None),
        (("[1]",), None),
        (("null",), None),
        (('{"a": NaN}',), None),
        (('{"a": 1e999}',), None),
        (('{"a": ' + "9" * 5_000 + "}",), None),
        ((nested(DEEPEST_INPUT),), json.loads(nested(DEEPEST_INPUT))),
        ((nested(DEEPEST_INPUT + 2),), None),
        ((nested(100_000),), None),
        (("[" * 100_000,), None),
    ],
)
def test_the_input_is_what_can_be_stored_or_nothing(pieces: tuple[str, ...], expected: object) -> None:
    assert called(*pieces)[1] == expected


def test_the_deltas_join_to_what_can_be_stored() -> None:
    assert called('{"a": "\x00\ud83d', '\ude00"}')[0] == '{"a": "\ufffd😀"}'
    assert called('{"a": "\ud83d') == ('{"a": "\ufffd', None)


@pytest.mark.parametrize(
    ("given", "pieces", "expected"),
    [
        ({"q": "ö\x00"}, (), ('{"q": "\\u00f6\\u0000"}', {"q": "ö\ufffd"})),
        ({"q": "x"}, ("", '{"q": "y"}'), ('{"q": "y"}', {"q": "y"})),
        ("x", (), ("", {})),
        ([1], (), ("", {})),
    ],
)
def test_an_input_that_came_with_the_start_counts_where_nothing_was_written(
    given: object, pieces: tuple[str, ...], expected: object
) -> None:
    assert called(*pieces, given=given) == expected


def test_calls_that_interleave_are_kept_apart() -> None:
    calls = ToolCalls()
    assert [
        *calls.start(0, {"id": "a", "name": "one"}, ""),
        *calls.start(2, {"id": "b", "name": "two"}, ""),
        *calls.write(2, "{}"),
        *calls.write(0, '{"x": 1'),
        *calls.stop(2),
        *calls.stop(1),
        *calls.write(0, "}"),
        *calls.stop(0),
    ] == [
        ToolStarted(id="a", name="one"),
        ToolStarted(id="b", name="two"),
        ToolDelta(id="b", json="{}"),
        ToolDelta(id="a", json='{"x": 1'),
        ToolCalled(id="b", name="two", input={}),
        ToolDelta(id="a", json="}"),
        ToolCalled(id="a", name="one", input={"x": 1}),
    ]
    assert calls.open == {}


def test_a_second_call_in_the_place_of_an_open_one_is_no_stream_to_trust() -> None:
    calls = ToolCalls()
    calls.start(0, {"id": "a", "name": "one"}, "")
    with pytest.raises(StreamError):
        calls.start(0, {"id": "b", "name": "two"}, "")


def test_ids_and_names_are_such_as_the_api_takes_back() -> None:
    calls = ToolCalls(frozenset({"used"}))
    blocks: list[dict[str, Any]] = [
        {"id": "toolu_1", "name": "save_artifact"},
        {"id": "toolu_1", "name": "save artifact\x00"},
        {"id": "used", "name": "x" * 100},
        {"id": "", "name": ""},
        {"id": "a b", "name": None},
        {"id": "x" * 101, "name": "\ud83d"},
        {"id": 7},
        {"id": "call_msg_1_5", "name": "ok"},
        {},
    ]
    started = [event for i, block in enumerate(blocks) for event in calls.start(i, block, "msg_1\n")]
    assert [(event.id, event.name) for event in started if isinstance(event, ToolStarted)] == [
        ("toolu_1", "save_artifact"),
        ("call_msg_1_0", "save_artifact_"),
        ("call_msg_1_1", "x" * 64),
        ("call_msg_1_2", "unnamed"),
        ("call_msg_1_3", "unnamed"),
        ("call_msg_1_4", "_"),
        ("call_msg_1_5", "unnamed"),
        ("call_msg_1_6", "ok"),
        ("call_msg_1_7", "unnamed"),
    ]


def test_the_ids_of_a_request_are_found() -> None:
    call = {"type": "tool_use", "id": "a", "name": "search", "input": {}}
    said = {"role": "assistant", "content": [{"type": "text", "text": "x"}, call]}
    assert called_ids([{"role": "user", "content": "hi"}, said]) == {"a"}
