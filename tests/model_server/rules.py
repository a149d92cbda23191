"""The Messages API's own rules for a request, so that the local server refuses what the API would refuse: pure.

First the shape, which the SDK's types tell, then what they can't say, then what the model itself refuses.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from tests.model_server.families import family_complaints
from tests.model_server.schema import schema_complaints

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
ROLE_OF = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
    "image": "user",
    "document": "user",
}
NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
MOST_CACHE_MARKS = 4


def complaint(body: object, *, beta: bool = False) -> str | None:
    """What the API would say against this request, or None. ``beta``: it asks for a beta feature."""
    return next(complaints(body, beta=beta), None)


def complaints(body: Any, *, beta: bool = False) -> Iterator[str]:
    yield from schema_complaints(body, beta=beta)
    if not body["model"]:
        yield "model: String should have at least 1 character"
    if body["max_tokens"] < 0:
        yield "max_tokens: Input should be greater than or equal to 0"
    if not body["messages"]:
        yield "messages: at least one message is required"
    for i, block in enumerate(system_blocks(body)):
        yield from block_complaints(f"system.{i}", block)
    for i, message in enumerate(body["messages"]):
        yield from message_complaints(f"messages.{i}", message)
    if body["messages"][0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    if body["messages"][-1]["role"] == "assistant":
        yield NO_PREFILL
    yield from definition_complaints(body.get("tools", []))
    yield from choice_complaints(body)
    yield from tool_complaints(body["messages"])
    yield from history_complaints(body)
    yield from mark_complaints(body)
    yield from citation_complaints(body)
    yield from family_complaints(body)


def message_complaints(where: str, message: Mapping[str, Any]) -> Iterator[str]:
    if not message["content"]:
        yield f"{where}: all messages must have non-empty content"
    for i, block in enumerate(blocks(message)):
        yield from block_complaints(f"{where}.content.{i}", block)
        if ROLE_OF.get(block["type"], message["role"]) != message["role"]:
            yield f"{where}.content.{i}: `{block['type']}` blocks can only be in `{ROLE_OF[block['type']]}` messages"


def block_complaints(where: str, block: Mapping[str, Any]) -> Iterator[str]:
    if block["type"] == "text" and not block["text"].strip():
        yield "messages: text content blocks must contain non-whitespace text"
    if block["type"] == "tool_use":
        for field, pattern in {"id": TOOL_USE_ID, "name": TOOL_NAME}.items():
            if not pattern.fullmatch(block[field]):
                yield f"{where}.tool_use.{field}: String should match pattern '^{pattern.pattern}$'"


def definition_complaints(tools: list[dict[str, Any]]) -> Iterator[str]:
    for i, tool in enumerate(tools):
        if not TOOL_NAME.fullmatch(tool["name"]):
            yield f"tools.{i}.custom.name: String should match pattern '^{TOOL_NAME.pattern}$'"
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."


def choice_complaints(body: Mapping[str, Any]) -> Iterator[str]:
    choice = body.get("tool_choice")
    if choice and not body.get("tools"):
        yield "tool_choice: may only be specified while providing tools"
    elif choice and choice["type"] == "tool" and choice["name"] not in {tool["name"] for tool in body["tools"]}:
        yield f"tool_choice: Tool '{choice['name']}' not found in provided tools"


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
    if not body.get("tools") and any(block["type"] in ("tool_use", "tool_result") for block in said):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools"
    called = [block["id"] for block in said if block["type"] == "tool_use"]
    if len(set(called)) < len(called):
        yield "messages: `tool_use` ids must be unique"


def mark_complaints(body: Mapping[str, Any]) -> Iterator[str]:
    marks = [block["cache_control"] for block in all_blocks(body) if block.get("cache_control")]
    if len(marks) > MOST_CACHE_MARKS:
        yield f"A maximum of {MOST_CACHE_MARKS} blocks with cache_control may be provided. Found {len(marks)}."
    lives = [mark.get("ttl", "5m") for mark in marks]
    if "1h" in lives[lives.index("5m") :] if "5m" in lives else False:
        yield "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."


def citation_complaints(body: Mapping[str, Any]) -> Iterator[str]:
    cited = {bool((document.get("citations") or {}).get("enabled")) for document in documents(body)}
    if len(cited) > 1:
        yield "messages: citations must be enabled on all or none of the documents within a request."
    if True in cited and (body.get("output_config") or {}).get("format"):
        yield "output_config.format: structured outputs are not supported together with citations."


def documents(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All of a request, in the order in which citations count them."""
    said = [block for message in body["messages"] for block in blocks(message)]
    nested = [[block, *parts_of(block)] for block in said]
    return [block for group in nested for block in group if block["type"] == "document"]


def parts_of(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = block.get("content")
    return content if block["type"] == "tool_result" and isinstance(content, list) else []


def blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def system_blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    system = body.get("system") or []
    return [{"type": "text", "text": system}] if isinstance(system, str) else system


def all_blocks(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """In the order in which they stand before the model."""
    return [
        *({"type": "tool", **tool} for tool in body.get("tools", [])),
        *system_blocks(body),
        *(block for message in body["messages"] for block in blocks(message)),
    ]
