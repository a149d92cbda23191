"""Tool calls of the history as the Messages API takes them: each id once, and never without definitions. Pure.

A thread may come from elsewhere: there ids were counted anew for each message, or the tools are none of ours.
"""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

Content = str | Sequence[Mapping[str, Any]]
Message = Mapping[str, Any]


def blocks_of(content: Content, block_type: str) -> list[Mapping[str, Any]]:
    return [] if isinstance(content, str) else [block for block in content if block.get("type") == block_type]


def types_in(messages: Sequence[Message]) -> set[str]:
    """Of all blocks that stand in a message by themselves."""
    return {
        block.get("type", "")
        for message in messages
        if not isinstance(message["content"], str)
        for block in message["content"]
    }


def calls_of(messages: Sequence[Message]) -> list[Mapping[str, Any]]:
    return [block for message in messages for block in blocks_of(message["content"], "tool_use")]


def with_ids_once(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """An id that was used before becomes another, in the call as in the result that follows it."""
    taken: set[str] = set()
    renamed: dict[str, str] = {}
    sent: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant":
            renamed = {block["id"]: free(block["id"], taken) for block in calls_of([message])}
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
    names = {block["name"] for block in calls_of(messages)}
    return [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]
