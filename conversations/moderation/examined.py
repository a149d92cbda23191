"""What of a message or of a reply is examined: whatever a person or a model wrote, as one text. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conversations.runtime.text import texts_in

BETWEEN = "\n\n"


def text_of_blocks(blocks: Sequence[Mapping[str, Any]]) -> str:
    """The texts of a turn's blocks, what it shows of its thinking, and every text that it hands to tools."""
    return BETWEEN.join(filter(None, (part.strip() for block in blocks for part in _texts(block))))


def _texts(block: Mapping[str, Any]) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "thinking", "thinking": str(text)}:
            yield text
        case {"type": "tool_use", "input": values}:
            yield from texts_in(values)
