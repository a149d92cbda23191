"""What documents have beside their text: what stands above and below the pages, notes, and pictures that say all."""

from collections.abc import Iterable, Iterator, Sequence

from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, Heading, LeftOut, Place, Text, Why
from artifacts.reading.office.runs import plain
from artifacts.reading.pictures.folder import PictureFolder

FEW_LETTERS = 40
"""Of a document whose pictures are what it says."""


def under(heading: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """A heading before the first text."""
    has_text = False
    for block in blocks:
        if not has_text and not isinstance(block, LeftOut):
            has_text = True
            yield Heading(1, heading)
        yield block


def once(blocks: Iterable[Block]) -> Iterator[Block]:
    """Each text once, in a line."""
    given: set[str] = set()
    for block in blocks:
        text = " ".join(plain([block]).split())
        if isinstance(block, LeftOut):
            yield block
        elif text and text not in given:
            given.add(text)
            yield Text(text)


def pictures_alone(
    archive: Archive, places: Sequence[str], shown: int, letters: int, pictures: PictureFolder
) -> Iterator[Block]:
    """The pictures of a document that has hardly any ``letters``. ``shown``: how many there are, of which ``places`` are the
    first."""
    given = 0
    saved = pictures.save_members(archive, dict.fromkeys(places if letters <= FEW_LETTERS else ()), "picture")
    for number, (place, picture) in enumerate(saved, 1):
        given += places.count(place)
        yield Place(f"picture {number}")
        yield picture
    if not_read := shown - given:
        yield LeftOut(Why.NOT_READ, "picture", not_read)
