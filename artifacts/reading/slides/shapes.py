"""What stands on a slide of PowerPoint, shape by shape, in the order in which they are drawn."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, Heading, LeftOut, Picture, Place, Text, Why, unread
from artifacts.reading.office import charts
from artifacts.reading.office.drawing_text import Palette, paragraphs
from artifacts.reading.office.grids import Cell, Row, columns, grid
from artifacts.reading.office.letters import UNKNOWN
from artifacts.reading.office.runs import WHITE
from artifacts.reading.xml_stream import alternative, attribute, child, children_named, first, found, inside

ON_EACH = {"sldNum", "dt", "ftr", "hdr", "sldImg"}
"""What stands on every slide: its number, the day, the picture of the slide above its notes."""
EMPTY = "(No text stands on this slide.)"
TITLES = {"title", "ctrTitle"}
ON = {"1", "true"}
MOST_PAINTED = 500
"""Shapes that are looked at for what lies behind a text."""

type Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(frozen=True)
class Frame:
    """Where the shapes of a group lie on the slide."""

    left: float = 0
    top: float = 0
    across: float = 1
    down: float = 1

    def box(self, place: Element | None) -> Box | None:
        """Of an ``a:xfrm``; ``None`` where it says nothing."""
        start, size = _pair(child(place, "a:off"), "x", "y"), _pair(child(place, "a:ext"), "cx", "cy")
        if start is None or size is None:
            return None
        left, top = self.left + start[0] * self.across, self.top + start[1] * self.down
        return left, top, left + size[0] * self.across, top + size[1] * self.down

    def inner(self, place: Element | None) -> "Frame":
        """Of a group that lies here."""
        box = self.box(place)
        start, size = _pair(child(place, "a:chOff"), "x", "y"), _pair(child(place, "a:chExt"), "cx", "cy")
        if box is None or start is None or size is None or not size[0] or not size[1]:
            return self
        across, down = (box[2] - box[0]) / size[0], (box[3] - box[1]) / size[1]
        return Frame(box[0] - start[0] * across, box[1] - start[1] * down, across, down)


@dataclass
class Canvas:
    """What is behind a shape, as far as it is known."""

    palette: Palette
    background: str
    width: float
    height: float
    painted: list[Box | None] = field(default_factory=list)
    """Shapes that are filled, and pictures."""

    def paint(self, box: Box | None) -> None:
        self.painted.append(box)

    def behind(self, box: Box | None) -> str:
        if len(self.painted) > MOST_PAINTED:
            return UNKNOWN
        return UNKNOWN if any(_overlap(box, other) for other in self.painted) else self.background

    def is_outside(self, box: Box | None) -> bool:
        """What has no size grows with its text, so it may begin on the edge."""
        if box is None or not self.width or not self.height:
            return False
        left, top, right, bottom = box
        is_before = right < 0 or bottom < 0 or (right == 0 > left) or (bottom == 0 > top)
        return is_before or left >= self.width or top >= self.height


@dataclass(frozen=True)
class SeenPicture:
    place: str
    """In the archive; empty where it lies elsewhere."""
    size: float


class Shapes:
    """The shapes of one member. ``pictures`` are those that were come across."""

    def __init__(self, archive: Archive, related: dict[str, tuple[str, str]], canvas: Canvas) -> None:
        self._archive = archive
        self._related = related
        self._canvas = canvas
        self.pictures: list[SeenPicture] = []
        self.titles: list[str] = []
        self.on_each: list[str] = []
        """Texts that are meant for every slide."""

    def blocks(self, tree: Element | None, frame: Frame | None = None) -> Iterator[Block]:
        frame = frame or Frame()
        for shape in inside(tree):
            tag = shape.tag
            if tag == "mc:AlternateContent":
                yield from self.blocks(alternative(shape), frame)
            elif tag in {"p:sp", "p:pic", "p:graphicFrame", "p:grpSp", "p:cxnSp"}:
                yield from self._shape(tag, shape, frame)

    def _shape(self, tag: str, shape: Element, frame: Frame) -> Iterator[Block]:
        about = first(shape, "p:cNvPr")
        place = child(shape, "p:xfrm") if tag == "p:graphicFrame" else child(shape, _properties(tag), "a:xfrm")
        box = frame.box(place)
        if attribute(about, "hidden") in ON:
            yield LeftOut(Why.HIDDEN, "hidden shape")
        elif tag != "p:grpSp" and self._canvas.is_outside(box):
            yield LeftOut(Why.HIDDEN, "shape outside of the slide")
        elif tag == "p:grpSp":
            yield from self.blocks(shape, frame.inner(place))
        elif tag == "p:graphicFrame":
            yield from self._graphic(shape, _description(about))
        elif tag == "p:pic":
            yield from self._picture(shape, box, about)
        else:
            yield from self._text(shape, box)

    def _text(self, shape: Element, box: Box | None) -> Iterator[Block]:
        palette, properties = self._canvas.palette, child(shape, "p:spPr")
        fill = palette.background(properties)
        styled = child(shape, "p:style", "a:fillRef")
        if fill is None and attribute(styled, "idx") not in {"", "0"}:
            fill = palette.colour(styled) if child(properties, "a:noFill") is None else None
        texts = [*paragraphs(child(shape, "p:txBody"), palette, fill or self._canvas.behind(box))]
        text = "\n".join(text for text in texts if isinstance(text, str))
        if fill is not None:
            self._canvas.paint(None if fill == UNKNOWN and box is None else box)
        role = placeholder(shape)
        if role in TITLES:
            self.titles.append(text)
        elif role in {"ftr", "dt", "hdr"}:
            self.on_each += [text] if text and first(shape, "a:fld") is None else []
        elif text and role not in ON_EACH:
            yield Text(text)
        yield from (block for block in texts if isinstance(block, LeftOut))

    def _picture(self, shape: Element, box: Box | None, about: Element | None) -> Iterator[Block]:
        self._canvas.paint(box)
        film = next((kind for kind in ("a:videoFile", "a:audioFile") if first(shape, kind) is not None), "")
        description = _description(about)
        if film:
            what = "film" if film == "a:videoFile" else "recording"
            yield from unread(what, description)
            return
        if any(attribute(at, "val") in ON for at in found(shape, "adec:decorative")):
            return
        blip = first(shape, "a:blip")
        _, place = self._related.get(attribute(blip, "r:embed"), ("", ""))
        self.pictures.append(SeenPicture(place, (box[2] - box[0]) * (box[3] - box[1]) if box else 0))
        yield Text(f"(picture: {description})" if description else "(picture)")

    def _graphic(self, frame: Element, description: str) -> Iterator[Block]:
        table = first(frame, "a:tbl")
        referred = next((at for at in frame.iter() if at.tag in charts.GRAPHICS), None)
        embedded = first(frame, "p:oleObj")
        if table is not None:
            yield from self._table(table)
        elif referred is not None:
            yield from charts.graphic(self._archive, referred, self._related, description)
        else:
            program = attribute(embedded, "progId")
            what = "formula" if program.startswith("Equation") else "embedded object"
            about = description or (program if what != "formula" else "")
            yield from unread(what, about)

    def _table(self, table: Element) -> Iterator[Block]:
        """What was typed into a cell that another one covers isn't seen."""
        left_out: list[Block] = []
        rows = [
            Row([cell for at in children_named(line, "a:tc") for cell in self._cells(at, left_out)])
            for line in children_named(table, "a:tr")
        ]
        yield from grid(rows)
        yield from left_out

    def _cells(self, cell: Element, left_out: list[Block]) -> Sequence[Cell]:
        """Those that a wide one covers are there as well, and stand for themselves."""
        fill = self._canvas.palette.background(child(cell, "a:tcPr"))
        texts = [*paragraphs(child(cell, "a:txBody"), self._canvas.palette, fill or UNKNOWN)]
        text = " ".join(text for text in texts if isinstance(text, str))
        left_out += (block for block in texts if isinstance(block, LeftOut))
        is_beside, is_below = (attribute(cell, kind) in ON for kind in ("hMerge", "vMerge"))
        if (is_beside or is_below) and text.strip():
            left_out.append(LeftOut(Why.HIDDEN, "text of a covered cell"))
        if is_beside:
            return []
        return [Cell("" if is_below else text, columns(attribute(cell, "gridSpan")))]


def slide(
    number: int, title: str, blocks: Sequence[Block], given: Sequence[Picture], shown: int, *, is_hidden: bool
) -> Iterator[Block]:
    """``given``: the pictures of one that says nothing else, of ``shown`` that it has."""
    yield Place(f"slide {number}{' (hidden)' if is_hidden else ''}", number, title)
    yield from [Heading(2, title)] if title else []
    yield from (*blocks, *given)
    if not title and not given and all(isinstance(block, LeftOut) for block in blocks):
        yield Text(EMPTY)
    if not_read := shown - len(given):
        yield LeftOut(Why.NOT_READ, "picture", not_read)


def placeholder(shape: Element) -> str:
    """What it is meant for: ``title``, ``ftr``; empty if for nothing of the kind."""
    return next((attribute(at, "type") for at in found(shape, "p:ph")), "")


def painted(shapes: Iterable[Element], palette: Palette) -> Iterator[Box | None]:
    """The places of a layout or a master that are filled, or hold a picture."""
    for shape in shapes:
        match shape.tag:
            case "p:pic" | "p:graphicFrame" | "p:grpSp":
                yield Frame().box(child(shape, _properties(shape.tag), "a:xfrm"))
            case "p:sp":
                fill = palette.background(child(shape, "p:spPr"))
                styled = child(shape, "p:style", "a:fillRef")
                if fill not in {None, WHITE} or (attribute(styled, "idx") not in {"", "0"}):
                    yield Frame().box(child(shape, "p:spPr", "a:xfrm"))


def _properties(tag: str) -> str:
    return {"p:grpSp": "p:grpSpPr"}.get(tag, "p:spPr")


def _description(about: Element | None) -> str:
    return " ".join((attribute(about, "descr") or attribute(about, "title")).split())


def _pair(element: Element | None, first: str, second: str) -> tuple[float, float] | None:
    try:
        return (float(attribute(element, first)), float(attribute(element, second))) if element is not None else None
    except ValueError:
        return None


def _overlap(one: Box | None, other: Box | None) -> bool:
    """What lies nobody knows where may lie behind anything."""
    if one is None or other is None:
        return True
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
