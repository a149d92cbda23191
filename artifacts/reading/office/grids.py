"""Tables of documents and slides, whose cells take several columns. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from artifacts.reading.blocks import Block, Text, table

MOST_COLUMNS = 64
"""That one cell takes or stands for; sheets of all columns are made so."""


@dataclass(frozen=True)
class Cell:
    text: str
    span: int = 1
    """Columns."""


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell]
    is_header: bool = False
    """It is repeated on every page."""


def columns(number: str) -> int:
    """Of an attribute that says how many columns; 1 where it says nothing sensible."""
    return max(1, min(int(number), MOST_COLUMNS)) if number.isdecimal() and len(number) < 10 else 1


def grid(rows: Sequence[Row]) -> Iterator[Block]:
    """A table with an empty cell for each further column that a cell takes. A title above it is a text of its own, and of
    several rows of headers each column is given all its words."""
    width = max((sum(cell.span for cell in row.cells) for row in rows), default=0)
    at = 0
    while at < len(rows) - 1 and _is_title(rows[at], rows[at + 1], width):
        yield Text(" ".join(cell.text for cell in rows[at].cells).strip())
        at += 1
    headers = 0
    while at + headers < len(rows) and rows[at + headers].is_header:
        headers += 1
    numbered = [(number, _texts(row)) for number, row in enumerate(rows[at:], at + 1)]
    if 1 < headers < len(numbered):
        numbered[:headers] = [(numbered[headers - 1][0], _joined(rows[at : at + headers], width))]
    yield from table(numbered)


def _is_title(row: Row, following: Row, width: int) -> bool:
    """One text over all columns, above a row of several cells."""
    filled = [cell for cell in row.cells if cell.text.strip()]
    is_wide = len(filled) == 1 and filled[0].span == width > 1
    return is_wide and sum(bool(cell.text.strip()) for cell in following.cells) > 1


def _texts(row: Row) -> list[str]:
    return [text for cell in row.cells for text in (cell.text, *[""] * (cell.span - 1))]


def _joined(rows: Sequence[Row], width: int) -> list[str]:
    filled = [[cell.text.strip() for cell in row.cells for _ in range(cell.span)] for row in rows]
    columns = ([texts[at] for texts in filled if at < len(texts) and texts[at]] for at in range(width))
    return [" ".join(dict.fromkeys(texts)) for texts in columns]
