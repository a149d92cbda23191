"""A table of a page: cells in their columns, whatever they span, and the names of the columns in one row."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from artifacts.reading.blocks import Block, Text, named_table, table
from artifacts.reading.web.tokens import ByName, whole_number

TABLE_PARTS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th"})
MOST_COLUMNS = 1_000
MOST_SPAN_ROWS = 65_534
MOST_STEPS = 5_000_000
"""Over columns that are taken from above, in one table; further ones are not kept free."""
MOST_HEAD_ROWS = 5


@dataclass(slots=True)
class _Row:
    cells: list[tuple[int, int, str]] = field(default_factory=list)
    """Column, how many it spans, text."""
    is_head: bool = True
    """It stands in the head, or its cells all are names."""
    end: int = 0
    """The column behind the last."""


class HtmlTable:
    """``is_layout``: it holds other tables, so its cells are paragraphs."""

    def __init__(self) -> None:
        self.is_layout = False
        self.has_names = False
        self._rows: list[_Row] = []
        self._taken_until: dict[int, int] = {}
        """By column, the row before which it is taken from above."""
        self._steps = 0
        self._span = (1, 1)
        self._is_in_head = False

    def start_section(self, tag: str) -> None:
        """Nothing spans from one into the next."""
        self._taken_until = {}
        self._is_in_head = tag == "thead"
        self.has_names |= self._is_in_head

    def start_row(self) -> None:
        self._rows.append(_Row(is_head=True))

    def start_cell(self, columns: int, rows: int, *, is_name: bool) -> None:
        if not self._rows:
            self.start_row()
        self._span = min(max(columns, 1), MOST_COLUMNS), MOST_SPAN_ROWS if rows == 0 else min(rows, MOST_SPAN_ROWS)
        self._rows[-1].is_head &= is_name or self._is_in_head
        self.has_names |= is_name

    def end_cell(self, text: str) -> None:
        if not self._rows:
            return
        row, number = self._rows[-1], len(self._rows)
        column = row.end
        while self._taken_until.get(column, 0) > number and self._steps < MOST_STEPS:
            column += 1
            self._steps += 1
        if column >= MOST_COLUMNS:
            row.cells.append((MOST_COLUMNS, 1, text))
            return
        columns, rows = self._span
        columns = min(columns, MOST_COLUMNS - column)
        row.end = column + columns
        if text.strip():
            row.cells.append((column, columns, text))
        if rows > 1 and self._steps < MOST_STEPS:
            self._steps += columns
            self._taken_until.update(dict.fromkeys(range(column, row.end), number + rows))

    def texts(self) -> Iterator[str]:
        """Of all cells; the table is empty then."""
        rows, self._rows, self._taken_until = self._rows, [], {}
        for row in rows:
            yield from (text for _, _, text in row.cells)

    def line(self) -> str:
        """As it stands within a cell of another table."""
        return "; ".join(", ".join(text for _, _, text in row.cells) for row in self._rows if row.cells)

    def blocks(self) -> Iterator[Block]:
        """Titles above the columns come first; a table of one column is paragraphs."""
        width = max((row.end for row in self._rows), default=0)
        rows = [(number, row) for number, row in enumerate(self._rows, 1) if row.cells]
        if width < 2 or all(len(row.cells) == 1 and row.cells[0][0] == 0 for _, row in rows):
            yield from (Text(text) for _, row in rows for _, _, text in row.cells)
            return
        while len(rows) > 1 and _is_title(rows[0][1], rows[1][1]):
            yield Text(rows.pop(0)[1].cells[0][2])
        heads = 0
        while heads < min(len(rows) - 1, MOST_HEAD_ROWS) and rows[heads][1].is_head:
            heads += 1
        if heads:
            names = _names((row for _, row in rows[:heads]), min(width, MOST_COLUMNS))
            yield named_table(names, rows[0][0], _lines(rows[heads:]))
        else:
            yield from table(_lines(rows))


class OpenTables:
    """The tables that are open, one within the other, and what stands in their open cells."""

    def __init__(self) -> None:
        self._tables: list[HtmlTable] = []
        self._cells: list[list[str]] = []
        """Of each table whose cell is open, the lines of the cell."""

    @property
    def is_in_cell(self) -> bool:
        return bool(self._cells)

    def add(self, line: str) -> None:
        """To the open cell."""
        self._cells[-1].append(line)

    def start(self, tag: str, attributes: ByName) -> list[Block]:
        """What is ready by that: the cells of a table that turns out to be for layout only."""
        if tag == "table":
            ready = self._laid_out() if self._cells and not self._tables[-1].has_names else []
            self._tables.append(HtmlTable())
            return ready
        if self._tables and tag == "tr":
            self._tables[-1].start_row()
        elif self._tables and tag in {"td", "th"}:
            columns, rows = (whole_number(attributes.get(name)) for name in ("colspan", "rowspan"))
            self._tables[-1].start_cell(
                1 if columns is None else columns, 1 if rows is None else rows, is_name=tag == "th"
            )
            if not self._tables[-1].is_layout:
                self._cells.append([])
        elif self._tables:
            self._tables[-1].start_section(tag)
        return []

    def end(self, tag: str) -> list[Block]:
        """What is ready by that: a table, unless it is a part of a cell."""
        if tag in {"td", "th"} and self._tables and not self._tables[-1].is_layout and self._cells:
            self._tables[-1].end_cell(" ".join(self._cells.pop()))
        if tag != "table" or not self._tables:
            return []
        ended = self._tables.pop()
        if not self._cells:
            return list(ended.blocks())
        self._cells[-1].append(ended.line())
        return []

    def _laid_out(self) -> list[Block]:
        outer = self._tables[-1]
        outer.is_layout = True
        return [Text(text) for text in (*outer.texts(), *self._cells.pop()) if text.strip()]


def _is_title(row: _Row, following: _Row) -> bool:
    """One cell over all columns, or alone above a row of several."""
    [(column, columns, _), *others] = row.cells
    return not others and column == 0 and (columns >= following.end or len(following.cells) > 1)


def _lines(rows: list[tuple[int, _Row]]) -> Iterator[tuple[int, list[str]]]:
    for number, row in rows:
        cells = [""] * (max(column for column, _, _ in row.cells) + 1)
        for column, _, text in row.cells:
            cells[column] = f"{cells[column]} {text}".lstrip()
        yield number, cells


def _names(heads: Iterable[_Row], width: int) -> list[str]:
    """Of columns under names that span several: each has all that stands above it."""
    names = [""] * (width + 1)
    for head in heads:
        for column, columns, text in head.cells:
            for each in range(column, min(column + columns, width + 1)):
                names[each] = f"{names[each]} {text}".lstrip()
    return names if names[-1] else names[:-1]
