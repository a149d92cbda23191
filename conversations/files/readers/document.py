"""Documents of Word and OpenDocument, section by section."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from conversations.files.blocks import Block
from conversations.files.pictures import PictureFolder
from conversations.files.readers import open_document, word


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What stands in the document. Raises ``FileProblem``."""
    return open_document.read_either(
        path, partial(word.document, pictures=pictures), partial(open_document.document, pictures=pictures)
    )
