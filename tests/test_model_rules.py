"""What the local server takes and refuses: the API's rules, and those of the model's family."""

from typing import Any

import pytest

from tests.model_server.families import FAMILIES, SEND_BETWEEN_TOOLS, STEER, can_read
from tests.model_server.rules import NO_PREFILL, complaint

USER: dict[str, Any] = {"role": "user", "content": "hi"}
HO: dict[str, Any] = {"role": "assistant", "content": "ho"}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "search", "input": {}}],
}
RESULT: dict[str, Any] = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}]}
THOUGHT = {"type": "thinking", "thinking": "", "signature": "x"}
TOOL = {"name": "search", "description": "Looks.", "input_schema": {"type": "object"}, "eager_input_streaming": True}
SAVE = {"name": "save_artifact", "input_schema": {"type": "object", "properties": {}}}
PATTERN = "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"
TAG = "Input tag does not match any of the expected tags"
EXTRA = "Extra inputs are not permitted"


def request(**changed: Any) -> dict[str, Any]:
    return {"model": "claude-haiku-5-5", "max_tokens": 1, "messages": [USER], "stream": True} | changed


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return request(messages=[{"role": "user", "content": list(blocks)}])


def system(*marks: dict[str, Any]) -> dict[str, Any]:
    return request(
        system=[{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", **mark}} for mark in marks]
    )


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(max_tokens=0),
        request(system="Be brief."),
        request(system=""),
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
        request(messages=[USER, HO, USER]),
        request(messages=[USER, USER]),
        request(messages=[USER, {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "ho"}]}, USER]),
        request(diagnostics={"previous_message_id": None}),
        request(diagnostics={"previous_message_id": "msg_1"}),
        request(tools=[{"type": "web_search_20250305", "name": "web_search"}]),
        system({"ttl": "1h"}, {"ttl": "1h"}, {"ttl": "5m"}, {}),
    ],
)
def test_what_the_api_takes_is_taken(body: dict[str, Any]) -> None:
    assert complaint(body) is None


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([], "Input should be a valid dictionary"),
        ({"model": "local", "messages": [USER], "stream": True}, "max_tokens: Field required"),
        (request(max_tokens=-1), "max_tokens: Input should be greater than or equal to 0"),
        (request(max_tokens=True), "max_tokens: Input should be a valid integer"),
        (request(stream=False), "stream: Input should be True"),
        *[(request(**{name: 1}), f"{name}: {EXTRA}") for name in ("thread", "temperature", "top_p", "top_k", "betas")],
        (request(model=""), "model: String should have at least 1 character"),
        (request(messages=[]), "messages: at least one message is required"),
        (request(messages=[HO, USER]), 'messages: first message must use the "user" role'),
        (request(messages=[USER, HO]), NO_PREFILL),
        (request(messages=[{"role": "tool", "content": "x"}]), f"messages.0: {TAG}"),
        (request(messages=[USER | {"id": 1}]), f"messages.0.id: {EXTRA}"),
        (request(messages=[{"role": "user", "content": ""}]), "messages.0: all messages must have non-empty content"),
        (user(), "messages.0: all messages must have non-empty content"),
        (user({"type": "text", "text": " "}), "messages: text content blocks must contain non-whitespace text"),
        (user({"type": "text", "text": "x", "tokens": 1}), f"messages.0.content.0.text.tokens: {EXTRA}"),
        (user({"type": "sound"}), f"messages.0.content.0: {TAG}"),
        (user(THOUGHT), "messages.0.content.0: `thinking` blocks can only be in `assistant` messages"),
        (user(CALL["content"][0]), "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages"),
        (
            request(system=[{"type": "text", "text": ""}]),
            "messages: text content blocks must contain non-whitespace text",
        ),
        (request(messages=[RESULT]), "messages.0: unexpected `tool_use_id` found in `tool_result` blocks: {'t1'}"),
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
            request(messages=[USER, {"role": "assistant", "content": [{**CALL["content"][0], "id": "a b"}]}]),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            request(messages=[USER, {"role": "assistant", "content": [{**CALL["content"][0], "input": None}]}]),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
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
        (request(tools=[{"name": "a"}]), "tools.0.custom.input_schema: Field required"),
        (
            request(tools=[TOOL | {"input_schema": {"type": "list"}}]),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (request(tools=[TOOL | {"run": 1}]), f"tools.0.custom.run: {EXTRA}"),
        (request(tool_choice={"type": "none"}), "tool_choice: may only be specified while providing tools"),
        (
            request(tools=[TOOL], tool_choice={"type": "tool", "name": "b"}),
            "tool_choice: Tool 'b' not found in provided tools",
        ),
        (request(tools=[TOOL], tool_choice="none"), f"tool_choice: {TAG}"),
        (
            request(tools=[TOOL], tool_choice={"type": "none", "disable_parallel_tool_use": True}),
            f"tool_choice.none.disable_parallel_tool_use: {EXTRA}",
        ),
        (system(*[{}] * 5), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
        (system({"ttl": "2h"}), "system.0.cache_control.ttl: Input should be '5m' or '1h'"),
        (
            system({}, {"ttl": "1h"}),
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
        ),
    ],
)
def test_what_the_api_refuses_is_refused(body: Any, problem: str) -> None:
    assert complaint(body) == problem


def thinking(kind: str, effort: str = "", **fields: Any) -> dict[str, Any]:
    return {"thinking": {"type": kind, **fields}} | ({"output_config": {"effort": effort}} if effort else {})


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("claude-sonnet-5-5", thinking("adaptive", "max", display="summarized")),
        ("claude-sonnet-5-5", thinking("between_tools", "high")),
        ("claude-haiku-5-5", thinking("disabled")),
        ("claude-haiku-5-5", {"tools": [TOOL], "tool_choice": {"type": "any"}}),
        ("claude-opus-5-5", {"output_config": {"effort": "xhigh"}, "max_tokens": 128_000}),
        ("claude-opus-5", thinking("disabled", "high")),
        ("claude-sonnet-5", thinking("disabled", "max")),
        ("claude-opus-4-6", thinking("enabled", "max", budget_tokens=1_024) | {"max_tokens": 1_025}),
        ("claude-haiku-4-5-20251001", thinking("enabled", budget_tokens=1_024) | {"max_tokens": 2_000}),
    ],
)
def test_what_a_model_can_is_taken(model: str, fields: dict[str, Any]) -> None:
    assert complaint(request(model=model) | fields) is None


TOO_HIGH = (
    "output_config.effort '{}' is not supported when thinking is disabled on this model. "
    "Use effort 'high' or below, or enable thinking."
)
NO_FORCED = 'tool_choice: type "tool" and "any" are not supported for this model.'
BUDGET = thinking("enabled", budget_tokens=1_024) | {"max_tokens": 2_000}


@pytest.mark.parametrize(
    ("model", "fields", "problem"),
    [
        ("claude-sonnet-5-5", BUDGET, f'"thinking.type.enabled" is not supported for this model. {STEER}'),
        ("claude-sonnet-5-5", thinking("disabled"), SEND_BETWEEN_TOOLS),
        ("claude-sonnet-5-5", thinking("between_tools", "xhigh"), TOO_HIGH.format("xhigh")),
        ("claude-sonnet-5-5", thinking("between_tools", display="omitted"), f"thinking.between_tools.display: {EXTRA}"),
        ("claude-sonnet-5-5", thinking("disabled", display="omitted"), f"thinking.disabled.display: {EXTRA}"),
        ("claude-sonnet-5-5", {"tools": [TOOL], "tool_choice": {"type": "any"}}, NO_FORCED),
        ("claude-opus-5-5", {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "search"}}, NO_FORCED),
        ("claude-opus-5-5", thinking("disabled"), f'"thinking.type.disabled" is not supported for this model. {STEER}'),
        (
            "claude-fable-5-1",
            thinking("disabled"),
            f'"thinking.type.disabled" is not supported for this model. {STEER}',
        ),
        ("claude-haiku-5-5", thinking("disabled", "max"), TOO_HIGH.format("max")),
        (
            "claude-haiku-5-5",
            thinking("between_tools"),
            '"thinking.type.between_tools" is not supported for this model.',
        ),
        ("claude-haiku-4-5", thinking("adaptive"), "adaptive thinking is not supported on this model"),
        (
            "claude-haiku-4-5",
            {"output_config": {"effort": "low"}},
            "output_config.effort: 'low' is not supported for this model.",
        ),
        (
            "claude-sonnet-4-6",
            {"output_config": {"effort": "xhigh"}},
            "output_config.effort: 'xhigh' is not supported for this model.",
        ),
        (
            "claude-opus-4-6",
            BUDGET | {"max_tokens": 1_024},
            "`max_tokens` must be greater than `thinking.budget_tokens`.",
        ),
        (
            "claude-opus-4-6",
            thinking("enabled", budget_tokens=9),
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        ),
        (
            "claude-opus-5-5",
            {"max_tokens": 128_001},
            "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5",
        ),
        (
            "claude-sonnet-5-5",
            {"output_config": {"effort": "highest"}},
            "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
        ),
    ],
)
def test_what_a_model_cannot_is_refused(model: str, fields: dict[str, Any], problem: str) -> None:
    assert complaint(request(model=model) | fields) == problem


def test_beta_fields_need_the_beta() -> None:
    bound = thinking("adaptive", block_binding={"prefix_mismatch_behavior": "drop_block"})
    assert complaint(request(**bound)) == f"thinking.adaptive.block_binding: {EXTRA}"
    assert complaint(request(**bound), beta=True) is None


@pytest.mark.parametrize(
    ("reader", "readable"),
    [
        ("claude-haiku-5-5", {"claude-haiku-5-5", "claude-sonnet-5"}),
        ("claude-sonnet-5-5", {"claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-5"}),
        (
            "claude-opus-5-5",
            {"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-5", "claude-opus-5"},
        ),
    ],
)
def test_a_model_reads_the_thinking_of_some(reader: str, readable: set[str]) -> None:
    fifth = [kind for kind in FAMILIES if "-4-" not in kind]
    assert {writer for writer in fifth if can_read(reader, writer)} == readable
