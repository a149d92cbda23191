"""Rows of a sheet, of which most cells are empty, as a table of the columns that hold something."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

from artifacts.reading.blocks import LOOKED_AT, Block, Cells, LeftOut, Lines, Text, Why, table

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


def or_empty(blocks: Iterable[Block]) -> Iterator[Block]:
    """What stands on a sheet, or that it is empty."""
    is_empty = True
    for block in blocks:
        is_empty &= isinstance(block, LeftOut)
        yield block
    if is_empty:
        yield Text("(This sheet is empty.)")


def hidden_rows(count: int) -> Iterator[Text]:
    if count:
        yield Text(f"({count} of these rows {'is' if count == 1 else 'are'} hidden in the sheet.)")


def damaged_sheet() -> Iterator[Block]:
    yield Text("(The rest of this sheet is damaged and could not be read.)")
    yield LeftOut(Why.DAMAGED, "sheet")


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
