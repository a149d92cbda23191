"""Plain text in any encoding: Markdown by its headings, CSV as tables, code and JSON by lines."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from conversations.files.blocks import Block, Heading, Lines, Text, Title
from conversations.files.encodings import detect_encoding
from conversations.files.pictures import PictureFolder
from conversations.files.readers import csv_table

CHUNK = 2**20
SAMPLE = 64 * 2**10
FENCE = re.compile(r"(`{3,}|~{3,})")
ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The text. Raises ``FileProblem``."""
    yield Title()
    encoding = detect_encoding(path)
    yield from encoding.left_out()
    with encoding.open(path, newline="") as file:
        yield from blocks(file, extension)


def blocks(file: TextIO, extension: str) -> Iterator[Block]:
    """Of a text that is open. Raises ``FileProblem``."""
    if extension in {"csv", "tsv", "tab"}:
        yield from csv_table.read(file, extension)
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
