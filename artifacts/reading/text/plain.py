"""Plain text in any encoding: Markdown by its headings, notebooks by their cells, CSV as tables, code and JSON by lines."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from artifacts.reading.blocks import Block, LeftOut, Lines, Text, Title, Why
from artifacts.reading.pictures.data_uris import DataUris, EmbeddedPictures, Keep, keep_none
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.sheets import csv_table
from artifacts.reading.text.encodings import detect_encoding
from artifacts.reading.text.markdown import lines_of, read_markdown
from artifacts.reading.text.notebook import damaged_lines, read_notebook

CHUNK = 2**20
SAMPLE = 64 * 2**10


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The text. Raises ``FileProblem``."""
    yield Title()
    encoding = detect_encoding(path)
    yield from encoding.left_out()
    with encoding.open(path, newline="") as file:
        yield from blocks(file, extension, EmbeddedPictures(pictures).keep)


def blocks(file: TextIO, extension: str, keep: Keep = keep_none) -> Iterator[Block]:
    """Of a text that is open, with its ends of lines as they are. ``keep``: what becomes of pictures within it. Raises
    ``FileProblem``."""

    def pieces() -> Iterator[str]:
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk

    if extension in {"csv", "tsv", "tab"}:
        yield from csv_table.read(file, extension)
    elif extension in {"md", "markdown"}:
        yield from read_markdown(pieces, keep)
    elif extension == "ipynb":
        yield from _notebook(file.read(), keep)
    else:
        yield from _plain(pieces(), extension)


def paragraphs(lines: Iterable[str]) -> Iterator[Block]:
    held: list[str] = []
    size = 0
    for line in lines:
        if not line.strip() or size > SAMPLE:
            yield from _held(held)
            held, size = [], 0
        if line.strip():
            held.append(line)
            size += len(line)
    yield from _held(held)


def _held(lines: list[str]) -> Iterator[Text]:
    if lines:
        yield Text("\n".join(lines))


def _plain(pieces: Iterable[str], extension: str) -> Iterator[Block]:
    """As it stands, but for files within it, which are named."""
    uris = DataUris()
    lines = map(uris.named, lines_of(uris.pieces(pieces)))
    if extension in {"txt", "text", "log"}:
        yield from paragraphs(lines)
    else:
        yield Lines(enumerate(lines, 1), "lines", f"```{extension}", "```")
    for embedded in uris.embedded:
        yield from embedded.blocks()


def _notebook(text: str, keep: Keep) -> Iterator[Block]:
    try:
        cells = read_notebook(text, keep)
    except ValueError:
        yield LeftOut(Why.DAMAGED, "notebook")
        yield Lines(enumerate(damaged_lines(lines_of([text])), 1), "lines", "```json", "```")
    else:
        yield from cells
