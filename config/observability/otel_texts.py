"""What a model was sent and wrote, in the shapes of the conventions. Used only where ``OPENBOOK_OTEL_TEXTS`` is on.

Attributes of spans hold no structures, so each is JSON. Pictures and documents are named by their type, never sent along. Pure.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conversations.providers.base import ModelCall, Payload, TextDelta, ToolCalled

Part = dict[str, Any]

THOUGHTS = ("thinking", "redacted_thinking")


def text_values(payload: Payload, call: ModelCall) -> dict[str, str]:
    """The attributes of a span: instructions, input and output. What the model was thinking is in neither."""
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
    values = {
        "gen_ai.system_instructions": [*parts_of(payload["system"])],
        "gen_ai.input.messages": sent,
        "gen_ai.output.messages": [answer],
    }
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
