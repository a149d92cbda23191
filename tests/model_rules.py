"""The Messages API's own rules for a request, so that the local server refuses what the API would refuse: pure."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

TOP_LEVEL = frozenset(
    {
        "model",
        "max_tokens",
        "messages",
        "system",
        "stream",
        "tools",
        "tool_choice",
        "metadata",
        "stop_sequences",
        "thinking",
    }
    | {"cache_control", "container", "diagnostics", "inference_geo", "output_config", "service_tier", "speed"}
)
BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}
TOOL_FIELDS = {
    *("name", "description", "input_schema", "type", "cache_control", "strict", "input_examples"),
    *("eager_input_streaming", "defer_loading", "allowed_callers"),
}
TOOL_CHOICES = {
    "auto": {"type", "disable_parallel_tool_use"},
    "any": {"type", "disable_parallel_tool_use"},
    "tool": {"type", "name", "disable_parallel_tool_use"},
    "none": {"type"},
}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
ROLE_OF = {"tool_use": "assistant", "tool_result": "user"}
MOST_CACHE_MARKS = 4


def complaint(body: object) -> str | None:
    """What the API would say against this request, or None."""
    if not isinstance(body, dict):
        return "Input should be an object"
    return next(complaints(body), None)


def complaints(body: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{field}: Field required" for field in ("model", "max_tokens", "messages") if field not in body)
    yield from (f"{field}: Extra inputs are not permitted" for field in body.keys() - TOP_LEVEL)
    if not isinstance(body["model"], str) or not body["model"]:
        yield "model: Input should be a non-empty string"
    if type(body["max_tokens"]) is not int or body["max_tokens"] < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    if not isinstance(body["messages"], list) or not body["messages"]:
        yield "messages: at least one message is required"
    yield from system_complaints(body.get("system", []))
    for i, message in enumerate(body["messages"]):
        yield from message_complaints(f"messages.{i}", message)
    if body["messages"][0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    if body["messages"][-1]["role"] != "user":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    yield from definition_complaints(body.get("tools", []))
    yield from choice_complaints(body)
    yield from tool_complaints(body["messages"])
    yield from history_complaints(body)
    if sum("cache_control" in block for block in all_blocks(body)) > MOST_CACHE_MARKS:
        yield f"A maximum of {MOST_CACHE_MARKS} blocks with cache_control may be provided."


def system_complaints(system: object) -> Iterator[str]:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        yield "system: Input should be a string or a list"
        return
    for i, block in enumerate(system):
        if not isinstance(block, dict) or block.get("type") != "text":
            yield f"system.{i}.type: Input should be 'text'"
        yield from block_complaints(f"system.{i}", block)


def message_complaints(where: str, message: object) -> Iterator[str]:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        yield f"{where}.role: Input should be 'user' or 'assistant'"
        return
    yield from (f"{where}.{field}: Extra inputs are not permitted" for field in message.keys() - {"role", "content"})
    content = message.get("content")
    if not isinstance(content, str | list) or not content:
        yield f"{where}: all messages must have non-empty content"
        return
    for i, block in enumerate(blocks(message)):
        yield from block_complaints(f"{where}.content.{i}", block)
        if ROLE_OF.get(block["type"], message["role"]) != message["role"]:
            yield f"{where}.content.{i}: `{block['type']}` blocks can only be in `{ROLE_OF[block['type']]}` messages"


def block_complaints(where: str, block: object) -> Iterator[str]:
    if not isinstance(block, dict) or block.get("type") not in BLOCK_FIELDS:
        yield f"{where}.type: Input tag does not match any of the expected tags"
        return
    fields = BLOCK_FIELDS[block["type"]]
    yield from (f"{where}.{block['type']}.{field}: Extra inputs are not permitted" for field in block.keys() - fields)
    if block["type"] == "text" and not str(block.get("text", "")).strip():
        yield "messages: text content blocks must contain non-whitespace text"
    if block["type"] == "tool_use":
        yield from call_complaints(where, block)


def call_complaints(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    for field, pattern in {"id": TOOL_USE_ID, "name": TOOL_NAME}.items():
        if not matches(pattern, block.get(field)):
            yield f"{where}.tool_use.{field}: String should match pattern '^{pattern.pattern}$'"
    if not isinstance(block.get("input"), dict):
        yield f"{where}.tool_use.input: Input should be an object"


def definition_complaints(tools: object) -> Iterator[str]:
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        yield "tools: Input should be a list of objects"
        return
    for i, tool in enumerate(tools):
        yield from (f"tools.{i}.custom.{f}: Extra inputs are not permitted" for f in tool.keys() - TOOL_FIELDS)
        if not matches(TOOL_NAME, tool.get("name")):
            yield f"tools.{i}.custom.name: String should match pattern '^{TOOL_NAME.pattern}$'"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"tools.{i}.custom.input_schema.type: Input should be 'object'"
        if not isinstance(tool.get("description", ""), str):
            yield f"tools.{i}.custom.description: Input should be a valid string"
        if not isinstance(tool.get("eager_input_streaming"), bool | None):
            yield f"tools.{i}.custom.eager_input_streaming: Input should be a valid boolean"
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."


def choice_complaints(body: Mapping[str, Any]) -> Iterator[str]:
    if (choice := body.get("tool_choice")) is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in TOOL_CHOICES:
        yield "tool_choice: Input tag does not match any of the expected tags"
        return
    fields = TOOL_CHOICES[choice["type"]]
    yield from (f"tool_choice.{field}: Extra inputs are not permitted" for field in choice.keys() - fields)
    if not body.get("tools"):
        yield "tool_choice: may only be specified while providing tools"
    elif choice["type"] == "tool" and choice.get("name") not in {tool["name"] for tool in body["tools"]}:
        yield f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"


def tool_complaints(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Each tool_use is answered at the start of the next turn, and each tool_result answers the turn before it."""
    waiting: set[str] = set()
    for i, message in enumerate(messages):
        first = takewhile(lambda block: block["type"] == "tool_result", blocks(message))
        missing = waiting - {block["tool_use_id"] for block in first}
        results = [block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"]
        if missing:
            yield f"messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
        if unexpected := set(results) - waiting:
            yield f"messages.{i}: unexpected `tool_use_id` found in `tool_result` blocks: {unexpected}"
        if len(set(results)) < len(results):
            yield f"messages.{i}: each tool_use must have a single result"
        waiting = {block["id"] for block in blocks(message) if block["type"] == "tool_use"}
    if waiting:
        yield f"messages: `tool_use` ids were found without `tool_result` blocks immediately after: {waiting}"


def history_complaints(body: Mapping[str, Any]) -> Iterator[str]:
    said = [block for message in body["messages"] for block in blocks(message)]
    if not body.get("tools") and any(block["type"] in ROLE_OF for block in said):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"
    called = [block["id"] for block in said if block["type"] == "tool_use"]
    if len(set(called)) < len(called):
        yield "messages: `tool_use` ids must be unique"


def matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and bool(pattern.fullmatch(value))


def blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def all_blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    system = body.get("system", [])
    return [
        *(system if isinstance(system, list) else []),
        *({"type": "tool", **tool} for tool in body.get("tools", [])),
        *(b for message in body["messages"] for b in blocks(message)),
    ]
