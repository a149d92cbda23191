"""Slides of PowerPoint and OpenDocument, one by one, with their notes."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from artifacts.reading.blocks import Block
from artifacts.reading.opendocument import open_document
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.slides import pptx


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The slides. Raises ``FileProblem``."""
    return open_document.read_either(
        path, partial(pptx.slides, pictures=pictures), partial(open_document.slides, pictures=pictures)
    )
