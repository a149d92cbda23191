"""The tables of an artifact, as spreadsheets and CSV hold them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from artifacts.exporting.blocks import Block, Heading, ListBlock, Quote, Runs, Table, plain
from artifacts.exporting.markdown import is_csv, read_csv
from artifacts.exporting.markdown_blocks import parse_markdown, without_controls


@dataclass(frozen=True, slots=True)
class Cell:
    """``href`` is where all of its text leads."""

    text: str
    href: str = ""


type Row = list[Cell]


@dataclass(frozen=True, kw_only=True)
class NamedTable:
    """Rows of one length; the first is the heading. ``name`` is that of the heading above it. ``aligned``: as a table is."""

    name: str
    rows: list[Row]
    aligned: tuple[str, ...] = field(default=())


def read_tables(content: str, *, kind: str, title: str) -> list[NamedTable]:
    """In the order in which they stand. What stands between them is left out."""
    if kind == "table" and is_csv(content):
        rows = read_csv(without_controls(content))
        return [NamedTable(name=title, rows=[[Cell(text) for text in row] for row in rows])] if rows else []
    if kind not in ("table", "document"):
        return []
    return list(_tables(parse_markdown(content, title=title), title))


def _tables(blocks: Iterable[Block], name: str) -> Iterator[NamedTable]:
    for block in blocks:
        match block:
            case Heading(_, runs):
                name = plain(runs)
            case Quote(inner):
                yield from _tables(inner, name)
            case ListBlock(items):
                yield from (found for item in items for found in _tables(item.blocks, name))
            case Table(aligned, rows):
                yield NamedTable(name=name, rows=[[_cell(runs) for runs in row] for row in rows], aligned=aligned)


def _cell(runs: Runs) -> Cell:
    addresses = {run.href for run in runs}
    return Cell(plain(runs).strip(), addresses.pop() if len(addresses) == 1 else "")
