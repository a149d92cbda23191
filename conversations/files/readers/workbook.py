"""Workbooks of Excel and OpenDocument, sheet by sheet: values, not formulas; what is hidden as well."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import python_calamine as calamine

from conversations.files.archives import DAMAGED, ENCRYPTED, open_archive
from conversations.files.blocks import Block, Cells, Place, Text, Title, table
from conversations.files.pictures import PictureFolder
from conversations.files.problems import TOO_MUCH_MEMORY, FileProblem
from conversations.files.readers.open_document import is_encrypted

CELLS = 20_000_000
"""Of the rectangle that a sheet takes, which is held in memory as a whole, empty cells too."""

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The sheets. Raises ``FileProblem``."""
    if extension != "xls":
        with open_archive(path) as archive:
            if is_encrypted(archive):
                raise ENCRYPTED
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
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise DAMAGED from error
    if sheet.height * sheet.width > CELLS:
        raise FileProblem("too_much_memory", f'{TOO_MUCH_MEMORY} (Sheet "{name}" has too many cells.)')
    top = sheet.start[0] if sheet.start else 0
    rows = next(table(_rows(sheet, top)), None)
    yield rows or Text("(This sheet is empty.)")


def _rows(sheet: calamine.CalamineSheet, top: int) -> Iterator[tuple[int, Cells]]:
    for number, values in enumerate(sheet.iter_rows(), top + 1):
        yield number, [_shown(value) for value in values]


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
