"""What changed from one text to another, as pieces for people to read. Pure."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_WORDS = 1_000
"""In longer lines no words are compared."""
MOST_LINES = 2_000
LONGEST_CHANGE = 2_000
"""Characters of its beginning, and of its end."""
LIKE = 0.6
"""The share of its words that a line has in common with another to be told by words."""
AROUND = 80
"""Characters of unchanged text that are shown around a change."""
WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Of a text: ``same``, ``ins`` or ``del``."""

    kind: str
    text: str


def diffed(before: str, after: str) -> list[Piece]:
    """What was taken out and what was put in, with a little of what stayed around it: by lines, and by words where a line
    came in the place of one like it."""
    first, second = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if max(len(first), len(second)) > MOST_LINES:
        first, second = [before], [after]
    pieces: list[Piece] = []
    for kind, was, now in changes(first, second):
        if kind == "replace" and len(was) == len(now) and all(map(is_like, was, now)):
            for old, new in zip(was, now, strict=True):
                for change in changes(WORDS.findall(old), WORDS.findall(new)):
                    pieces += pieces_of(*change)
        else:
            pieces += pieces_of(kind, was, now)
    return [near(piece, index, len(pieces)) for index, piece in enumerate(pieces)]


def changes(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        yield kind, first[a_from:a_to], second[b_from:b_to]


def is_like(old: str, new: str) -> bool:
    words = WORDS.findall(old), WORDS.findall(new)
    return max(map(len, words)) <= MOST_WORDS and difflib.SequenceMatcher(None, *words).quick_ratio() >= LIKE


def pieces_of(kind: str, was: Sequence[str], now: Sequence[str]) -> Iterator[Piece]:
    if kind == "equal":
        yield Piece(kind="same", text="".join(was))
        return
    for name, parts in (("del", was), ("ins", now)):
        if parts:
            yield Piece(kind=name, text="".join(parts))


def near(piece: Piece, index: int, count: int) -> Piece:
    """What a long piece begins and ends with: of what stayed a little, of the first only the end, of the last only the
    beginning."""
    room = AROUND if piece.kind == "same" else LONGEST_CHANGE
    if len(piece.text) <= 2 * room:
        return piece
    stayed = piece.kind == "same"
    head = "" if stayed and index == 0 else piece.text[:room]
    tail = "" if stayed and index == count - 1 else piece.text[-room:]
    return Piece(kind=piece.kind, text=f"{head} […] {tail}")
