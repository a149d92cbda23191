"""Runs of text of an office document, which look otherwise than their neighbours, as one text with plain marks. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from artifacts.reading import marks
from artifacts.reading.blocks import Block, LeftOut, Lines, Text, Why

SAME_COLOUR = 16
"""Of 255 in each of red, green and blue: nobody reads what differs less from what it stands on."""
SMALLEST_POINTS = 2.0
"""Type up to this size is not read by anybody."""
WHITE = "FFFFFF"
LONGEST_HEADING = 200
"""Characters; what is longer is a paragraph, whatever its style."""
FURTHER_HEADING = 120
MOST_LINES = 3
HIDDEN = LeftOut(Why.HIDDEN, "hidden text")


@dataclass(frozen=True)
class Look:
    script: int = 0
    """1 where it is raised, -1 where it is lowered."""
    is_struck: bool = False
    is_deleted: bool = False
    """By a tracked change."""
    author: str = ""
    """Of the change."""
    is_hidden: bool = False
    is_apart: bool = False
    """A note's number or a comment: it stands in the text and is none of its words."""


@dataclass(frozen=True)
class Run:
    text: str
    look: Look = field(default_factory=Look)


Piece = Run | Block
"""Of a paragraph: its text, and what stands beside it, such as a text box, or is left out."""


def apart(text: str) -> Run:
    return Run(text, Look(is_apart=True))


def is_invisible(colour: str, background: str) -> bool:
    """Whether text of this colour can't be seen there, both as ``RRGGBB``; of what is neither, nothing is said."""
    try:
        pairs = list(zip(bytes.fromhex(colour), bytes.fromhex(background), strict=True))
    except ValueError:
        return False
    return len(pairs) == 3 and all(abs(one - other) <= SAME_COLOUR for one, other in pairs)


def seen(pieces: Iterable[Piece]) -> tuple[list[Run], list[Block]]:
    """The runs that people see, and the blocks beside them. Hidden text becomes one thing that is left out."""
    runs: list[Run] = []
    blocks: list[Block] = []
    has_hidden = False
    for piece in pieces:
        if not isinstance(piece, Run):
            blocks.append(piece)
        elif piece.look.is_hidden:
            has_hidden = has_hidden or bool(piece.text.strip())
        else:
            runs.append(piece)
    return runs, [*blocks, HIDDEN] if has_hidden else blocks


def marked(runs: Sequence[Run]) -> str:
    """Their text, with a mark for what is raised, lowered, struck or deleted. All of it raised is raised against nothing."""
    scripts = {run.look.script for run in runs if run.text.strip() and not run.look.is_apart}
    if len(scripts) == 1 and scripts != {0}:
        runs = [replace(run, look=replace(run.look, script=0)) for run in runs]
    return _deletions(runs).replace("  (", " (").replace(")  ", ") ").replace("  [", " [")


def is_heading(text: str) -> bool:
    """Whether it is short enough for one: several sentences are a paragraph, whatever their style."""
    if len(text) > LONGEST_HEADING or text.count("\n") > MOST_LINES:
        return False
    return len(text) <= FURTHER_HEADING or ". " not in text


def bounded(blocks: Iterable[Block], what: str) -> list[Block]:
    """All of them, at once; where they are nested too deeply, only that this is so."""
    try:
        return list(blocks)
    except RecursionError:
        return [Text(f"({what}, nested too deeply to be read)"), LeftOut(Why.DAMAGED, what)]


def flat(blocks: Iterable[Block]) -> Iterator[Piece]:
    """Blocks as pieces of one paragraph, as a cell takes them."""
    for block in blocks:
        match block:
            case Text():
                yield Run(f" {block.markdown.strip().removeprefix('- ')} ")
            case Lines():
                rows = [block.opening.partition("\n")[0], *(line for _, line in block.numbered)]
                yield Run(f" {'; '.join(_bare(row) for row in rows if row)} ")
            case LeftOut():
                yield block
            case _:
                yield Run(f" {getattr(block, 'text', '')} ")


def plain(blocks: Iterable[Block]) -> str:
    """The text of blocks, a line each, as a note or a comment takes it."""
    lines = (piece.text.strip() for piece in flat(blocks) if isinstance(piece, Run))
    return "\n".join(line for line in lines if line)


def _bare(row: str) -> str:
    """A row of a Markdown table within a cell: its cells with commas between them."""
    cells = row.strip("| ").split(" | ")
    return ", ".join(cell.strip() for cell in cells if cell.strip())


def _deletions(runs: Sequence[Run]) -> str:
    groups = groupby(runs, lambda run: (run.look.is_deleted, run.look.author))
    texts = (((is_deleted, author), _strikes(list(group))) for (is_deleted, author), group in groups)
    return "".join(marks.deleted(text, author) if is_deleted else text for (is_deleted, author), text in texts)


def _strikes(runs: Sequence[Run]) -> str:
    groups = groupby(runs, lambda run: run.look.is_struck)
    return "".join(marks.struck(_scripts(group)) if is_struck else _scripts(group) for is_struck, group in groups)


def _scripts(runs: Iterable[Run]) -> str:
    groups = groupby(runs, lambda run: run.look.script)
    return "".join(_script("".join(run.text for run in group), script) for script, group in groups)


def _script(text: str, script: int) -> str:
    if not script or not any(sign.isalnum() or sign in "+-−–*†‡°′" for sign in text):
        return text
    return marks.raised(text) if script > 0 else marks.lowered(text)
