"""Tables as CSV that spreadsheets open as it is meant: UTF-8 with its mark, and no cell that is a formula."""

import csv
import io
import re
from collections.abc import Sequence

from artifacts.exporting.cells import is_number
from artifacts.exporting.tables import Cell, NamedTable

MARK = "\ufeff"
"""By which Excel knows UTF-8."""
SEPARATORS = re.compile(r"([;\t\n])")
"""Where another program's settings may begin a cell."""
FORMULA = re.compile(r"""["'\s]*[=+\-@＝＋－＠]""")
SIGNS_ONLY = re.compile(r"[-+]+")


def write(tables: Sequence[NamedTable]) -> bytes:
    """One below the other, with an empty line between them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    for number, table in enumerate(tables):
        if number:
            text.write("\r\n")
        writer.writerows(map(_cell, row) for row in table.rows)
    return (MARK + text.getvalue()).encode()


def _cell(cell: Cell) -> str:
    text = cell.text if cell.href in ("", cell.text) else f"{cell.text} ({cell.href})"
    return guarded(text)


def guarded(text: str) -> str:
    """With an apostrophe before whatever a spreadsheet would take for a formula, as OWASP recommends; numbers stay."""
    return "".join(map(_guarded_piece, SEPARATORS.split(text)))


def _guarded_piece(text: str) -> str:
    if is_number(text):
        return text.replace("\u2212", "-")  # what is a minus in print is none to spreadsheets
    is_harmless = not FORMULA.match(text) or SIGNS_ONLY.fullmatch(text.strip())
    return text if is_harmless else f"'{text}"
