"""Pieces of text become lines in which raised and lowered text is marked, as in ``10^8`` and ``H_2O``. Pure.

Raised text is smaller than what it stands behind, and higher by a part of its size. PDFium, which goes by heights, begins a
line there; it is put back.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from artifacts.reading import marks

SMALLEST, SMALLER = 0.4, 0.88
"""Of the size beside it, script is no smaller and no larger."""
INITIAL = 0.55
"""Of a letter over several lines at the beginning of a chapter, the others have at most so much."""
LEAST_SHIFT, MOST_SHIFT = 0.1, 0.78
"""Of the size beside it, so much higher or lower."""
DIGITS_SHIFT, SAME_SIZE_SHIFT = 0.05, 0.2
"""Small digits may be less so; digits as large as what they stand behind have to be more so."""
LEVEL = 0.08
"""What differs by less stands as high."""
NEAR, OVERLAP, APART = 0.6, 0.45, 2.5
"""Of the size: how far behind script begins, how much before the end; and what goes on behind it."""
SPACE = 0.16
SCRIPT_SPACE = 0.35
LONGEST, MOST_WORDS = 30, 4
LONGEST_PIECE = 2_000
SIMPLE = re.compile(r"[+\-−–]?\d+")
FOOTNOTE = re.compile(r"\(?[\w*†‡§¶]{1,3}\)?")
ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ers|re|ère|e|ème|o|os|a|as)\.?", re.IGNORECASE)
TRADE_MARKS = {"tm": "™", "sm": "℠", "®": "®", "©": "©", "™": "™"}
SLASHES = frozenset("/⁄∕")


@dataclass(slots=True)
class Piece:
    """Text of one size that stands on one line, as far as it goes."""

    text: str
    size: float
    across: float
    """How high it stands."""
    start: float
    end: float
    """Where it begins and ends on its line."""
    direction: tuple[float, float]
    gap: str = ""
    """What PDFium sees before it: nothing, a space or the end of a line."""


@dataclass(slots=True)
class Line:
    text: str
    size: float
    """Of most of its letters."""


@dataclass(slots=True)
class _Segment:
    level: int
    """1 is raised, -1 lowered."""
    piece: Piece
    gap: str

    @property
    def text(self) -> str:
        return self.piece.text


def may_be_script(one: Piece, other: Piece) -> bool:
    """Whether one of the two stands behind or before the other, and a little higher or lower."""
    size = max(one.size, other.size)
    shift = abs(one.across - other.across)
    return (
        DIGITS_SHIFT * size <= shift <= MOST_SHIFT * size
        and _is_parallel(one, other)
        and other.start - one.end <= NEAR * size
        and other.end >= one.start
    )


def lines_of(pieces: Sequence[Piece], rules: Sequence[tuple[float, float, float]] = ()) -> list[Line]:
    """``rules``: start, end and height of thin lines across, which make fractions of what stands above and below them."""
    return [_line(segments, rules) for segments in _lines(_merged(pieces))]


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours of one size and height are one."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last and piece.gap != "\n" and len(last.text) < LONGEST_PIECE and _is_of_one(piece, last):
            last.text += piece.gap + piece.text
            last.end = piece.end
        else:
            merged.append(piece)
    return merged


def _is_of_one(piece: Piece, last: Piece) -> bool:
    return last.size == piece.size and _is_level(piece, last) and _is_parallel(piece, last)


def _lines(pieces: Sequence[Piece]) -> Iterator[list[_Segment]]:
    line: list[_Segment] = []
    base: Piece | None = None
    for index, piece in enumerate(pieces):
        following = pieces[index + 1] if index + 1 < len(pieces) else None
        last = line[-1].piece if line else None
        if base and last and (level := _level(piece, base, last)):
            line.append(_Segment(level, piece, " " if last is base and _is_apart(piece, base, SCRIPT_SPACE) else ""))
            continue
        if last and (piece.gap != "\n" or (line[-1].level and base and _goes_on(piece, base, last))):
            gap = " " if piece.gap == " " or (line[-1].level and _is_apart(piece, last)) else ""
            line.append(_Segment(0, piece, gap))
            base = piece
            continue
        if last and len(line) == 1 and _is_initial(last, piece):
            line.append(_Segment(0, piece, ""))
            base = piece
            continue
        if line:
            yield line
        is_mark = (
            following is not None and FOOTNOTE.fullmatch(piece.text.strip()) and _is_raised_before(piece, following)
        )
        line = [_Segment(1 if is_mark else 0, piece, "")]
        base = following if is_mark else piece
    if line:
        yield line


def _level(piece: Piece, base: Piece, last: Piece) -> int:
    words = piece.text.split()
    if not _is_parallel(piece, base) or len(piece.text) > LONGEST or not 0 < len(words) <= MOST_WORDS:
        return 0
    shift = (piece.across - base.across) / base.size
    is_small = piece.size <= SMALLER * base.size
    least = LEAST_SHIFT if is_small else SAME_SIZE_SHIFT
    if SIMPLE.fullmatch(piece.text.strip()):
        least = DIGITS_SHIFT if is_small else least
    elif not is_small:
        return 0
    if not SMALLEST * base.size <= piece.size <= 1.02 * base.size or not least <= abs(shift) <= MOST_SHIFT:
        return 0
    if piece.start - last.end > NEAR * base.size or piece.start < base.end - OVERLAP * base.size:
        return 0
    return 1 if shift > 0 else -1


def _is_raised_before(piece: Piece, following: Piece) -> bool:
    """As the mark of a footnote before its text."""
    shift = (piece.across - following.across) / following.size
    return (
        _is_parallel(piece, following)
        and piece.size <= SMALLER * following.size
        and LEAST_SHIFT <= shift <= MOST_SHIFT
        and -OVERLAP * following.size <= following.start - piece.end <= APART * following.size
    )


def _is_initial(last: Piece, piece: Piece) -> bool:
    """Whether a chapter begins with that large letter, and its word goes on beside the upper end of it."""
    return (
        len(last.text.strip()) == 1
        and last.text.strip().isupper()
        and piece.size <= INITIAL * last.size
        and piece.text[:1].islower()
        and 0 < piece.across - last.across < last.size
        and -OVERLAP * piece.size <= piece.start - last.end <= NEAR * last.size
    )


def _goes_on(piece: Piece, base: Piece, last: Piece) -> bool:
    """Whether it stands on the line of ``base``, behind ``last``."""
    return (
        _is_parallel(piece, base)
        and abs(piece.across - base.across) <= LEVEL * base.size
        and -OVERLAP * base.size <= piece.start - last.end <= APART * base.size
    )


def _is_level(piece: Piece, other: Piece) -> bool:
    return abs(piece.across - other.across) <= LEVEL * max(other.size, piece.size)


def _is_parallel(one: Piece, other: Piece) -> bool:
    return abs(one.direction[0] - other.direction[0]) + abs(one.direction[1] - other.direction[1]) < 0.02


def _is_apart(piece: Piece, last: Piece, least: float = SPACE) -> bool:
    return (
        piece.start - last.end > least * max(piece.size, last.size)
        and not last.text[-1:].isspace()
        and not piece.text[:1].isspace()
    )


def _line(segments: Sequence[_Segment], rules: Sequence[tuple[float, float, float]]) -> Line:
    text, index = "", 0
    while index < len(segments):
        segment = segments[index]
        if fraction := _fraction(segments[index : index + 3], rules):
            above, below, used = fraction
            text += (" " if text[-1:].isalnum() or segment.gap else "") + f"{_grouped(above)}/{_grouped(below)}"
            index += used
            continue
        text += segment.gap + _marked(segment, text)
        index += 1
    sizes: dict[float, int] = {}
    for segment in segments:
        if not segment.level:
            sizes[segment.piece.size] = sizes.get(segment.piece.size, 0) + len(segment.text.strip())
    return Line(text, max(sizes, key=lambda size: sizes[size]) if sizes else segments[0].piece.size)


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"[\w.,]+", text) else f"({text})"


def _fraction(segments: Sequence[_Segment], rules: Sequence[tuple[float, float, float]]) -> tuple[str, str, int] | None:
    """What stands above and below, and how many segments that takes."""
    if len(segments) > 2 and segments[0].level == 1 and segments[1].text.strip() in SLASHES:
        above, below = segments[0], segments[2]
        if (below.level == -1 or below.piece.size <= 1.02 * above.piece.size) and _are_digits(above, below):
            return above.text.strip(), below.text.strip(), 3
    if len(segments) > 1 and {segments[0].level, segments[1].level} == {1, -1}:
        above, below = sorted(segments[:2], key=lambda segment: -segment.level)
        middle = (max(above.piece.start, below.piece.start) + min(above.piece.end, below.piece.end)) / 2
        if any(
            start <= middle <= end and below.piece.across < height < above.piece.across for start, end, height in rules
        ):
            return above.text.strip(), below.text.strip(), 2
    return None


def _are_digits(*segments: _Segment) -> bool:
    return all(segment.text.strip().isdecimal() for segment in segments)


def _marked(segment: _Segment, before: str) -> str:
    inner = segment.text.strip()
    if segment.level > 0:
        if inner.lower() in TRADE_MARKS:
            return TRADE_MARKS[inner.lower()] + segment.text[len(segment.text.rstrip()) :]
        if ORDINAL.fullmatch(inner) and (before[-1:].isdecimal() or before[-1:] in {"N", "n"}):
            return segment.text
        return marks.raised(segment.text)
    return marks.lowered(segment.text) if segment.level < 0 else segment.text
