"""Binary workbooks of Excel (.xlsb), by calamine: values as they are stored, days as such."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import python_calamine as calamine

from artifacts.reading.archives import DAMAGED, ENCRYPTED
from artifacts.reading.blocks import Block, LeftOut, Place, Text, Title, Why
from artifacts.reading.office.numerals import letters
from artifacts.reading.problems import TOO_MUCH_MEMORY, FileProblem
from artifacts.reading.sheets.sheet_table import SheetRow, or_empty, sheet_table

CELLS = 20_000_000
"""Of the rectangle that a sheet takes, which is held in memory as a whole, empty cells too."""

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


def sheets(path: Path) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    try:
        workbook = calamine.CalamineWorkbook.from_path(path)
    except calamine.PasswordError as error:
        raise ENCRYPTED from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise DAMAGED from error
    sheets = workbook.sheets_metadata
    yield Title(total=len(sheets))
    for number, sheet in enumerate(sheets, 1):
        is_hidden = sheet.visible is not calamine.SheetVisibleEnum.Visible
        yield Place(f'sheet "{sheet.name}"{" (hidden)" if is_hidden else ""}', number, sheet.name)
        if sheet.typ is not calamine.SheetTypeEnum.WorkSheet:
            yield Text("(This sheet holds a chart or a program, which is not read.)")
            continue
        yield from _sheet(workbook, sheet.name)


def _sheet(workbook: calamine.CalamineWorkbook, name: str) -> Iterator[Block]:
    try:
        sheet = workbook.get_sheet_by_name(name)
    except (calamine.CalamineError, OSError, ValueError):
        yield Text("(This sheet is damaged and could not be read.)")
        yield LeftOut(Why.DAMAGED, "sheet")
        return
    if sheet.height * sheet.width > CELLS:
        raise FileProblem("too_much_memory", f'{TOO_MUCH_MEMORY} (Sheet "{name}" has too many cells.)')
    top, left = sheet.start or (0, 0)
    yield from or_empty(sheet_table(_rows(sheet, top, left), column_name=letters))


def _rows(sheet: calamine.CalamineSheet, top: int, left: int) -> Iterator[SheetRow]:
    for number, values in enumerate(sheet.iter_rows(), top + 1):
        shown = ((column, _shown(value)) for column, value in enumerate(values, left))
        yield SheetRow(number, {column: text for column, text in shown if text})


def _shown(value: Value) -> str:
    match value:
        case bool():
            return str(value).upper()
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else format(value, ".15g")
        case datetime.datetime():
            is_day = value.time() == datetime.time()
            return value.date().isoformat() if is_day else value.isoformat(" ", "seconds")
    return str(value)
