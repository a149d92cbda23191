"""Rows of a sheet of Excel as they are shown, a row at a time."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError, iterparse

from artifacts.reading.archives import Archive, readable
from artifacts.reading.problems import FileProblem
from artifacts.reading.sheets.cell_text import CellTexts
from artifacts.reading.sheets.sheet_table import SheetRow
from artifacts.reading.sheets.xlsx_styles import CellStyle, SharedText, read_text, unescaped

MOST_COLUMNS = 16_384
SHORT = 12
"""Digits of a whole number that is shown as it is stored."""
PLAIN_STYLE = CellStyle()


@dataclass(frozen=True)
class Workbook:
    """What all sheets share."""

    strings: Sequence[SharedText] = ()
    styles: Sequence[CellStyle] = ()
    is_1904: bool = False
    is_recalculated: bool = False
    """Values are worked out when the file is opened; the program that wrote it stored zeros."""


@dataclass
class Sheet:
    """What is known of a sheet as its rows are read."""

    hidden_columns: set[int] = field(default_factory=set)
    hidden_rows: int = 0
    damaged_cells: int = 0
    is_damaged: bool = False


class Rows:
    """To be iterated once. What is damaged ends the rows, and ``sheet`` says so."""

    def __init__(self, workbook: Workbook, comments: dict[tuple[int, int], str]) -> None:
        self.sheet = Sheet()
        self.texts = CellTexts(is_1904=workbook.is_1904)
        self._workbook = workbook
        self._comments = comments
        """By row from 1 and column from 0; what was given with its cell is taken out."""
        self._value_tag = self._formula_tag = self._inline_tag = ""
        self._columns: dict[str, int] = {}
        self._styles: dict[str, CellStyle] = {}

    def read(self, archive: Archive, member: str) -> Iterator[SheetRow]:
        """Raises ``FileProblem`` for what unpacks to too much."""
        try:
            yield from self._read(archive, member)
        except (ParseError, FileProblem) as error:
            if isinstance(error, FileProblem) and error.code != "damaged":
                raise
            self.sheet.is_damaged = True

    def _read(self, archive: Archive, member: str) -> Iterator[SheetRow]:
        number = 0
        data: Element | None = None
        row_tag = ""
        with archive.open(member) as file, readable():
            events: Iterator[tuple[str, Element]] = iterparse(file, ("start", "end"))  # noqa: S314  # see xml_stream
            for event, element in events:
                if event == "start":
                    if data is None and element.tag.endswith("sheetData"):
                        data, space = element, element.tag.removesuffix("sheetData")
                        row_tag = f"{space}row"
                        self._value_tag, self._formula_tag, self._inline_tag = (
                            f"{space}{tag}" for tag in ("v", "f", "is")
                        )
                    continue
                if element.tag == row_tag:
                    given = element.get("r", "")
                    number = int(given) if given.isdecimal() else number + 1
                    yield self._row(element, number)
                    if data is not None:
                        data.clear()
                elif element is data:
                    return  # what follows says nothing that is read here
                elif data is None:
                    self._properties(element)

    def _properties(self, element: Element) -> None:
        """What stands before the rows."""
        match element.tag.rpartition("}")[2]:
            case "sheetView":
                self.texts.shows_zeros = element.get("showZeros", "1") not in {"0", "false"}
            case "col" if element.get("hidden") in {"1", "true"} or element.get("width") == "0":
                first, last = (element.get(key, "") for key in ("min", "max"))
                if first.isdecimal() and last.isdecimal():
                    self.sheet.hidden_columns |= set(range(int(first) - 1, min(int(last), MOST_COLUMNS)))

    def _row(self, element: Element, number: int) -> SheetRow:
        cells: dict[int, str] = {}
        column = -1
        for cell in element:
            column = self._column(cell.get("r", ""), column + 1)
            text = self._cell(cell)
            if self._comments and (comment := self._comments.pop((number, column), "")):
                text = f"{text} {comment}"
            if text:
                cells[column] = text
        is_hidden = element.get("hidden") in {"1", "true"} or element.get("ht") == "0"
        self.sheet.hidden_rows += is_hidden and bool(cells)
        return SheetRow(number, cells, is_hidden)

    def _column(self, reference: str, otherwise: int) -> int:
        name = reference.rstrip("0123456789")
        if name not in self._columns:
            self._columns[name] = _column_number(name)
        column = self._columns[name]
        return otherwise if column < 0 else column

    def _cell(self, cell: Element) -> str:
        """What the cell shows."""
        kind = cell.get("t", "n")
        value, formula = cell.findtext(self._value_tag), cell.find(self._formula_tag)
        if formula is not None and self._is_unknown(kind, value):
            return _formula(formula)
        style = self._styles.get(cell.get("s", "")) or self._style(cell.get("s", ""))
        if kind == "n" and value:
            return self._number(value, style)
        if kind == "s" and value:
            return self._shared(value, style)
        inline = cell.find(self._inline_tag)
        text = "" if inline is None else read_text(inline)
        return self.texts.text(text or _word(kind, value or "", cell), style)

    def _is_unknown(self, kind: str, value: str | None) -> bool:
        if not value:
            return kind != "str" or value is None
        return self._workbook.is_recalculated and value == "0"

    def _style(self, number: str) -> CellStyle:
        try:
            style = self._workbook.styles[int(number or 0)]
        except (ValueError, IndexError):
            return PLAIN_STYLE
        self._styles[number] = style
        return style

    def _shared(self, value: str, style: CellStyle) -> str:
        try:
            return self.texts.text(self._workbook.strings[int(value)], style)
        except (ValueError, IndexError):
            self.sheet.damaged_cells += 1
            return "(damaged)"

    def _number(self, value: str, style: CellStyle) -> str:
        if style.format.is_general and style.is_plain and value.isdecimal() and len(value) < SHORT and value != "0":
            return value
        try:
            return self.texts.number(float(value), style)
        except ValueError:
            return self.texts.text(value, style)


def _word(kind: str, value: str, cell: Element) -> str:
    """Of a cell that is no number: a truth value, an error, a text that was worked out."""
    if kind == "b":
        return {"0": "FALSE", "1": "TRUE"}.get(value, value)
    if kind == "e" and cell.get("vm") and value == "#VALUE!":
        return "(picture)"
    return unescaped(value)


def _formula(element: Element) -> str:
    text = (element.text or "").replace("_xlfn.", "").replace("_xlws.", "").strip()
    return f"={text}" if text else "(formula)"


def _column_number(letters: str) -> int:
    """0 for ``A``; -1 where it is none."""
    number = 0
    if not letters.isascii() or not letters.isalpha() or len(letters) > 3:
        return -1
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def position(reference: str) -> tuple[int, int]:
    """Row from 1 and column from 0 of a reference such as ``B7``; zeros where it is none."""
    letters = reference.rstrip("0123456789")
    digits = reference[len(letters) :]
    return (int(digits) if digits else 0), max(_column_number(letters), 0)


def read_strings(archive: Archive, member: str) -> list[SharedText]:
    """Texts that cells name by number. Those before what is damaged are kept."""
    strings: list[SharedText] = []
    root: Any = None
    with suppress(ParseError, FileProblem), archive.open(member) as file, readable():
        for event, element in iterparse(file, ("start", "end")):  # noqa: S314  # see xml_stream
            if event == "start":
                root = element if root is None else root
            elif element.tag.endswith("}si") or element.tag == "si":
                strings.append(read_text(element))
                root.clear()
    return strings
