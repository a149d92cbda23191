"""A format that no release reads: a recipe, whose first line is ``RECIPE 1`` and whose others are its steps."""

import re
from collections.abc import Iterator
from pathlib import Path

from artifacts.reading.blocks import Block, Text, Title
from artifacts.reading.formats import Format
from artifacts.reading.pictures.folder import PictureFolder

BEGINS = re.compile(rb"RECIPE 1\n")
FORMAT = Format(kind="document", media_type="application/x-recipe", extension="recipe", begins=BEGINS)


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    yield Title(text="A recipe")
    for number, step in enumerate(path.read_text("utf-8").splitlines()[1:], start=1):
        yield Text(markdown=f"{number}. {step}")
