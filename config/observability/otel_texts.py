"""What a model was sent and wrote, in the shapes of the conventions. Used only where ``OPENBOOK_OTEL_TEXTS`` is on.

Pictures and documents are named by their type, never sent along. Pure.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conversations.providers.base import ModelCall, Payload, TextDelta, ToolCalled

Part = dict[str, Any]

THOUGHTS = ("thinking", "redacted_thinking")


def text_values(payload: Payload, call: ModelCall) -> dict[str, list[Part]]:
    """Instructions, tools, input and output. What the model was thinking is in neither."""
    sent = [{"role": each["role"], "parts": [*parts_of(each["content"])]} for each in payload["messages"]]
    words = "".join(each.text for each in call.answer if isinstance(each, TextDelta))
    calls = [
        {"type": "tool_call", "id": each.id, "name": each.name, "arguments": each.input}
        for each in call.answer
        if isinstance(each, ToolCalled)
    ]
    answer = {
        "role": "assistant",
        "parts": [*(parts_of(words) if words else ()), *calls],
        "finish_reason": (call.finished.stop_reason if call.finished else None) or "error",
    }
    tools = [{"type": "function", "name": tool["name"]} for tool in payload.get("tools") or () if "name" in tool]
    return {
        "gen_ai.system_instructions": [*parts_of(payload["system"])],
        **({"gen_ai.tool.definitions": tools} if tools else {}),
        "gen_ai.input.messages": sent,
        "gen_ai.output.messages": [answer],
    }


def as_json(values: Mapping[str, list[Part]]) -> dict[str, str]:
    """For a span, whose attributes hold no structures."""
    return {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}


def parts_of(content: str | Sequence[Mapping[str, Any]]) -> Iterator[Part]:
    """The parts of a message, by the conventions' names."""
    if isinstance(content, str):
        yield {"type": "text", "content": content}
        return
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                yield {"type": "text", "content": text}
            case {"type": "tool_use", "id": id, "name": name}:
                yield {"type": "tool_call", "id": id, "name": name, "arguments": block.get("input")}
            case {"type": "tool_result", "tool_use_id": id}:
                response = block.get("content") or ""
                yield {"type": "tool_call_response", "id": id, "response": [*parts_of(response)]}
            case {"type": str(kind)} if kind not in THOUGHTS:
                yield {"type": kind}
