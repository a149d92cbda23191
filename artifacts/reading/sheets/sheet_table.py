"""Rows of a sheet, of which most cells are empty, as a table of the columns that hold something."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from artifacts.reading.blocks import LOOKED_AT, Cells, Lines, Text, table

HIDDEN = "(hidden)"


@dataclass(frozen=True)
class SheetRow:
    number: int
    """From 1, as the program shows it."""
    cells: Mapping[int, str]
    """What stands in the columns, from 0, that hold something."""
    is_hidden: bool = False


def sheet_table(
    rows: Iterable[SheetRow],
    *,
    hidden_columns: Collection[int] = (),
    column_name: Callable[[int], str],
) -> Iterator[Text | Lines]:
    """A table without the columns that are empty in the first rows. What stands further down in one of these is given at
    the end of its row, with the column's name. ``hidden_columns`` is looked at once the first rows have been read.
    """
    filled = (row for row in rows if row.cells)
    first = list(islice(filled, LOOKED_AT))
    columns = sorted({column for row in first for column in row.cells})
    places = {column: place for place, column in enumerate(columns)}
    marks = [HIDDEN if column in hidden_columns else "" for column in columns]
    numbered = ((row.number, _cells(row, places, column_name)) for row in chain(first, filled))
    yield from table(numbered, marks=marks)


def _cells(row: SheetRow, places: Mapping[int, int], column_name: Callable[[int], str]) -> Cells:
    cells = [""] * len(places)
    for column, text in sorted(row.cells.items()):
        if (place := places.get(column)) is not None:
            cells[place] = text
        else:
            cells.append(f"{column_name(column)}: {text}")
    if row.is_hidden:
        at = next((at for at, cell in enumerate(cells) if cell), 0)
        cells[at] = f"{HIDDEN} {cells[at]}"
    return cells
