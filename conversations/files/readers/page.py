"""HTML pages, section by section."""

from collections.abc import Iterator
from pathlib import Path

from conversations.files.blocks import Block, Title
from conversations.files.encodings import DECLARATION_BYTES, declared_encoding, detect_encoding
from conversations.files.html_blocks import HtmlBlocks
from conversations.files.pictures import PictureFolder

CHUNK = 64 * 2**10


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What a reader of the page would see. Raises ``FileProblem``."""
    with path.open("rb") as start:
        declared = declared_encoding(start.read(DECLARATION_BYTES))
    encoding = detect_encoding(path, declared)
    parser = HtmlBlocks()
    with encoding.open(path) as file:
        parser.feed(file.read(CHUNK))
        yield Title(parser.title)
        yield from encoding.left_out()
        while chunk := file.read(CHUNK):
            yield from parser.take()
            parser.feed(chunk)
    parser.close()
    yield from parser.take()
