"""Tables as an Excel workbook: a sheet each, numbers and days as such, and no cell that is a formula."""

import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from artifacts.exporting import ExportProblem
from artifacts.exporting.blocks import runs_right_to_left
from artifacts.exporting.cells import Column, Value, read, read_columns
from artifacts.exporting.tables import NamedTable, Row

MOST_ROWS, MOST_COLUMNS, MOST_CELL_CHARS = 1_048_576, 16_384, 32_767
"""Of a sheet and a cell, as Excel has them."""
MOST_LINKS, LONGEST_LINK = 65_530, 2_079
LONGEST_NAME = 31
FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f]+")
NARROWEST, WIDEST = 6, 60
"""Of columns, in digits."""
MEASURED_ROWS = 1_000
FORMULA_SIGNS = tuple("=+-@")


def write(tables: Sequence[NamedTable], *, title: str) -> bytes:
    """Raises ``ExportProblem`` where Excel could not hold it."""
    for table in tables:
        _check(table)
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"constant_memory": True}) as workbook:
        workbook.set_properties({"title": title[:255]})
        formats = _Formats(workbook)
        names = [title] if len(tables) == 1 else [table.name or title for table in tables]
        for table, name in zip(tables, sheet_names(names), strict=True):
            _fill(workbook.add_worksheet(name), table, formats)
    return file.getvalue()


def sheet_names(wanted: Iterable[str]) -> list[str]:
    """As Excel takes them: of 31 characters at most, without some signs, no two alike in any case."""
    taken: set[str] = {"history"}  # Excel's own
    return [_sheet_name(name, taken) for name in wanted]


def _sheet_name(wanted: str, taken: set[str]) -> str:
    plain = re.sub(r"\s+", " ", FORBIDDEN.sub(" ", wanted)).strip(" '") or "Sheet"
    for number in count(1):
        ending = f" ({number})" if number > 1 else ""
        name = _cut(plain, LONGEST_NAME - len(ending)).rstrip(" '") + ending
        if name.casefold() not in taken:
            break
    taken.add(name.casefold())
    return name


def _cut(text: str, most: int) -> str:
    """Excel counts in UTF-16, where an emoji is two."""
    return text.encode("utf-16-le")[: 2 * most].decode("utf-16-le", errors="ignore")


def _check(table: NamedTable) -> None:
    if len(table.rows) > MOST_ROWS or len(table.rows[0]) > MOST_COLUMNS:
        raise ExportProblem(
            "export_too_large",
            f"The table “{table.name}” has {len(table.rows):,} rows and {len(table.rows[0]):,} columns; Excel takes "
            f"{MOST_ROWS:,} and {MOST_COLUMNS:,}. Export it as CSV.",
        )
    longest = max(len(cell.text) for row in table.rows for cell in row)
    if longest > MOST_CELL_CHARS:
        raise ExportProblem(
            "export_too_large",
            f"A cell of the table “{table.name}” has {longest:,} characters; Excel takes {MOST_CELL_CHARS:,}. "
            "Export it as CSV.",
        )


class _Formats:
    """The looks of cells, each made once for a workbook."""

    def __init__(self, workbook: xlsxwriter.Workbook) -> None:
        self._made = cache(lambda items: workbook.add_format(dict(items)))

    def of(self, **look: Any) -> Format:
        return self._made(frozenset((name, value) for name, value in look.items() if value))


def _fill(sheet: Worksheet, table: NamedTable, formats: _Formats) -> None:
    head, *rows = table.rows
    columns = read_columns([[cell.text for cell in row] for row in rows]) if rows else [Column()] * len(head)
    aligned = table.aligned or ("",) * len(head)
    for index, width in enumerate(_widths(table.rows)):
        sheet.set_column(index, index, width)
    sheet.freeze_panes(1, 0)
    sheet.repeat_rows(0)
    if runs_right_to_left(" ".join(cell.text for row in table.rows[:MEASURED_ROWS] for cell in row)):
        sheet.right_to_left()
    for index, (cell, side) in enumerate(zip(head, aligned, strict=True)):
        sheet.write_string(
            0, index, cell.text, formats.of(bold=True, bottom=1, text_wrap=True, valign="top", align=side)
        )
    links = iter(range(MOST_LINKS))
    for number, row in enumerate(rows, 1):
        for index, cell in enumerate(row):
            side = aligned[index]
            if cell.href and len(cell.href) <= LONGEST_LINK and next(links, None) is not None:
                look = formats.of(font_color="#0563C1", underline=1, valign="top", align=side)
                sheet.write_url(number, index, cell.href, look, cell.text)
            else:
                _write(sheet, number, index, read(cell.text, columns[index]), formats, side)


def _write(sheet: Worksheet, row: int, column: int, value: Value, formats: _Formats, side: str) -> None:
    look = {"num_format": value.format, "valign": "top", "align": side}
    match value.value:
        case "":
            return
        case str() as text:
            # Else it would be a formula as soon as somebody edits the cell.
            quoted = text.startswith(FORMULA_SIGNS)
            wrapped = "\n" in text or _width(text) > WIDEST
            sheet.write_string(row, column, text, formats.of(**look, quote_prefix=quoted, text_wrap=wrapped))
        case float() as number:
            sheet.write_number(row, column, number, formats.of(**look))
        case moment:
            sheet.write_datetime(row, column, moment, formats.of(**look))


def _widths(rows: Sequence[Row]) -> Iterator[int]:
    for column in zip(*rows[:MEASURED_ROWS], strict=True):
        widest = max(_width(line) for cell in column for line in cell.text.split("\n"))
        yield min(max(widest + 2, NARROWEST), WIDEST)


def _width(text: str) -> int:
    """Letters of Chinese and the like, and emoji, are twice as wide."""
    return sum(0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)
