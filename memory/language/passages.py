"""Long texts as passages, cut where a paragraph, a line or a sentence ends. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST, LEAST = 360, 140
"""Characters of a passage: it ends before it has more, and with a paragraph or a line once it has so many."""
SHORT_MOST, SHORT_LEAST = 200, 60
"""The same of a short passage, which is about a sentence."""
TAIL = 60
"""Characters below which the end of a text belongs to the passage before it."""

BREAK = re.compile(r"(?<=[.!?…])[\"'”’»)\]*_]*\s+|(?<=[。！？])[」』”’]*|(?<!\s)\s*\n\s*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """A part of a text, from one character to before another, without white space around it."""

    start: int
    end: int


def passages(text: str, *, whole: int = MOST) -> list[Passage]:
    """The passages of a text in order: all of it but white space between them. One of at most ``whole`` characters is one.

    A sentence or line that is longer than a passage may be is cut between words, or anywhere where there are none.
    """
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if end - begin <= whole:
        return [Passage(start=begin, end=end)] if begin < end else []
    parts = list(_packed(text, list(_units(text, begin, end))))
    if len(parts) > 1 and parts[-1].end - parts[-1].start < TAIL:
        parts[-2:] = [Passage(start=parts[-2].start, end=parts[-1].end)]
    return parts


def short_passages(text: str) -> list[Passage]:
    """The sentences and lines of a text in order, short ones together."""
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip())
    parts: list[Passage] = []
    for unit in _units(text, begin, end) if begin < end else ():
        last = parts[-1] if parts else unit
        if parts and last.end - last.start < SHORT_LEAST and unit.end - last.start <= SHORT_MOST:
            parts[-1] = Passage(start=last.start, end=unit.end)
        else:
            parts.append(unit)
    return parts


def _units(text: str, begin: int, end: int) -> Iterator[Passage]:
    """Sentences and lines, none longer than a passage may be."""
    start = begin
    for match in BREAK.finditer(text, begin, end):
        if match.start() - start > 2:  # the number of a list's item is no sentence
            yield from _cut(text, start, match.start() + len(match[0].rstrip()))
            start = match.end()
    if start < end:
        yield from _cut(text, start, end)


def _cut(text: str, start: int, end: int) -> Iterator[Passage]:
    part = text[start:end]
    start, end = end - len(part.lstrip()), start + len(part.rstrip())
    if start >= end:
        return
    while end - start > MOST:
        space = text.rfind(" ", start + LEAST, start + MOST)
        middle = space if space > 0 else start + MOST
        yield from _cut(text, start, middle)
        start = middle + (space > 0)
    yield Passage(start=start, end=end)


def _packed(text: str, units: list[Passage]) -> Iterator[Passage]:
    start = units[0].start
    for unit, following in zip(units, [*units[1:], None], strict=True):
        if following is None:
            yield Passage(start=start, end=unit.end)
        elif following.end - start > MOST or (unit.end - start >= LEAST and "\n" in text[unit.end : following.start]):
            yield Passage(start=start, end=unit.end)
            start = following.start
