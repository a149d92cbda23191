"""What the scripts of the local model server say."""

import json
from typing import Any

import pytest

from tests.model_scripts import ScriptedStream, ScriptedToolUse, echo, repeater, text, turn

CALL: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {}}],
}
RESULT: dict[str, Any] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]}
TOOL = {"name": "search", "description": "Looks.", "input_schema": {"type": "object"}, "eager_input_streaming": True}
SAVE = {"name": "save_artifact", "input_schema": {"type": "object", "properties": {}}}


def request(**changed: Any) -> dict[str, Any]:
    return {
        "model": "local",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
    } | changed


def test_the_default_reply_quotes_the_newest_text() -> None:
    reply = "I was given 1 messages. The newest says: “hi”"
    assert echo(request()) == text(*(word + " " for word in reply.split()[:-1]), "“hi”")
    assert json.dumps(echo(request()).steps[0])


def saved_title(script: ScriptedStream) -> str:
    """The title of the artifact that a stream saves, or nothing."""
    pieces = [
        step["delta"].get("partial_json", "") for step in script.steps if isinstance(step, dict) and "delta" in step
    ]
    return str(json.loads("".join(pieces) or "{}").get("title", ""))


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": said} for said in texts]}


ASSISTANT = {"role": "assistant", "content": "It is saved."}


@pytest.mark.parametrize(
    ("messages", "title"),
    [
        ([user("Generate a BRD")], "BRD"),
        ([user("Please create the user stories. Thanks!")], "user stories"),
        ([user("Generate a BRD"), ASSISTANT, user("What is in it?")], "BRD"),
        ([user("Generate a BRD"), ASSISTANT, user("Write a test plan")], "BRD"),
        ([user("Hello"), ASSISTANT, user("What is in it?", "[Recalled] Draft a table")], "table"),
        ([user("Hello"), {"role": "assistant", "content": "I can write a BRD."}, user("ok")], ""),
        ([user("Generate a BRD"), CALL, RESULT], ""),
    ],
)
def test_the_repeater_makes_the_first_artifact_that_is_asked_for_anywhere(messages: list[Any], title: str) -> None:
    assert saved_title(repeater(request(messages=messages, tools=[TOOL, SAVE]))) == title


@pytest.mark.parametrize("changed", [{}, {"tools": [TOOL]}, {"tools": [SAVE], "tool_choice": {"type": "none"}}])
def test_the_repeater_only_saves_where_it_can(changed: dict[str, Any]) -> None:
    assert saved_title(repeater(request(messages=[user("Generate a BRD")], **changed))) == ""


def test_a_call_streams_in_pieces_that_cut_escapes() -> None:
    (start, *deltas, stop, ending, end) = turn(
        ScriptedToolUse(name="save", input={"a": "😀"}), stop_reason="max_tokens"
    ).steps[1:]
    assert start == {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "toolu_local", "name": "save", "input": {}},
    }
    assert [step["delta"] for step in deltas if isinstance(step, dict)] == [
        {"type": "input_json_delta", "partial_json": piece} for piece in ("", '{"a":', ' "\\ud', "83d\\u", 'de00"', "}")
    ]
    assert [step["type"] for step in (stop, ending, end) if isinstance(step, dict)] == [
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert isinstance(ending, dict)
    assert ending["delta"]["stop_reason"] == "max_tokens"
