import json
from typing import Any

import pytest

from tests.model_rules import complaint
from tests.model_scripts import echo, text

USER = {"role": "user", "content": "hi"}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]}


def request(**changed: Any) -> dict[str, Any]:
    return {"model": "local", "max_tokens": 1, "messages": [USER], "stream": True} | changed


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(system="Be brief."),
        request(messages=[USER, CALL, RESULT]),
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
