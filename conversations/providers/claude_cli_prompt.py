"""A whole conversation as one text, for a program that takes nothing else (P2): pure but for a warning in the log."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

LABELS = {"user": "Human:", "assistant": "Assistant:"}
SEPARATOR = "\n\n---\n\n"
SEARCHED = "[searched documents]"
ACTED = "[performed an action]"
DOCUMENTS = frozenset({"document", "search_result"})
NAMES = ("filename", "title", "name")

logger = logging.getLogger("openbook.providers")


def prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """The turns under their labels, oldest first. Turns of no speaker, and turns that nothing is left of, are passed over."""
    turns = [(turn["role"], said) for turn in messages if turn["role"] in LABELS and (said := text_of(turn["content"]))]
    if in_a_row := sum(before == after for (before, _), (after, _) in pairwise(turns)):
        logger.warning("turns of one role follow one another", extra={"turns": in_a_row})
    return SEPARATOR.join(f"{LABELS[role]} {said}" for role, said in turns)


def text_of(content: str | Sequence[Mapping[str, Any]]) -> str:
    """What was said in a turn, with short notes for what can't be said in text."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return "\n\n".join(note for block in blocks for note in notes(block) if note)


def notes(block: Mapping[str, Any]) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            yield text if text.strip() else ""
        case {"type": "tool_use"}:
            yield SEARCHED if "search" in str(block.get("name")).lower() else ACTED
        case {"type": "tool_result", "content": list(parts)}:
            yield from (reference(part) for part in parts if isinstance(part, dict) and part.get("type") in DOCUMENTS)
        case {"type": "image"}:
            yield "[image]"
        case {"type": kind} if kind in DOCUMENTS:
            yield reference(block)


def reference(document: Mapping[str, Any]) -> str:
    source = document.get("source")
    places = [document, source] if isinstance(source, dict) else [document]
    named = (place[name] for place in places for name in NAMES if isinstance(place.get(name), str))
    return f"[referenced: {next(filter(None, named), 'document')}]"
