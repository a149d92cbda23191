"""Workbooks of Excel (.xlsx, .xlsm, .xltx), sheet by sheet: what cells show, and what lies on the sheets."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from xml.etree.ElementTree import Element, ParseError

from artifacts.reading.archives import DAMAGED, Archive
from artifacts.reading.blocks import Block, LeftOut, Place, Text, Title, Why
from artifacts.reading.office.numerals import letters
from artifacts.reading.problems import FileProblem
from artifacts.reading.sheets.sheet_table import damaged_sheet, hidden_rows, or_empty, sheet_table
from artifacts.reading.sheets.xlsx_drawings import Relations, drawing, read_comments
from artifacts.reading.sheets.xlsx_sheet import Rows, Workbook, read_strings
from artifacts.reading.sheets.xlsx_styles import CellStyle, read_styles
from artifacts.reading.xml_stream import attribute, child, inside, main_member, relations, tree

DAMAGED_SHEET = set(damaged_sheet())
NOT_READ = Text("(This sheet holds a dialog or a program, which is not read.)")
STATES = {"hidden": " (hidden)", "veryHidden": " (very hidden)"}
ON = {"1", "true"}
PROGRAMS = {"dialogsheet", "xlMacrosheet", "xlIntlMacrosheet"}
ON_SHEETS = {"oleObject": "embedded object", "package": "embedded object"}


@dataclass(frozen=True)
class SheetEntry:
    name: str
    state: str
    kind: str
    """Of its relation, such as ``worksheet``."""
    member: str


def sheets(archive: Archive) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    member = main_member(archive, "xl/workbook.xml")
    try:
        root, links = tree(archive, member), relations(archive, member)
    except ParseError as error:
        raise DAMAGED from error
    entries = list(_entries(root, links))
    workbook = _workbook(archive, root, links)
    yield Title(total=len(entries))
    is_readable = False
    for number, entry in enumerate(entries, 1):
        yield Place(f'sheet "{entry.name}"{STATES.get(entry.state, "")}', number, entry.name)
        for block in _sheet(archive, entry, workbook):
            is_readable = is_readable or block not in DAMAGED_SHEET
            yield block
    if entries and not is_readable:
        raise DAMAGED


def _entries(root: Element, links: Relations) -> Iterator[SheetEntry]:
    for sheet in inside(child(root, "sheets")):
        kind, member = links.get(attribute(sheet, "r:id"), ("worksheet", ""))
        yield SheetEntry(sheet.get("name", ""), sheet.get("state", ""), kind, member)


def _workbook(archive: Archive, root: Element, links: Relations) -> Workbook:
    members = {kind: member for kind, member in links.values() if member in archive.names}
    styles: list[CellStyle] = []
    with suppress(ParseError, FileProblem):
        styles = read_styles(archive, members["styles"]) if "styles" in members else []
    return Workbook(
        strings=read_strings(archive, members["sharedStrings"]) if "sharedStrings" in members else [],
        styles=styles,
        is_1904=attribute(child(root, "workbookPr"), "date1904") in ON,
        is_recalculated=attribute(child(root, "calcPr"), "fullCalcOnLoad") in ON,
    )


def _sheet(archive: Archive, entry: SheetEntry, workbook: Workbook) -> Iterator[Block]:
    if entry.kind in PROGRAMS:
        yield NOT_READ
        yield LeftOut(Why.NOT_READ, "program")
        return
    links = relations(archive, entry.member)
    comments = read_comments(archive, links.values())
    rows = Rows(workbook, comments)
    yield from or_empty(chain(_table(archive, entry, rows), _beside(archive, links, comments), _account(rows)))


def _table(archive: Archive, entry: SheetEntry, rows: Rows) -> Iterator[Block]:
    if entry.kind != "chartsheet":
        numbered = rows.read(archive, entry.member)
        yield from sheet_table(numbered, hidden_columns=rows.sheet.hidden_columns, column_name=letters)
        yield from hidden_rows(rows.sheet.hidden_rows)


def _beside(archive: Archive, links: Relations, comments: Mapping[tuple[int, int], str]) -> Iterator[Block]:
    """Notes on cells without anything, and what lies on the sheet."""
    for (row, column), comment in sorted(comments.items()):
        yield Text(f"{letters(column)}{row} {comment}", is_item=True)
    for kind, member in links.values():
        if kind == "drawing":
            yield from drawing(archive, member)
        elif kind in ON_SHEETS:
            yield Text(f"({ON_SHEETS[kind]})")
            yield LeftOut(Why.NOT_READ, ON_SHEETS[kind])


def _account(rows: Rows) -> Iterator[Block]:
    """What is to be said of a sheet once its rows have been read."""
    if rows.sheet.is_damaged:
        yield from damaged_sheet()
    if rows.sheet.damaged_cells:
        yield LeftOut(Why.DAMAGED, "cell", rows.sheet.damaged_cells)
    if rows.texts.invisible:
        yield LeftOut(Why.HIDDEN, "hidden cell", rows.texts.invisible)
