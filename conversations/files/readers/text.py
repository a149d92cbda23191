"""Plain text in any encoding: Markdown by its headings, CSV as tables, code and JSON by lines."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from conversations.files.blocks import Block, Cells, Heading, Lines, Text, Title, table
from conversations.files.encodings import detect_encoding
from conversations.files.pictures import PictureFolder
from conversations.files.problems import FileProblem

CHUNK = 2**20
SAMPLE = 64 * 2**10
LONGEST_FIELD = 2**20
FENCE = re.compile(r"(`{3,}|~{3,})")
ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The text. Raises ``FileProblem``."""
    yield Title()
    encoding = detect_encoding(path)
    yield from encoding.left_out()
    with encoding.open(path, newline="") as file:
        if extension in {"csv", "tsv", "tab"}:
            yield from _table(file)
        elif extension in {"md", "markdown"}:
            yield from markdown(_lines(file))
        elif extension in {"txt", "text", "log"}:
            yield from paragraphs(_lines(file))
        else:
            yield Lines(enumerate(_lines(file), 1), "lines", f"```{extension}", "```")


def markdown(lines: Iterable[str]) -> Iterator[Block]:
    """By headings and paragraphs, as it stands; what is fenced stays whole."""
    held: list[str] = []
    fence = ""
    for line in lines:
        if fence:
            held.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if opened := FENCE.match(line.lstrip()):
            fence = opened[1]
            held.append(line)
        elif heading := ATX.match(line):
            yield from _held(held)
            yield Heading(len(heading[1]), heading[2], line)
            held = []
        elif len(held) == 1 and held[0].strip() and (under := UNDERLINE.match(line)):
            yield Heading(1 if "=" in under[1] else 2, held[0].strip(), f"{held[0]}\n{line}")
            held = []
        elif not line.strip():
            yield from _held(held)
            held = []
        else:
            held.append(line)
    yield from _held(held)


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


def _lines(file: TextIO) -> Iterator[str]:
    """Without their ends. A line of any length comes in pieces."""
    while line := file.readline(CHUNK):
        yield line.rstrip("\r\n")


def _table(file: TextIO) -> Iterator[Block]:
    start = file.read(SAMPLE)
    file.seek(0)
    csv.field_size_limit(LONGEST_FIELD)
    rows = _Rows(csv.reader(file, delimiter=_delimiter(start)))
    yield from table(rows)
    if rows.problem:
        raise rows.problem


class _Rows:
    """Numbered, up to the end or to what can't be divided into rows: then there is a problem."""

    def __init__(self, rows: Iterator[list[str]]) -> None:
        self._rows = rows
        self.problem: FileProblem | None = None

    def __iter__(self) -> Iterator[tuple[int, Cells]]:
        number = 0
        try:
            for number, cells in enumerate(self._rows, 1):
                yield number, cells
        except csv.Error as error:
            message = f"Row {number + 1} can't be read ({error}): perhaps a quotation mark is not closed there."
            self.problem = FileProblem("damaged", message)


def _delimiter(start: str) -> str:
    """What divides the first lines into the most columns of which all lines have as many."""
    lines = start.splitlines()[:20]

    def evenness(delimiter: str) -> tuple[int, int]:
        counts = [len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells]
        most = max(set(counts), key=counts.count, default=1)
        return (counts.count(most) if most > 1 else 0, most)

    return max((",", ";", "\t", "|"), key=evenness)
