"""Documents of Word and OpenDocument, section by section."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from artifacts.reading.blocks import Block
from artifacts.reading.opendocument import open_document
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.word import docx


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What stands in the document. Raises ``FileProblem``."""
    return open_document.read_either(
        path, partial(docx.document, pictures=pictures), partial(open_document.document, pictures=pictures)
    )
