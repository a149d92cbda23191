"""PowerPoint: each slide with its title, text, tables, charts, notes and comments."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.archives import Archive, open_archive
from artifacts.reading.blocks import Block, LeftOut, Place, Text, Title, Why
from artifacts.reading.office.drawing_text import Palette, paragraphs
from artifacts.reading.office.letters import UNKNOWN
from artifacts.reading.office.runs import WHITE, bounded
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.slides.shapes import ON_EACH, Box, Canvas, Shapes, painted, placeholder, slide
from artifacts.reading.xml_stream import (
    attribute,
    child,
    children_named,
    document_title,
    first,
    found,
    inside,
    main_member,
    relations,
    tree,
    whole,
)

MOST_PICTURES = 3
"""Of a slide without text, the largest."""
COLOURS = {"bg1": "lt1", "tx1": "dk1", "bg2": "lt2", "tx2": "dk2"}
OFF = {"0", "false"}


@dataclass(frozen=True)
class _Ground:
    """What a layout or a master puts behind each of its slides."""

    palette: Palette = field(default_factory=Palette)
    background: str | None = None
    painted: tuple[Box | None, ...] = ()
    text: str = ""


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """The slides. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        yield from slides(archive, pictures)


def slides(archive: Archive, pictures: PictureFolder) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    member = main_member(archive, "ppt/presentation.xml")
    root = tree(archive, member)
    related = relations(archive, member)
    deck = _Deck(archive, pictures, root, related)
    listed = [attribute(slide, "r:id") for slide in found(root, "p:sldId")]
    yield Title(document_title(archive, "docProps/core.xml"), total=len(listed))
    for number, slide_id in enumerate(listed, 1):
        _, place = related.get(slide_id, ("", ""))
        yield from deck.slide(number, place)


class _Deck:
    def __init__(
        self, archive: Archive, pictures: PictureFolder, root: Element, related: dict[str, tuple[str, str]]
    ) -> None:
        self._archive = archive
        self._pictures = pictures
        size = child(root, "p:sldSz")
        self._width, self._height = (_number(size, side) for side in ("cx", "cy"))
        self._authors = dict(self._named_authors(related))
        self._grounds: dict[str, _Ground] = {}
        self._given: set[str] = set()
        """What stands on each slide, and was given once."""

    def slide(self, number: int, place: str) -> Iterator[Block]:
        root = whole(self._archive, place)
        if root is None:
            yield Place(f"slide {number}", number)
            yield Text("(This slide can't be read: it is damaged.)")
            yield LeftOut(Why.DAMAGED, "slide")
            return
        related = relations(self._archive, place)
        ground = self._ground_of(related)
        palette = ground.palette
        own = _background(root, palette)
        canvas = Canvas(palette, own or ground.background or WHITE, self._width, self._height, [*ground.painted])
        shapes = Shapes(self._archive, related, canvas)
        blocks = bounded(shapes.blocks(child(root, "p:cSld", "p:spTree")), "drawing")
        title = " ".join(" ".join(shapes.titles).split())
        is_hidden = attribute(root, "show") in OFF
        on_each = [*shapes.on_each, ground.text if attribute(root, "showMasterSp") not in OFF else ""]
        blocks += [*self._on_each(on_each), *self._notes(related), *self._comments(related)]
        shown = (
            sorted(shapes.pictures, key=lambda picture: -picture.size) if not title and _has_no_words(blocks) else []
        )
        saved = self._pictures.save_members(self._archive, (picture.place for picture in shown), f"slide-{number}")
        given = [picture for _, picture in islice(saved, MOST_PICTURES)]
        yield from slide(number, title, blocks, given, len(shapes.pictures), is_hidden=is_hidden)

    def _on_each(self, texts: list[str]) -> Iterator[Block]:
        for text in texts:
            if text and text not in self._given:
                self._given.add(text)
                yield Text(f"(On each slide: {text})")

    def _notes(self, related: dict[str, tuple[str, str]]) -> Iterator[Block]:
        for kind, place in related.values():
            if kind != "notesSlide" or place not in self._archive.names:
                continue
            root = whole(self._archive, place)
            if root is None:
                yield LeftOut(Why.DAMAGED, "page of notes")
                continue
            shapes = [shape for shape in found(root, "p:sp") if placeholder(shape) not in ON_EACH]
            texts = [text for shape in shapes for text in paragraphs(child(shape, "p:txBody"), Palette(), WHITE)]
            if text := "\n".join(text for text in texts if isinstance(text, str)):
                yield Text(f"Notes: {text}")
            yield from (block for block in texts if isinstance(block, LeftOut))

    def _comments(self, related: dict[str, tuple[str, str]]) -> Iterator[Block]:
        for kind, place in related.values():
            root = whole(self._archive, place) if kind == "comments" else None
            for comment in root.iter() if root is not None else ():
                match comment.tag:
                    case "p:cm":
                        text = " ".join(at.text or "" for at in children_named(comment, "p:text"))
                    case "p188:cm" | "p188:reply":
                        body = child(comment, "p188:txBody")
                        text = " ".join(at for at in paragraphs(body, Palette(), UNKNOWN) if isinstance(at, str))
                    case _:
                        continue
                if text := " ".join(text.split()):
                    yield Text(marks.comment(text, self._authors.get(attribute(comment, "authorId"), "")))

    def _named_authors(self, related: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
        for kind, place in related.values():
            root = whole(self._archive, place) if kind in {"commentAuthors", "authors"} else None
            for author in inside(root):
                yield attribute(author, "id"), " ".join(attribute(author, "name").split())

    def _ground_of(self, related: dict[str, tuple[str, str]]) -> _Ground:
        """Of the layout of a slide, over that of its master."""
        layout = next((place for kind, place in related.values() if kind == "slideLayout"), "")
        if layout not in self._grounds:
            self._grounds[layout] = self._read_ground(layout)
        return self._grounds[layout]

    def _read_ground(self, layout: str) -> _Ground:
        root, related = whole(self._archive, layout), relations(self._archive, layout)
        place = next((place for kind, place in related.values() if kind == "slideMaster"), "")
        master, below = whole(self._archive, place), relations(self._archive, place)
        theme = next((target for kind, target in below.values() if kind == "theme"), "")
        palette = _palette(master, whole(self._archive, theme))
        backgrounds = [_background(each, palette) for each in (root, master)]
        is_over = root is None or attribute(root, "showMasterSp") not in OFF
        shown = [each for each in (root, master if is_over else None) if each is not None]
        trees = [tree for each in shown if (tree := child(each, "p:cSld", "p:spTree")) is not None]
        texts = [text for tree in trees for text in _fixed_texts(tree, palette)]
        boxes = [box for tree in trees for box in painted(tree, palette)]
        background = next((colour for colour in backgrounds if colour), None)
        return _Ground(palette, background, tuple(boxes), "; ".join(dict.fromkeys(texts)))


def _has_no_words(blocks: list[Block]) -> bool:
    texts = [block.markdown for block in blocks if isinstance(block, Text)]
    return len(texts) == sum(not isinstance(block, LeftOut) for block in blocks) and all(
        text.startswith(("(picture", "(On each slide")) for text in texts
    )


def _fixed_texts(tree: Element, palette: Palette) -> Iterator[str]:
    """What a layout says on all its slides; in its placeholders stands what is to be filled in."""
    for shape in children_named(tree, "p:sp"):
        about = first(shape, "p:cNvPr")
        is_hidden = attribute(about, "hidden") in {"1", "true"}
        if first(shape, "p:ph") is None and not is_hidden:
            texts = paragraphs(child(shape, "p:txBody"), palette, UNKNOWN)
            yield from (" ".join(text.split()) for text in texts if isinstance(text, str))


def _palette(master: Element | None, theme: Element | None) -> Palette:
    scheme = child(theme, "a:themeElements", "a:clrScheme")
    plain = Palette()
    colours = {colour.tag.removeprefix("a:"): plain.colour(colour) for colour in inside(scheme)}
    mapped = child(master, "p:clrMap")
    names = {alias: attribute(mapped, alias) if mapped is not None else usual for alias, usual in COLOURS.items()}
    return Palette({**colours, **{alias: colours[own] for alias, own in names.items() if own in colours}})


def _background(root: Element | None, palette: Palette) -> str | None:
    """Of a slide, a layout or a master; ``None`` where it has none of its own."""
    background = child(root, "p:cSld", "p:bg")
    if background is None:
        return None
    referred = child(background, "p:bgRef")
    if referred is not None:
        return palette.colour(referred) if attribute(referred, "idx") == "1001" else UNKNOWN
    return palette.background(child(background, "p:bgPr")) or UNKNOWN


def _number(element: Element | None, wanted: str) -> float:
    text = attribute(element, wanted)
    return float(text) if text.isdecimal() and len(text) < 15 else 0
