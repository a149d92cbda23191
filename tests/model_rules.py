"""The Messages API's own rules for a request, so that the local server refuses what the API would refuse: pure."""

from collections.abc import Iterator, Mapping
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
    yield from tool_complaints(body["messages"])
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


def block_complaints(where: str, block: object) -> Iterator[str]:
    if not isinstance(block, dict) or block.get("type") not in BLOCK_FIELDS:
        yield f"{where}.type: Input tag does not match any of the expected tags"
        return
    fields = BLOCK_FIELDS[block["type"]]
    yield from (f"{where}.{block['type']}.{field}: Extra inputs are not permitted" for field in block.keys() - fields)
    if block["type"] == "text" and not str(block.get("text", "")).strip():
        yield "messages: text content blocks must contain non-whitespace text"


def tool_complaints(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Each tool_use is answered at the start of the next turn, and each tool_result answers the turn before it."""
    waiting: set[str] = set()
    for i, message in enumerate(messages):
        results = {block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"}
        if missing := waiting - results:
            yield f"messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
        if unexpected := results - waiting:
            yield f"messages.{i}: unexpected `tool_use_id` found in `tool_result` blocks: {unexpected}"
        waiting = {block["id"] for block in blocks(message) if block["type"] == "tool_use"}
    if waiting:
        yield f"messages: `tool_use` ids were found without `tool_result` blocks immediately after: {waiting}"


def blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def all_blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    system = body.get("system", [])
    return [
        *(system if isinstance(system, list) else []),
        *(b for message in body["messages"] for b in blocks(message)),
    ]
