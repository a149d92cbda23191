"""A whole conversation as one text, for a program that takes nothing else (P2): pure but for a warning in the log."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from conversations.providers.history import Content, blocks_of

LABELS = {"user": "Human:", "assistant": "Assistant:"}
SEPARATOR = "\n\n---\n\n"
SEARCHED = "[searched documents]"
ACTED = "[performed an action]"
DOCUMENTS = frozenset({"document", "search_result"})
NAMES = ("filename", "title", "name")

logger = logging.getLogger("openbook.providers")


def prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """The turns under their labels, oldest first. Turns of no speaker, and turns that nothing is left of, are passed over."""
    turns = turns_of(messages)
    if in_a_row := sum(before == after for (before, _), (after, _) in pairwise(turns)):
        logger.warning("turns of one role follow one another", extra={"turns": in_a_row})
    return SEPARATOR.join(f"{LABELS[role]} {text}" for role, text in turns)


def turns_of(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Role and text of each turn. What one reply says before and after its calls of tools is one turn."""
    turns: list[tuple[str, str]] = []
    after_results = False
    for message in messages:
        role, text = message["role"], text_of(message["content"])
        if text and role == "assistant" and after_results and turns and turns[-1][0] == role:
            turns[-1] = (role, f"{turns[-1][1]}\n\n{text}")
        elif text and role in LABELS:
            turns.append((role, text))
        after_results = role == "user" and not text and bool(blocks_of(message["content"], "tool_result"))
    return turns


def text_of(content: Content) -> str:
    """What was said in a turn, with short notes for what can't be said in text. Nothing where nothing but calls is left."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    kept = [(block["type"], note) for block in blocks for note in notes(block) if note]
    return "" if {kind for kind, _ in kept} == {"tool_use"} else "\n\n".join(note for _, note in kept)


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
