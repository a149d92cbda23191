"""Workbooks of Excel, sheet by sheet: each kind by a reader of its own."""

from collections.abc import Iterator
from pathlib import Path

from artifacts.reading.archives import open_archive
from artifacts.reading.blocks import Block
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.sheets import xls, xlsb, xlsx


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The sheets. Raises ``FileProblem``."""
    if extension in {"xls", "xlsb"}:
        yield from (xls if extension == "xls" else xlsb).sheets(path)
        return
    with open_archive(path) as archive:
        yield from xlsx.sheets(archive)
