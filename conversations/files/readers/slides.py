"""Slides of PowerPoint and OpenDocument, one by one, with their notes."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conversations.files.blocks import Block
from conversations.files.pictures import PictureFolder
from conversations.files.readers import open_document, powerpoint


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The slides. Raises ``FileProblem``."""
    return open_document.read_either(
        path, partial(powerpoint.slides, pictures=pictures), partial(open_document.slides, pictures=pictures)
    )
