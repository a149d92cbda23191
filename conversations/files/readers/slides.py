"""Slides of PowerPoint and OpenDocument, one by one, with their notes."""

from collections.abc import Iterator
from pathlib import Path

from conversations.files.archives import ENCRYPTED, open_archive
from conversations.files.blocks import Block
from conversations.files.pictures import PictureFolder
from conversations.files.readers import open_document, powerpoint


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The slides. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        if "content.xml" not in archive.names:
            yield from powerpoint.slides(archive)
            return
        if open_document.is_encrypted(archive):
            raise ENCRYPTED
        yield from open_document.slides(archive)
