"""OpenDocument: texts by their headings, slides one by one with their notes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from artifacts.reading.archives import ENCRYPTED, Archive, open_archive
from artifacts.reading.blocks import Block, LeftOut, Text, Title, Why
from artifacts.reading.office.beside import once, pictures_alone, under
from artifacts.reading.office.drawing_text import Palette
from artifacts.reading.office.letters import UNKNOWN
from artifacts.reading.office.runs import WHITE, bounded, plain
from artifacts.reading.opendocument import ods
from artifacts.reading.opendocument.story import Document, Story
from artifacts.reading.opendocument.styles import Styles
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.slides.shapes import Box, Canvas, slide
from artifacts.reading.xml_stream import (
    attribute,
    child,
    children,
    children_named,
    document_title,
    found,
    inside,
    whole,
)

NOT_READ = {"page-number", "date-time", "footer", "header", "page"}
"""What stands on every slide."""
SLIDES = {"odp", "otp", "odg", "otg"}
UNITS = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}
STYLES = ("office:font-face-decls", "office:automatic-styles")
USUAL_PAGE = "Standard"
HEADERS = [f"style:{kind}{pages}" for kind in ("header", "footer") for pages in ("", "-first", "-left")]


def is_encrypted(archive: Archive) -> bool:
    manifest = "META-INF/manifest.xml"
    return manifest in archive.names and b"encryption-data" in archive.read(manifest)


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """A text, slides or sheets. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        if is_encrypted(archive):
            raise ENCRYPTED
        if extension in {"ods", "ots"}:
            yield from ods.sheets(archive)
        else:
            yield from (slides if extension in SLIDES else document)(archive, pictures)


def document(archive: Archive, pictures: PictureFolder) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    yield Title(document_title(archive, "meta.xml"))
    pages = _Pages(archive)
    styles = Styles(pages.styles)
    shared = Document(archive, styles)
    story = Story(shared)
    yield from pages.damaged()
    for element in children(archive, "content.xml", {*STYLES, "office:text"}):
        if element.tag.startswith(("style:", "text:list-style", "number:")):
            styles.add(element)
        else:
            yield from story.blocks(element)
    yield from under("Headers and footers", once(pages.above_and_below(shared, styles.master_pages)))
    yield from pictures_alone(archive, shared.pictures, shared.shown_pictures, shared.letters, pictures)


class _Pages:
    """Of ``styles.xml``: the styles that all share, and what pages and slides have in common."""

    def __init__(self, archive: Archive) -> None:
        self._is_damaged = "styles.xml" in archive.names
        self.styles = Styles()
        self.own = Styles(self.styles)
        """Of the pages themselves."""
        self.layouts: dict[str, tuple[float, float]] = {}
        """Width and height in centimetres, by their names."""
        self.masters: dict[str, Element] = {}
        self.hidden_layers: set[str] = set()
        root = whole(archive, "styles.xml")
        if root is None:
            return
        self._is_damaged = False
        for element in (*inside(child(root, "office:font-face-decls")), *inside(child(root, "office:styles"))):
            self.styles.add(element)
        for element in inside(child(root, "office:automatic-styles")):
            self.own.add(element)
        for layout in found(root, "style:page-layout"):
            size = child(layout, "style:page-layout-properties")
            sides = [_length(size, f"fo:page-{side}") or 0.0 for side in ("width", "height")]
            self.layouts[attribute(layout, "style:name")] = sides[0], sides[1]
        self.masters = {attribute(master, "style:name"): master for master in found(root, "style:master-page")}
        layers = (
            layer for layer in found(root, "draw:layer") if attribute(layer, "draw:display") in {"none", "printer"}
        )
        self.hidden_layers = {attribute(layer, "draw:name") for layer in layers}

    def damaged(self) -> Iterator[LeftOut]:
        if self._is_damaged:
            yield LeftOut(Why.DAMAGED, "table of styles")

    def above_and_below(self, shared: Document, named: set[str]) -> Iterator[Block]:
        """Of the pages that the text has."""
        used = [USUAL_PAGE, *sorted(named)]
        for page in used:
            master = self.masters.get(page)
            following = attribute(master, "style:next-style-name")
            used += [following] if following and following not in used else []
        story = Story(Document(shared.archive, self.own))
        for page in dict.fromkeys(used):
            for part in children_named(self.masters.get(page), *HEADERS):
                if attribute(part, "style:display") != "false":
                    yield from (block for inner in part for block in story.blocks(inner))


def slides(archive: Archive, pictures: PictureFolder) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    yield Title(document_title(archive, "meta.xml"))
    pages = _Pages(archive)
    yield from pages.damaged()
    deck = _Deck(archive, pages, pictures)
    number = 0
    for element in children(archive, "content.xml", {*STYLES, "office:presentation", "office:drawing"}):
        match element.tag:
            case "draw:page":
                number += 1
                yield from deck.slide(number, element)
            case "presentation:footer-decl" | "presentation:header-decl":
                deck.declared[attribute(element, "presentation:name")] = " ".join("".join(element.itertext()).split())
            case _:
                deck.styles.add(element)


@dataclass
class _Deck:
    archive: Archive
    pages: _Pages
    pictures: PictureFolder
    declared: dict[str, str] = field(default_factory=dict)
    """Footers by their names."""
    given: set[str] = field(default_factory=set)
    """What stands on each slide, and was given once."""

    def __post_init__(self) -> None:
        self.styles = Styles(self.pages.styles)

    def slide(self, number: int, page: Element) -> Iterator[Block]:
        shared = Document(self.archive, self.styles, hidden_layers=self.pages.hidden_layers, is_drawn=True)
        story = Story(shared)
        master = self.pages.masters.get(attribute(page, "draw:master-page-name"))
        canvas = self._canvas(page, master)
        shapes = [shape for shape in page if attribute(shape, "presentation:class") not in NOT_READ]
        is_hidden = self.styles.style("drawing-page", attribute(page, "draw:style-name")).is_hidden
        titles, blocks = self._shapes(story, canvas, shapes)
        notes = bounded(self._notes(story, shapes), "page of notes")
        title = " ".join(" ".join(titles).split())
        on_each = [*self._on_each(page, master)]
        has_words = bool(title) or shared.letters
        places = [] if has_words else shared.pictures
        given = [picture for _, picture in self.pictures.save_members(self.archive, places, f"slide-{number}")]
        yield from slide(number, title, [*blocks, *on_each, *notes], given, shared.shown_pictures, is_hidden=is_hidden)

    def _shapes(self, story: Story, canvas: Canvas, shapes: list[Element]) -> tuple[list[str], list[Block]]:
        titles: list[str] = []
        blocks: list[Block] = []
        for shape in _flattened(shapes):
            box = _box(shape)
            if canvas.is_outside(box):
                blocks.append(LeftOut(Why.HIDDEN, "shape outside of the slide"))
                continue
            fill = self._fill(shape)
            inner = list(story.blocks(shape, fill or canvas.behind(box)))
            if fill or child(shape, "draw:image") is not None:
                canvas.paint(box)
            if attribute(shape, "presentation:class") == "title":
                titles.append(plain(inner))
                inner = [block for block in inner if isinstance(block, LeftOut)]
            blocks += inner
        return titles, blocks

    def _fill(self, shape: Element) -> str | None:
        """``None`` where one sees through."""
        for family, key in (("presentation", "presentation:style-name"), ("graphic", "draw:style-name")):
            if style_name := attribute(shape, key):
                return self.styles.style(family, style_name).background
        return None

    def _canvas(self, page: Element, master: Element | None) -> Canvas:
        own = self.styles.style("drawing-page", attribute(page, "draw:style-name")).background
        below, size, painted = None, (0.0, 0.0), list[Box | None]()
        if master is not None:
            below = self.pages.own.style("drawing-page", attribute(master, "draw:style-name")).background
            size = self.pages.layouts.get(attribute(master, "style:page-layout-name"), size)
            pictures = (shape for shape in master if child(shape, "draw:image") is not None)
            painted = [
                _box(shape)
                for shape in (*pictures, *children_named(master, "draw:custom-shape", "draw:rect", "draw:g"))
            ]
        return Canvas(Palette(), own or below or WHITE, *size, painted)

    def _on_each(self, page: Element, master: Element | None) -> Iterator[Text]:
        """Footers, and what the design of the slides says, once."""
        footers = [attribute(page, f"presentation:use-{kind}-name") for kind in ("header", "footer")]
        fixed = [shape for shape in inside(master) if not attribute(shape, "presentation:class")]
        story = Story(Document(self.archive, self.pages.own))
        texts = [plain(bounded(story.blocks(at, UNKNOWN), "shape")) for at in fixed if at.tag.startswith("draw:")]
        for text in [*(self.declared.get(footer, "") for footer in footers), *texts]:
            if text and text not in self.given and not text.startswith("(picture"):
                self.given.add(text)
                yield Text(f"(On each slide: {text})")

    def _notes(self, story: Story, shapes: Iterable[Element]) -> Iterator[Block]:
        for notes in (shape for shape in shapes if shape.tag == "presentation:notes"):
            frames = [
                frame for frame in found(notes, "draw:frame") if attribute(frame, "presentation:class") not in NOT_READ
            ]
            blocks = [block for frame in frames for block in story.blocks(frame, WHITE)]
            if text := plain(blocks):
                yield Text(f"Notes: {text}")
            yield from (block for block in blocks if isinstance(block, LeftOut))


def _flattened(shapes: Iterable[Element]) -> Iterator[Element]:
    """Groups, of any depth, as their shapes, which have places on the slide of their own. Without notes."""
    waiting = [*shapes][::-1]
    while waiting:
        shape = waiting.pop()
        if shape.tag in {"draw:g", "draw:a"} and attribute(shape, "draw:layer") == "":
            waiting += [*shape][::-1]
        elif shape.tag not in {"presentation:notes", "svg:title", "svg:desc"}:
            yield shape


def _box(shape: Element) -> Box | None:
    sides = [_length(shape, f"svg:{side}") for side in ("x", "y", "width", "height")]
    left, top, width, height = sides
    if left is None or top is None:
        return None
    return left, top, left + (width or 0), top + (height or 0)


def _length(element: Element | None, wanted: str) -> float | None:
    """In centimetres."""
    text = attribute(element, wanted)
    try:
        return float(text[:-2]) * UNITS[text[-2:]]
    except (ValueError, KeyError):
        return None
