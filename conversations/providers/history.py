"""Tool calls of the history as the Messages API takes them: each id once, and never without definitions. Pure.

A thread may come from elsewhere: there ids were counted anew for each message, or the tools are none of ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

Message = Mapping[str, Any]


def holds_calls(messages: Sequence[Message]) -> bool:
    contents = (message["content"] for message in messages if not isinstance(message["content"], str))
    return any(block["type"] == "tool_use" for content in contents for block in content)


def with_ids_once(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """An id that was used before becomes another, in the call as in the result that follows it."""
    taken: set[str] = set()
    renamed: dict[str, str] = {}
    sent: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant":
            renamed = {block["id"]: free(block["id"], taken) for block in blocks_of(message, "tool_use")}
            taken.update(renamed.values())
        changes = any(old != new for old, new in renamed.items())
        sent.append(
            {**message, "content": [rename(b, renamed) for b in message["content"]]} if changes else {**message}
        )
    return sent


def free(call_id: str, taken: set[str]) -> str:
    names = (call_id if number == 1 else f"{call_id}_{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def rename(block: Mapping[str, Any], renamed: Mapping[str, str]) -> Mapping[str, Any]:
    match block:
        case {"type": "tool_use", "id": str(old)}:
            return {**block, "id": renamed[old]}
        case {"type": "tool_result", "tool_use_id": str(old)}:
            return {**block, "tool_use_id": renamed.get(old, old)}
    return block


def definitions_for(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The least that defines the tools that were called in these messages, none of which may be called again."""
    names = {block["name"] for message in messages for block in blocks_of(message, "tool_use")}
    return [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]


def blocks_of(message: Message, block_type: str) -> Iterator[Mapping[str, Any]]:
    content = message["content"]
    return (block for block in content if not isinstance(content, str) and block.get("type") == block_type)
