"""Blocks become parts that a model can be given one by one. Nothing is left out, and nothing stands in two."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypedDict

from artifacts.reading.blocks import Block, Heading, LeftOut, Lines, Picture, Place, Text, Title
from artifacts.reading.problems import FileProblem
from conversations.runtime.text import shortened

PART_BYTES = 6_500
"""Of UTF-8, four to a token, roughly: 1,600 tokens of English; Russian and Chinese come closer to 2,000."""
SMALL_BYTES = 800
"""A section with less than that takes in those below it."""
LABEL_CHARACTERS = 80
ENDS = ("\n\n", "\n", ". ", "。", " ", "\t")
"""Where a text is cut, the best first."""


class PartObject(TypedDict):
    """A part as the child writes it: the names of ``reading.Part``."""

    label: str
    heading: str
    text: str
    page: int | None
    picture: str | None
    width: int | None
    height: int | None


def make_parts(blocks: Iterable[Block]) -> Iterator[PartObject]:
    """A part for each place and section; several, where it is long, cut before a heading or at the end of a paragraph."""
    maker = _Maker()
    try:
        for block in blocks:
            yield from maker.add(block)
    except FileProblem:
        yield from maker.end()
        raise
    yield from maker.end()


class _Maker:
    def __init__(self) -> None:
        self._place: Place | None = None
        self._heading = ""
        self._level = 0
        self._held: list[Heading | Text] = []
        self._size = 0
        self._labels: Counter[str] = Counter()

    def add(self, block: Block) -> Iterator[PartObject]:
        match block:
            case Title() | LeftOut():
                pass
            case Place():
                yield from self.end()
                self._place, self._heading, self._level = block, block.heading, 0
            case Picture():
                yield self._part(_joined(self._held), picture=block)
                self._clear()
            case Lines():
                yield from self._lines(block)
            case Heading():
                if self._place is None and self._begins(block):
                    yield from self.end()
                yield from self._text(block)
            case Text():
                yield from self._text(block)

    def _begins(self, heading: Heading) -> bool:
        """Whether it begins a part of its own: never right below another heading, nor below a few words."""
        if all(isinstance(block, Heading) for block in self._held):
            return False
        return not self._level or heading.level <= self._level or self._size >= SMALL_BYTES

    def end(self) -> Iterator[PartObject]:
        """What is held, as a part."""
        if self._held:
            yield self._part(_joined(self._held))
        self._clear()

    def _clear(self) -> None:
        self._held, self._size, self._level = [], 0, 0

    def _text(self, block: Heading | Text) -> Iterator[PartObject]:
        pieces = split(_markdown(block), PART_BYTES)
        for at, piece in enumerate(pieces):
            size = len(piece.encode()) + 2
            if self._size + size > PART_BYTES:
                yield from self._overflow(size)
            held = (
                block
                if isinstance(block, Heading) and at == 0 and len(pieces) == 1
                else Text(piece, isinstance(block, Text) and block.is_item)
            )
            if isinstance(held, Heading) and all(isinstance(block, Heading) for block in self._held):
                self._enter(held)
            self._held.append(held)
            self._size += size

    def _overflow(self, needed: int) -> Iterator[PartObject]:
        """What is held up to its last heading, if that is enough to make room, else all of it."""
        held = self._held
        last = max((at for at, block in enumerate(held) if at and isinstance(block, Heading)), default=len(held))
        rest = sum(len(_markdown(block).encode()) + 2 for block in held[last:])
        if rest + needed > PART_BYTES:
            last = len(held)
        self._held = held[:last]
        yield from self.end()
        for block in held[last:]:
            if isinstance(block, Heading) and all(isinstance(block, Heading) for block in self._held):
                self._enter(block)
            self._held.append(block)
            self._size += len(_markdown(block).encode()) + 2

    def _enter(self, heading: Heading) -> None:
        if self._place is None or not self._place.heading:
            self._heading = heading.text
        self._level = heading.level

    def _lines(self, lines: Lines) -> Iterator[PartObject]:
        """With what stands before and after, if one part can hold them all; else apart, and the span is said."""
        around = len((lines.opening + lines.closing).encode()) + 2
        held: list[str] = []
        size, first, last, has_more = around, 0, 0, False
        for number, line in lines.numbered:
            for piece in split(line, PART_BYTES - around):
                needed = len(piece.encode()) + 1
                if held and size + needed > PART_BYTES:
                    if not has_more:
                        yield from self.end()
                    yield self._part(_between(lines, held), span=_span(lines.unit, first, last))
                    held, size, has_more = [], around, True
                first = first if held else number
                held.append(piece)
                size, last = size + needed, number
        if has_more:
            yield self._part(_between(lines, held), span=_span(lines.unit, first, last))
        else:
            yield from self._text(Text(_between(lines, held)))

    def _part(self, text: str, *, picture: Picture | None = None, span: str = "") -> PartObject:
        return {
            "label": self._label(span),
            "heading": self._heading,
            "text": text,
            "page": self._place.page if self._place else None,
            "picture": picture.name if picture else None,
            "width": picture.width if picture else None,
            "height": picture.height if picture else None,
        }

    def _label(self, span: str) -> str:
        base = self._place.label if self._place else ""
        if not base and self._heading:
            base = f'section "{shortened(" ".join(self._heading.split()), LABEL_CHARACTERS)}"'
        wanted = ", ".join(filter(None, (base, span)))
        while True:
            self._labels[wanted] += 1
            number = self._labels[wanted]
            label = f"part {number}" if not wanted else wanted if number == 1 else f"{wanted} ({number})"
            if label == wanted or label not in self._labels:
                self._labels[label] = max(self._labels[label], 1)
                return label


def split(text: str, most: int) -> list[str]:
    """Pieces of at most so many bytes of UTF-8, which together are the text but for the white space at the cuts."""
    if len(text.encode()) <= most:
        return [text] if text.strip() else []
    pieces, at = [], 0
    while at < len(text):
        piece = text[at : at + most].encode()[:most].decode("utf-8", "ignore")
        if at + len(piece) < len(text):
            ends = (found + len(end) for end in ENDS if (found := piece.rfind(end)) > len(piece) // 3)
            piece = piece[: next(ends, len(piece))]
        at += len(piece)
        pieces.append(piece.strip("\n").rstrip())
    return [piece for piece in pieces if piece]


def _markdown(block: Heading | Text) -> str:
    if isinstance(block, Text):
        return block.markdown
    return block.markdown or f"{'#' * min(block.level, 6)} {block.text}"


def _joined(blocks: list[Heading | Text]) -> str:
    text, is_item = "", False
    for block in blocks:
        was_item, is_item = is_item, isinstance(block, Text) and block.is_item
        text += ("\n" if was_item and is_item else "\n\n" if text else "") + _markdown(block)
    return text


def _between(lines: Lines, held: list[str]) -> str:
    return "\n".join(filter(None, (lines.opening, *held, lines.closing)))


def _span(unit: str, first: int, last: int) -> str:
    return f"{unit} {first}–{last}" if first != last else f"{unit.removesuffix('s')} {first}"
