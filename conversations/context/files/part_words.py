"""What parts of a file are called, in words. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from conversations.context.files.excerpts import write_ranges
from conversations.context.files.unread import ALL_READ
from conversations.context.record.snapshot_shapes import UnreadAnswer

PAGES = {"pdf": "page", "slides": "slide"}
"""What the parts of a kind of file are called by their numbers."""
LABELS = 3
"""Of parts that are named; of more it is said how many there are."""


class PartName(NamedTuple):
    page: int | None
    label: str


def part_words(
    kind: str, numbers: Sequence[int], names: Mapping[int, PartName], *, parts: int, unread: Sequence[UnreadAnswer] = ()
) -> str:
    """Such as ``pages 3, 7–9``; empty where it is all of the file's ``parts`` and nothing is ``unread``. ``names`` are those
    of pages, or of as few parts as are named."""
    if len(numbers) == parts:
        return ALL_READ if unread else ""
    named = [names[number] for number in numbers if number in names]
    if noun := PAGES.get(kind):
        pages = sorted({name.page for name in named if name.page})
        return f"{noun}{'s' if len(pages) > 1 else ''} {write_ranges(pages).replace('-', '–')}" if pages else ""
    if len(numbers) > LABELS or len(named) < len(numbers):
        return f"{len(numbers):,} of {parts:,} part{'' if parts == 1 else 's'}"
    return ", ".join(name.label for name in named)
