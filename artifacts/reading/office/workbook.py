"""Workbooks of Excel and OpenDocument, sheet by sheet: each kind by a reader of its own."""

from collections.abc import Iterator
from pathlib import Path

from artifacts.reading.archives import ENCRYPTED, open_archive
from artifacts.reading.blocks import Block
from artifacts.reading.opendocument import ods
from artifacts.reading.opendocument.open_document import is_encrypted
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.sheets import xls, xlsb, xlsx


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The sheets. Raises ``FileProblem``."""
    if extension == "xls":
        yield from xls.sheets(path)
        return
    with open_archive(path) as archive:
        if is_encrypted(archive):
            raise ENCRYPTED
        if extension == "xlsb":
            yield from xlsb.sheets(path)
        else:
            yield from ods.sheets(archive) if "content.xml" in archive.names else xlsx.sheets(archive)
