"""HTML pages, section by section."""

from collections.abc import Iterator
from pathlib import Path

from artifacts.reading.blocks import Block
from artifacts.reading.pictures.data_uris import EmbeddedPictures
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.text.encodings import DECLARATION_BYTES, declared_encoding, detect_encoding
from artifacts.reading.web.html_page import read_page

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
