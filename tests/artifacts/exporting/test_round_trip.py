"""What is exported says the same when it is read as an upload."""

from pathlib import Path

import pytest

from artifacts.exporting.worker import convert
from tests.artifacts.reading.helpers import read_here

CELLS = {
    "power": ("10<sup>3</sup>", "10³"),
    "formula": (r"\(a_1 \cdot b^{*}\,\)", r"\(a_1 \cdot b^{*}\,\)"),
    "money": ("$x_1 * y_2$", "$x_1 * y_2$"),
    "water": ("H<sub>2</sub>O", "H₂O"),
    "code": ("007", "007"),
    "scientific": ("1e5", "1e5"),
    "telephone": ("+49 30 1234567", "+49 30 1234567"),
    "sum": ("=SUM(A1)", "=SUM(A1)"),
    "grouped": ("1,299.50", "1,299.50"),
    "day": ("2026-03-02", "2026-03-02"),
}
MARKDOWN = "# Table\n\n| name | value |\n| --- | --- |\n" + "".join(
    f"| {n} | {cell} |\n" for n, (cell, _) in CELLS.items()
)


@pytest.mark.parametrize("format", ["html", "docx", "xlsx", "csv"])
@pytest.mark.parametrize("name", CELLS)
def test_a_cell_says_the_same(name: str, format: str, tmp_path: Path) -> None:
    job = {"as": format, "title": "Table", "kind": "document", "content": MARKDOWN, "markdown": MARKDOWN, "note": ""}
    path = tmp_path / f"table.{format}"
    path.write_bytes(convert(job))
    text = read_here(path, tmp_path).text
    shown = CELLS[name][1]
    guard = "'" if format == "csv" and shown.startswith(("=", "+")) else ""
    assert f"| {name} | {guard}{shown} |" in text
