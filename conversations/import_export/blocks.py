"""The content of an imported turn: content blocks of the Messages API, kept as they are. Pure."""

import json
from collections.abc import Iterable
from typing import Any

from conversations.import_export.values import MOST_CHARS, Fields, plain, refuse, refuse_length
from conversations.models import text_blocks
from conversations.runtime.text import clean

Block = dict[str, Any]
REQUIRED = {"tool_use": ("id", "name"), "tool_result": ("tool_use_id",)}
"""The texts that a block must have, by its type."""


def blocks_of(content: Any, place: str) -> list[Block]:
    """A text or a list of blocks as clean blocks; texts without a word are left out, an empty turn is refused."""
    if isinstance(content, str):
        blocks = text_blocks(clean(content))
    elif isinstance(content, list):
        blocks = [_block(each, f"{place}[{index}]") for index, each in enumerate(content)]
    else:
        refuse(place, "is missing." if content is None else "must be a text or a list of content blocks.")
    kept = [block for block in blocks if not _is_blank(block)]
    if not kept:
        refuse(place, "is empty.")
    size = size_of(kept)
    if size > MOST_CHARS:
        refuse_length(place, size, MOST_CHARS)
    return kept


def _block(value: Any, place: str) -> Block:
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        refuse(place, "must be a content block: an object with a `type`.")
    block: Block = plain(value, place)
    fields = Fields(block, place)
    # It belongs to a request, not to what was said, and a request with more than four of them is refused.
    block.pop("cache_control", None)
    if block["type"] == "text" or "text" in block:
        fields.text("text")
    for name in REQUIRED.get(block["type"], ()):
        if not fields.text(name):
            fields.refuse(name, "is empty.")
    if block["type"] == "tool_use":
        Fields.of(block.get("input"), fields.at("input"))
    if block["type"] == "tool_result":
        if isinstance(block.get("content"), list):
            inner = enumerate(block["content"])
            block["content"] = [_block(each, f"{place}.content[{index}]") for index, each in inner]
        elif block.get("content") is not None:
            fields.text("content")
    return block


def _is_blank(block: Block) -> bool:
    return block["type"] == "text" and not block["text"].strip()


def size_of(blocks: Iterable[Block]) -> int:
    """In characters."""
    return sum(map(_size, blocks))


def _size(block: Block) -> int:
    return len(block["text"]) if block["type"] == "text" else len(json.dumps(block, ensure_ascii=False))
