"""What readers yield, in the order of the file: pieces of text, and where they stand."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice, zip_longest

from artifacts.reading.header_row import layout

Cells = Sequence[str]


@dataclass(frozen=True)
class Title:
    """Of the file; comes first. ``total``: of its pages, slides or sheets."""

    text: str = ""
    total: int | None = None
    thumbnail: str | None = None
    """Its name in the folder, where the whole file is a picture."""


@dataclass(frozen=True)
class Place:
    """From here on all stands on this page, slide or sheet, until the next one."""

    label: str
    page: int | None = None
    heading: str = ""


@dataclass(frozen=True)
class Heading:
    """Begins a section, unless it stands in a place that is a part anyway. ``level`` from 1."""

    level: int
    text: str
    markdown: str = ""
    """As it stands in the file, if that was Markdown."""


@dataclass(frozen=True)
class Text:
    """A paragraph, a list item, a block of code: Markdown."""

    markdown: str
    is_item: bool = False
    """Of a list: the next one follows without an empty line."""


@dataclass(frozen=True)
class Lines:
    """Numbered lines, such as the rows of a sheet; what opens and closes them stands in every part."""

    numbered: Iterable[tuple[int, str]]
    unit: str
    """``rows`` or ``lines``."""
    opening: str = ""
    closing: str = ""


@dataclass(frozen=True)
class Picture:
    """A PNG or JPEG in the folder; the sides in pixels."""

    name: str
    width: int
    height: int


class Why(StrEnum):
    """Why something that the file holds is not among its parts."""

    HIDDEN = "hidden"
    """Nobody sees it who opens the file."""
    DAMAGED = "damaged"
    """It can't be read although files of this kind are."""
    NOT_READ = "not_read"
    """Of a kind that is not read: a chart, a film, a font without letters."""


@dataclass(frozen=True)
class LeftOut:
    """Something that is not among the parts. Readers say it where it would stand; it makes no part."""

    why: Why
    what: str
    """A noun that takes an s for several: ``hidden paragraph``, ``chart``, ``page``."""
    count: int = 1


Block = Title | Place | Heading | Text | Lines | Picture | LeftOut


def unread(what: str, about: str = "", *, why: Why = Why.NOT_READ) -> Iterator[Text | LeftOut]:
    """A word in its place, with what is known of it, and the entry of the account."""
    words = "not read" if why is Why.NOT_READ else "which can't be read"
    yield Text(f"({what}, {words}{f': {about}' if about else ''})")
    yield LeftOut(why, what)


def table(rows: Iterable[tuple[int, Cells]], *, marks: Sequence[str] = ()) -> Iterator[Text | Lines]:
    """A Markdown table of numbered rows, below what stands above its header. Rows without anything are left out.

    ``marks``: what is said of each column beside its name, such as ``(hidden)``.
    """
    filled = ((number, cells) for number, all_cells in rows if (cells := _filled(all_cells)))
    first = list(islice(filled, LOOKED_AT))
    if not first:
        return
    found = layout([cells for _, cells in first])
    for _, cells in first[: found.above]:
        yield Text(" | ".join(" ".join(cell.split()) for cell in cells if cell.strip()))
    header = [*found.header]
    header += [""] * (max(len(cells) for _, cells in first[found.above :]) - len(header))
    header = [f"{name} {mark}".strip() for name, mark in zip_longest(header, marks[: len(header)], fillvalue="")]
    yield _under(header, first[found.above][0], chain(first[found.body :], filled))


def named_table(header: Cells, number: int, rows: Iterable[tuple[int, Cells]]) -> Lines:
    """A table of which the header is known, with its number."""
    filled = ((number, cells) for number, all_cells in rows if (cells := _filled(all_cells)))
    first = list(islice(filled, LOOKED_AT))
    width = max((len(cells) for _, cells in first), default=0)
    return _under([*header, *[""] * (width - len(header))], number, chain(first, filled))


def _under(header: Cells, number: int, rows: Iterable[tuple[int, Cells]]) -> Lines:
    opening = f"{row(header)}\n|{' --- |' * len(header)}"
    if len(opening) > LONGEST_HEADER:
        rows, opening = chain([(number, header)], rows) if any(header) else rows, ""
    return Lines(((number, row(cells)) for number, cells in rows), "rows", opening)


LOOKED_AT = 50
"""Rows that say how many columns there are, and which of them names these."""
LONGEST_HEADER = 1_500
"""Characters; a longer one is not repeated."""


def row(cells: Cells) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def _filled(cells: Cells) -> Cells:
    last = next((at for at in range(len(cells), 0, -1) if cells[at - 1].strip()), 0)
    return cells[:last]
