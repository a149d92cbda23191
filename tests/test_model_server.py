import json
from typing import Any

import pytest

from tests.model_rules import complaint
from tests.model_scripts import Stream, Use, echo, repeater, text, turn

USER = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {}}],
}
RESULT: dict[str, Any] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]}


TOOL = {"name": "search", "description": "Looks.", "input_schema": {"type": "object"}, "eager_input_streaming": True}
SAVE = {"name": "save_artifact", "input_schema": {"type": "object", "properties": {}}}
PATTERN = "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"


def request(**changed: Any) -> dict[str, Any]:
    return {"model": "local", "max_tokens": 1, "messages": [USER], "stream": True} | changed


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(system="Be brief."),
        request(messages=[USER, CALL, RESULT], tools=[TOOL]),
        *[
            request(tools=[TOOL, SAVE], tool_choice=choice)
            for choice in (
                {"type": "auto", "disable_parallel_tool_use": True},
                {"type": "any"},
                {"type": "none"},
                {"type": "tool", "name": "search"},
            )
        ],
        request(messages=[USER, {"role": "assistant", "content": "ho"}, USER]),
        request(messages=[USER, USER]),
    ],
)
def test_what_the_api_takes_is_taken(body: dict[str, Any]) -> None:
    assert complaint(body) is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([], "Input should be an object"),
        ({"model": "local", "messages": [USER]}, "max_tokens: Field required"),
        (request(max_tokens=0), "max_tokens: Input should be greater than or equal to 1"),
        (request(max_tokens=True), "max_tokens: Input should be greater than or equal to 1"),
        (request(thread="1"), "thread: Extra inputs are not permitted"),
        (request(messages=[]), "messages: at least one message is required"),
        (
            request(messages=[{"role": "assistant", "content": "ho"}, USER]),
            'messages: first message must use the "user" role',
        ),
        (
            request(messages=[USER, {"role": "assistant", "content": "ho"}]),
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
        (
            request(messages=[{"role": "system", "content": "x"}]),
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (request(messages=[USER | {"id": 1}]), "messages.0.id: Extra inputs are not permitted"),
        (request(messages=[{"role": "user", "content": ""}]), "messages.0: all messages must have non-empty content"),
        (request(messages=[{"role": "user", "content": []}]), "messages.0: all messages must have non-empty content"),
        (
            request(messages=[{"role": "user", "content": [{"type": "text", "text": " "}]}]),
            "messages: text content blocks must contain non-whitespace text",
        ),
        (
            request(messages=[{"role": "user", "content": [{"type": "text", "text": "x", "tokens": 1}]}]),
            "messages.0.content.0.text.tokens: Extra inputs are not permitted",
        ),
        (
            request(system=[{"type": "text", "text": ""}]),
            "messages: text content blocks must contain non-whitespace text",
        ),
        (
            request(messages=[RESULT]),
            "messages.0: unexpected `tool_use_id` found in `tool_result` blocks: {'t1'}",
        ),
        (
            request(messages=[USER, CALL, USER]),
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: {'t1'}",
        ),
        (
            request(
                messages=[
                    USER,
                    CALL,
                    {"role": "user", "content": [{"type": "text", "text": "So"}, *RESULT["content"]]},
                ],
                tools=[TOOL],
            ),
            "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: {'t1'}",
        ),
        (
            request(messages=[USER, CALL, {"role": "user", "content": RESULT["content"] * 2}], tools=[TOOL]),
            "messages.2: each tool_use must have a single result",
        ),
        (
            request(messages=[{"role": "user", "content": CALL["content"]}]),
            "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages",
        ),
        (
            request(messages=[USER, {"role": "assistant", "content": [{**CALL["content"][0], "id": "a b"}]}]),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            request(messages=[USER, {"role": "assistant", "content": [{**CALL["content"][0], "input": None}]}]),
            "messages.1.content.0.tool_use.input: Input should be an object",
        ),
        (
            request(messages=[USER, CALL, RESULT]),
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        ),
        (
            request(messages=[USER, CALL, RESULT, CALL, RESULT], tools=[TOOL]),
            "messages: `tool_use` ids must be unique",
        ),
        (request(tools=[TOOL | {"name": "a b"}]), f"tools.0.custom.name: {PATTERN}"),
        (request(tools=[TOOL | {"name": "x" * 65}]), f"tools.0.custom.name: {PATTERN}"),
        (request(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
        (request(tools=[{"name": "a"}]), "tools.0.custom.input_schema.type: Input should be 'object'"),
        (request(tools=[TOOL | {"run": 1}]), "tools.0.custom.run: Extra inputs are not permitted"),
        (request(tool_choice={"type": "none"}), "tool_choice: may only be specified while providing tools"),
        (
            request(tools=[TOOL], tool_choice={"type": "tool", "name": "b"}),
            "tool_choice: Tool 'b' not found in provided tools",
        ),
        (
            request(tools=[TOOL], tool_choice="none"),
            "tool_choice: Input tag does not match any of the expected tags",
        ),
        (
            request(tools=[TOOL], tool_choice={"type": "none", "disable_parallel_tool_use": True}),
            "tool_choice.disable_parallel_tool_use: Extra inputs are not permitted",
        ),
        (
            request(system=[{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5),
            "A maximum of 4 blocks with cache_control may be provided.",
        ),
    ],
)
def test_what_the_api_refuses_is_refused(body: Any, problem: str) -> None:
    assert complaint(body) == problem


def test_the_default_reply_quotes_the_newest_text() -> None:
    reply = "I was given 1 messages. The newest says: “hi”"
    assert echo(request()) == text(*(word + " " for word in reply.split()[:-1]), "“hi”")
    assert json.dumps(echo(request()).steps[0])


def saved_title(script: Stream) -> str:
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
    (start, *deltas, stop, ending, end) = turn(Use(name="save", input={"a": "😀"}), stop_reason="max_tokens").steps[1:]
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
