"""Pictures."""

from collections.abc import Iterator
from pathlib import Path

from conversations.files.blocks import Block, Place, Text, Title
from conversations.files.pictures import PictureFolder, read_picture


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The picture. Raises ``FileProblem``."""
    picture = read_picture(path)
    yield Title(total=1, thumbnail=pictures.save_thumbnail(picture.image))
    yield Place("picture")
    if picture.is_animated:
        yield Text("(The file is an animation; this is its first picture.)")
    yield pictures.save(picture.image, "picture", is_photograph=picture.is_photograph)


def thumbnail(path: Path, pictures: PictureFolder) -> str:
    """Its name. Raises ``FileProblem``."""
    return pictures.save_thumbnail(read_picture(path).image)
