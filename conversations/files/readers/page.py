"""HTML pages, section by section."""

import re
from collections.abc import Iterator
from pathlib import Path

from conversations.files.blocks import Block, Title
from conversations.files.encodings import detect_encoding, known_encoding
from conversations.files.html_blocks import HtmlBlocks
from conversations.files.pictures import PictureFolder

CHUNK = 64 * 2**10
DECLARED = re.compile(rb"""<(?:meta[^>]+charset|\?xml[^>]+encoding)\s*=\s*["']?([\w-]+)""", re.IGNORECASE)


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What a reader of the page would see. Raises ``FileProblem``."""
    with path.open("rb") as start:
        declared = DECLARED.search(start.read(4096))
    encoding = detect_encoding(path, known_encoding(declared[1].decode()) if declared else "")
    parser = HtmlBlocks()
    with path.open(encoding=encoding, errors="replace") as file:
        parser.feed(file.read(CHUNK))
        yield Title(parser.title)
        while chunk := file.read(CHUNK):
            yield from parser.take()
            parser.feed(chunk)
    parser.close()
    yield from parser.take()
