"""Documents of Word and OpenDocument, section by section."""

from collections.abc import Iterator
from pathlib import Path

from conversations.files.archives import ENCRYPTED, open_archive
from conversations.files.blocks import Block
from conversations.files.pictures import PictureFolder
from conversations.files.readers import open_document, word


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What stands in the document. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        if "content.xml" not in archive.names:
            yield from word.document(archive)
            return
        if open_document.is_encrypted(archive):
            raise ENCRYPTED
        yield from open_document.document(archive)
