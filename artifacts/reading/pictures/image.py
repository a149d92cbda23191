"""Pictures."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from artifacts.reading.blocks import Block, LeftOut, Place, Text, Title, Why
from artifacts.reading.pictures.folder import PictureFolder, read_pictures
from artifacts.reading.pictures.ocr import BY_MACHINE


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The picture; of a TIFF file each. Raises ``FileProblem``."""
    frames = read_pictures(path)
    first = next(frames)
    yield Title(total=first.pages, thumbnail=pictures.save_thumbnail(first.image))
    for number, picture in enumerate(chain([first], frames), 1):
        yield Place("picture") if first.pages == 1 else Place(f"page {number}", number)
        if picture.is_animated:
            yield Text("(The file is an animation; this is its first picture.)")
            yield LeftOut(Why.NOT_READ, "animation")
        if picture.is_cut_off:
            yield Text("(The picture is cut off: what comes further down may be missing.)")
            yield LeftOut(Why.DAMAGED, "part of a picture")
        if pictures.ocr and (text := pictures.ocr.text(picture.image)):
            yield Text(f"{BY_MACHINE}\n\n{text}")
        stem = "picture" if first.pages == 1 else f"page-{number}"
        yield pictures.save(picture.image, stem, is_photograph=picture.is_photograph)


def thumbnail(path: Path, pictures: PictureFolder) -> str:
    """Its name. Raises ``FileProblem``."""
    return pictures.save_thumbnail(next(read_pictures(path)).image)
