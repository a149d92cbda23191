"""Workbooks of Excel before 2007 (.xls), sheet by sheet: what cells show, by ``xlrd``."""

import io
import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import xlrd
from xlrd.biffh import XLRDError
from xlrd.compdoc import CompDocError
from xlrd.formatting import XFBackground

from artifacts.reading.archives import DAMAGED, ENCRYPTED
from artifacts.reading.blocks import Block, LeftOut, Place, Text, Title, Why
from artifacts.reading.marks import cell_note
from artifacts.reading.office.numerals import letters
from artifacts.reading.office.runs import WHITE
from artifacts.reading.sheets import xls_objects
from artifacts.reading.sheets.cell_text import CellTexts
from artifacts.reading.sheets.number_format import BUILTIN, number_format
from artifacts.reading.sheets.sheet_table import SheetRow, damaged_sheet, hidden_rows, or_empty, sheet_table
from artifacts.reading.sheets.xlsx import NOT_READ, STATES
from artifacts.reading.sheets.xlsx_styles import CellStyle, Font, Run, SharedText

BROKEN_OFF = (
    *(XLRDError, CompDocError, struct.error, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, TypeError, ValueError),
)
"""What ``xlrd`` raises for a file that is damaged."""
OF_THE_SYSTEM = {14, 22, *range(27, 37), *range(50, 59)}
"""Formats that every country has its own of."""
SCRIPTS = {1: "superscript", 2: "subscript"}
POINT = 20
"""Units of the height of letters."""


def sheets(path: Path) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    try:
        book = xlrd.open_workbook(
            str(path), logfile=io.StringIO(), use_mmap=False, formatting_info=True, on_demand=True, ragged_rows=True
        )
        stream = bytes(book.mem or b"")[book.base : book.base + book.stream_len]
        records = xls_objects.read_sheets(stream)
        styles = [_style(book, at) for at in range(len(book.xf_list))]
    except BROKEN_OFF as error:
        raise ENCRYPTED if "encrypted" in str(error) else DAMAGED from error
    yield Title(total=len(records))
    worksheets = iter(range(book.nsheets))
    for number, record in enumerate(records, 1):
        yield Place(f'sheet "{record.name}"{STATES.get(record.state, "")}', number, record.name)
        if record.kind == "program":
            yield NOT_READ
            yield LeftOut(Why.NOT_READ, "program")
            continue
        table = _sheet(book, next(worksheets, -1), styles) if record.kind == "worksheet" else iter(())
        yield from or_empty(chain(table, _objects(record.objects)))


def _sheet(book: xlrd.Book, number: int, styles: Sequence[CellStyle]) -> Iterator[Block]:
    try:
        sheet = book.sheet_by_index(number)
    except BROKEN_OFF:  # also where there is no such sheet
        yield from damaged_sheet()
        return
    texts = CellTexts(is_1904=book.datemode == 1)
    hidden = {column for column, about in sheet.colinfo_map.items() if about.hidden}
    rows = _Rows(book, sheet, styles, texts)
    yield from sheet_table(rows.read(), hidden_columns=hidden, column_name=letters)
    yield from hidden_rows(rows.hidden)
    if texts.invisible:
        yield LeftOut(Why.HIDDEN, "hidden cell", texts.invisible)
    book.unload_sheet(number)


class _Rows:
    def __init__(self, book: xlrd.Book, sheet: xlrd.sheet.Sheet, styles: Sequence[CellStyle], texts: CellTexts) -> None:
        self._book = book
        self._sheet = sheet
        self._styles = styles
        self._texts = texts
        self._notes = {place: _note(note.author, note.text) for place, note in sheet.cell_note_map.items()}
        self.hidden = 0

    def read(self) -> Iterator[SheetRow]:
        for at in range(max(self._sheet.nrows, 1 + max((row for row, _ in self._notes), default=-1))):
            cells = self._cells(at) if at < self._sheet.nrows else {}
            for row, column in [place for place in self._notes if place[0] == at] if self._notes else []:
                cells[column] = f"{cells.get(column, '')} {self._notes.pop((row, column))}".strip()
            about = self._sheet.rowinfo_map.get(at)
            is_hidden = bool(about and about.hidden)
            self.hidden += is_hidden and bool(cells)
            yield SheetRow(at + 1, cells, is_hidden)

    def _cells(self, row: int) -> dict[int, str]:
        kinds, values = self._sheet.row_types(row), self._sheet.row_values(row)
        cells: dict[int, str] = {}
        for column, (kind, value) in enumerate(zip(kinds, values, strict=True)):
            if kind not in {xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK} and (text := self._cell(row, column, kind, value)):
                cells[column] = text
        return cells

    def _cell(self, row: int, column: int, kind: int, value: object) -> str:
        number = self._sheet.cell_xf_index(row, column)
        style = self._styles[number] if number < len(self._styles) else CellStyle()
        match value:
            case str():
                return self._texts.text(self._rich(row, column, value), style)
            case int() if kind == xlrd.XL_CELL_ERROR:
                return xlrd.error_text_from_code.get(value, "#ERROR!")
            case int() | float() if kind == xlrd.XL_CELL_BOOLEAN:
                return self._texts.text("TRUE" if value else "FALSE", style)
            case int() | float():
                return self._texts.number(value, style)
        return ""

    def _rich(self, row: int, column: int, text: str) -> SharedText:
        runs = self._sheet.rich_text_runlist_map.get((row, column))
        if not runs:
            return text
        starts = [0, *(start for start, _ in runs), len(text)]
        fonts = [None, *(_font(self._book, font) for _, font in runs)]
        pieces = zip(fonts, starts, starts[1:], strict=False)
        return [Run(text[start:end], font) for font, start, end in pieces if end > start]


def _note(author: str, text: str) -> str:
    author = author.strip()
    words = " ".join(text.removeprefix(f"{author}:").split())
    return cell_note(words, author)


def _style(book: xlrd.Book, number: int) -> CellStyle:
    look = book.xf_list[number]
    key = look.format_key
    code = book.format_map[key].format_str if key in book.format_map else "General"
    return CellStyle(
        number_format(BUILTIN[key] if key in OF_THE_SYSTEM and key in BUILTIN else code),
        _font(book, look.font_index),
        _background(book, look.background),
    )


def _background(book: xlrd.Book, background: XFBackground | None) -> str:
    if background is None or background.fill_pattern == 0:
        return WHITE
    return (_colour(book, background.pattern_colour_index) if background.fill_pattern == 1 else "") or "a pattern"


def _font(book: xlrd.Book, number: int) -> Font:
    if number >= len(book.font_list):
        return Font()
    font = book.font_list[number]
    return Font(
        _colour(book, font.colour_index), font.height / POINT, SCRIPTS.get(font.escapement, ""), bool(font.struck_out)
    )


def _colour(book: xlrd.Book, index: int) -> str:
    rgb = book.colour_map.get(index)
    return "{:02X}{:02X}{:02X}".format(*rgb) if rgb else ""


def _objects(objects: xls_objects.Objects) -> Iterator[Block]:
    """What lies on a sheet."""
    for text in objects.texts:
        if text.strip():
            yield Text(text.strip().replace("\r", "\n"))
    for words in objects.charts:
        about = "; ".join(dict.fromkeys(filter(None, (" ".join(word.split()) for word in words))))
        yield Text(f"(chart: {about})" if about else "(chart)")
        yield LeftOut(Why.NOT_READ, "chart")
    yield from [Text("(picture)")] * objects.pictures
