"""Which row of a table names its columns: a title or a bank's preamble stands above it, or there is none. Pure.

The header is the first row that is about as wide as most are; what stands before it is narrower. Where it holds numbers or
days in columns of such, it is a row like the others.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

type Cells = Sequence[str]

DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[ T][\d:.]+)?")
NUMBER = re.compile(r"[-+(]?(?:[€$£¥] ?)?\d[\d.,']*(?:E[+-]?\d+)?(?: ?[%€$£¥])?\)?")
LIKE_MOST = 0.75
"""Of the columns that most rows fill, a header fills so many at least."""


@dataclass(frozen=True)
class Layout:
    above: int
    """How many rows stand above the table."""
    header: Cells
    """Empty names where no row names the columns."""
    body: int
    """Where the rows begin that are neither above the table nor its header."""


def layout(rows: Sequence[Cells]) -> Layout:
    """Of the first rows of a table, of which none is empty."""
    counts = [sum(bool(cell.strip()) for cell in cells) for cells in rows]
    typical = max(Counter(counts).items(), key=lambda item: (item[0] * item[1], item[0]))[0]
    reach = max((len(cells) for cells, count in zip(rows, counts, strict=True) if count == typical), default=0)
    at = next(
        (
            at
            for at, (cells, count) in enumerate(zip(rows, counts, strict=True))
            if count >= LIKE_MOST * typical or (count > 1 and len(cells) >= reach and all(_from_first(cells)))
        ),
        0,
    )
    if _is_data(rows[at], rows[at + 1 :]):
        before = [place for place in range(at) if counts[place] > typical / 2 and not has_values(rows[place])]
        if not before:
            return Layout(at, [""] * len(rows[at]), at)
        at = before[-1]
    if at and _is_group_line(rows[at - 1], rows[at]):
        return Layout(at - 1, _joined(rows[at - 1], rows[at]), at + 1)
    if at + 2 < len(rows) and _is_second_line(rows[at], rows[at + 1]):
        return Layout(at, _joined(rows[at], rows[at + 1]), at + 2)
    return Layout(at, rows[at], at + 1)


def _from_first(cells: Cells) -> list[bool]:
    """Of each cell from the first that is filled: whether it is filled."""
    filled = [bool(cell.strip()) for cell in cells]
    return filled[filled.index(True) :] if any(filled) else [False]


def _value(cell: str) -> str:
    text = cell.strip()
    return "date" if DATE.fullmatch(text) else "number" if NUMBER.fullmatch(text) else ""


def has_values(cells: Cells) -> bool:
    """Whether a cell is a number or a day."""
    return any(map(_value, cells))


def _is_data(cells: Cells, others: Sequence[Cells]) -> bool:
    """Whether it holds values where most of the others hold such, and these do not count the columns; where there are no
    others, whether it holds nothing else."""
    kinds = [_value(cell) for cell in cells]
    if not others:
        return len(kinds) > 1 and all(kinds)
    is_named = any(not kind for kind in kinds)
    if is_named and _counts_columns(
        [cell.strip() for cell, kind in zip(cells, kinds, strict=True) if kind == "number"]
    ):
        return False
    for at, kind in enumerate(kinds):
        below = [_value(other[at]) for other in others if len(other) > at and other[at].strip()] if kind else []
        if below and below.count(kind) * 2 > len(below):
            return True
    return False


def _counts_columns(numbers: Sequence[str]) -> bool:
    """Years, or numbers one after the other, are names of columns."""
    if not numbers or not all(number.isdecimal() and len(number) < 9 for number in numbers):
        return False
    values = [int(number) for number in numbers]
    are_years = all(1900 <= value <= 2100 for value in values)
    return are_years or (len(values) > 1 and all(after - before == 1 for before, after in pairwise(values)))


def _is_group_line(upper: Cells, lower: Cells) -> bool:
    """Whether the upper row groups the columns that the lower one names, as years do with their quarters."""
    filled = [at for at, cell in enumerate(upper) if cell.strip()]
    if len(filled) < 2 or len(upper) > len(lower):
        return False
    has_gap = any(after - before > 1 for before, after in pairwise(filled))
    is_beside_a_name = bool(filled[0]) or not lower[0].strip()
    return (
        has_gap and is_beside_a_name and all(cell.strip() or any(upper[at : at + 1]) for at, cell in enumerate(lower))
    )


def _is_second_line(upper: Cells, lower: Cells) -> bool:
    """Whether the lower row goes on where the upper one has columns without names, below cells that span both."""
    if lower[0].strip() or not upper[0].strip() or has_values(lower):
        return False
    first = next(at for at, cell in enumerate(lower) if cell.strip())
    if first >= len(upper) or not upper[first].strip():
        return False
    gaps = [at for at in range(len(lower)) if at >= len(upper) or not upper[at].strip()]
    return bool(gaps) and all(lower[at].strip() for at in gaps)


def _joined(upper: Cells, lower: Cells) -> list[str]:
    """One name for each column; a group's name goes with all columns up to the next group."""
    names: list[str] = []
    group = ""
    for at in range(max(len(upper), len(lower))):
        above = upper[at].strip() if at < len(upper) else ""
        below = lower[at].strip() if at < len(lower) else ""
        group = above or group
        names.append(" ".join(filter(None, (group, below))))
    return names
