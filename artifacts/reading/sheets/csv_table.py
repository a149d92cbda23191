"""CSV of any program: what parts its cells is found out, and a quotation mark that is never closed costs no row."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TextIO

from artifacts.reading.blocks import Block, Text
from artifacts.reading.header_row import has_values
from artifacts.reading.sheets.sheet_table import SheetRow, sheet_table

LONGEST_LINE = 2**20
SAMPLE = 64 * 2**10
SAMPLE_ROWS = 200
LONGEST_FIELD = 2**20
MOST_LINES = 1_000
"""Of one cell; with more its quotation mark is taken to be never closed."""
MOST_OPEN = 100
"""Quotation marks that are never closed; after these none is taken for one."""
MOST_NAMED = 3
DELIMITERS = ",;\t|"
EVEN = 0.8
"""Share of the rows that have as many cells as most, for a delimiter to be one."""
SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?\r?\n?$', re.IGNORECASE)
DECIMAL = re.compile(r"(?<=\d),(?=\d)")
END = "\0end"


def read(file: TextIO, extension: str) -> Iterator[Block]:
    """Rows of a text that was opened with ``newline=""``."""
    csv.field_size_limit(LONGEST_FIELD)
    start = file.read(SAMPLE)
    file.seek(0)
    lines = _lines(file)
    first = next(lines, "")
    if separator := SEPARATOR.match(first):
        dialect = Dialect(separator[1], _escapes(start))
    else:
        lines = chain([first], lines)
        is_tabbed = extension in {"tsv", "tab"} and "\t" in start
        dialect = Dialect("\t" if is_tabbed else find_delimiter(start), _escapes(start))
    records = Records(lines, dialect)
    numbered = enumerate(records, 1)
    comments, rest = _comments(numbered)
    for cells in comments:
        yield Text(f"{dialect.delimiter} ".join(cells).strip("# "))
    rows = (
        SheetRow(number, {at: _shown(cell) for at, cell in enumerate(cells) if cell.strip()}) for number, cells in rest
    )
    yield from sheet_table(rows, column_name=lambda column: f"column {column + 1}")
    if records.open:
        named = ", ".join(map(str, records.open[:MOST_NAMED]))
        more = f" and {len(records.open) - MOST_NAMED:,} more" if len(records.open) > MOST_NAMED else ""
        yield Text(f"(A quotation mark is never closed in row {named}{more}: it was read as an ordinary character.)")


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    escape: str | None
    """What stands before a quotation mark within quotation marks, where it is not doubled."""

    def reader(self, lines: Iterable[str]) -> Iterator[list[str]]:
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            escapechar=self.escape,
            doublequote=self.escape is None,
            skipinitialspace=True,
        )


def _lines(file: TextIO) -> Iterator[str]:
    """With their ends. A line of any length comes in pieces."""
    while line := file.readline(LONGEST_LINE):
        yield line


def _escapes(start: str) -> str | None:
    return "\\" if '\\"' in start and '""' not in start else None


class Records:
    """Rows of cells. ``open`` has the numbers of those in which a quotation mark is never closed."""

    def __init__(self, lines: Iterator[str], dialect: Dialect) -> None:
        self._lines = chain(lines, [END])
        self._dialect = dialect
        self._taken: list[str] = []
        """Lines of the row that is being read."""
        self.open: list[int] = []

    def __iter__(self) -> Iterator[list[str]]:
        number = 0
        reader = self._dialect.reader(self._feed())
        while True:
            self._taken = []
            try:
                cells = next(reader, None)
                is_open = cells is not None and len(self._taken) > 1 and self._taken[-1] == END
            except (csv.Error, _TooLong):
                cells, is_open = [], True
            if cells is None or self._taken == [END]:
                return
            number += 1
            if is_open:
                self.open.append(number)
                line, *again = self._taken
                self._lines = chain(again, self._lines)
                cells = line.rstrip("\r\n").split(self._dialect.delimiter)
                reader = self._dialect.reader(self._feed())
            yield cells

    def _feed(self) -> Iterator[str]:
        size = 0
        while (line := next(self._lines, None)) is not None:
            if not self._taken:
                size = 0
            size += len(line)
            self._taken.append(line)
            if len(self._taken) > MOST_LINES or (size > LONGEST_FIELD and len(self._taken) > 1):
                raise _TooLong
            if len(self.open) > MOST_OPEN:
                line = line.replace('"', "\N{MODIFIER LETTER DOUBLE PRIME}")
            yield line


class _TooLong(Exception):
    """A row goes on for longer than any does."""


def _comments(numbered: Iterator[tuple[int, list[str]]]) -> tuple[list[list[str]], Iterator[tuple[int, list[str]]]]:
    """Lines that begin with ``#`` above a row that names the columns, and the rest. Else they are rows themselves."""
    held: list[tuple[int, list[str]]] = []
    for number, cells in islice(numbered, SAMPLE_ROWS):
        if cells and not cells[0].startswith("#"):
            following = [(number, cells)]
            if has_values(cells):
                return [cells for _, cells in held[:-1]], chain(held[-1:], following, numbered)
            return [cells for _, cells in held], chain(following, numbered)
        if cells:
            held.append((number, cells))
    return [], chain(held, numbered)


def _shown(cell: str) -> str:
    """What a spreadsheet shows: ``="007"`` is how programs keep it from taking a text for a number."""
    return cell[2:-1] if cell.startswith('="') and cell.endswith('"') and len(cell) > 3 else cell


def find_delimiter(start: str) -> str:
    """What divides the first rows most evenly. Commas between digits are those of decimals, where anything else does."""
    rows = {delimiter: _counts(start, delimiter) for delimiter in DELIMITERS}
    even = {delimiter: _evenness(counts) for delimiter, counts in rows.items()}
    others = [delimiter for delimiter in DELIMITERS if delimiter != "," and even[delimiter][0] >= EVEN]
    commas = start.count(",")
    if others and len(DECIMAL.findall(start)) * 2 > commas:
        return max(others, key=lambda delimiter: even[delimiter])
    return max(DELIMITERS, key=lambda delimiter: even[delimiter])


def _counts(start: str, delimiter: str) -> list[int]:
    """Cells of the first rows; the last line may be cut."""
    lines = start.splitlines(keepends=True)
    lines = lines[:-1] if len(lines) > 1 and len(start) >= SAMPLE else lines
    if lines and SEPARATOR.match(lines[0]):
        lines = lines[1:]
    counts: list[int] = []
    try:
        for cells in islice(Dialect(delimiter, _escapes(start)).reader(lines), SAMPLE_ROWS):
            if cells:
                counts.append(len(cells))
    except csv.Error:
        return counts
    return counts


def _evenness(counts: list[int]) -> tuple[float, int]:
    """Share of the rows that have as many cells as most rows of several cells, and how many cells that is."""
    several = Counter(count for count in counts if count > 1)
    if not several:
        return 0.0, 1
    most = max(several, key=lambda count: (several[count] * count, count))
    return several[most] / len(counts), most
