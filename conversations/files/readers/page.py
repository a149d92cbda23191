"""HTML pages, section by section."""

from collections.abc import Iterator
from pathlib import Path

from conversations.files.blocks import Block
from conversations.files.data_uris import EmbeddedPictures
from conversations.files.encodings import DECLARATION_BYTES, declared_encoding, detect_encoding
from conversations.files.html_page import read_page
from conversations.files.pictures import PictureFolder

CHUNK = 64 * 2**10


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What a reader of the page would see. Raises ``FileProblem``."""
    with path.open("rb") as start:
        declared = declared_encoding(start.read(DECLARATION_BYTES))
    encoding = detect_encoding(path, declared)

    def pieces() -> Iterator[str]:
        with encoding.open(path) as file:
            while chunk := file.read(CHUNK):
                yield chunk

    yield from read_page(pieces, keep=EmbeddedPictures(pictures).keep)
    yield from encoding.left_out()
