"""Word: the body with its headings, lists and tables; then notes, comments, headers and footers."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.archives import Archive, open_archive
from artifacts.reading.blocks import Block, LeftOut, Text, Title, Why, unread
from artifacts.reading.office.beside import once, pictures_alone, under
from artifacts.reading.office.letters import UNKNOWN
from artifacts.reading.office.runs import plain
from artifacts.reading.pictures.folder import PictureFolder
from artifacts.reading.problems import FileProblem
from artifacts.reading.word import chunk
from artifacts.reading.word.document import Document, Notes
from artifacts.reading.word.numbering import Numbering
from artifacts.reading.word.story import Story
from artifacts.reading.word.styles import Styles
from artifacts.reading.xml_stream import (
    attribute,
    child,
    children,
    children_named,
    document_title,
    found,
    is_on,
    main_member,
    relations,
    value,
    whole,
)

DEEPEST_INSERTION = 2
Related = dict[str, tuple[str, str]]


def read(path: Path, extension: str, pictures: PictureFolder) -> Iterator[Block]:
    """What stands in the document. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        yield from document(archive, pictures)


def document(archive: Archive, pictures: PictureFolder, depth: int = 0) -> Iterator[Block]:
    """Raises ``FileProblem``. ``depth``: in how many others it was inserted."""
    member = main_member(archive, "word/document.xml")
    related = relations(archive, member)
    members = _Members(archive, related)
    settings = members.root("settings")
    shared = _document(archive, members, settings, pictures, depth)
    pages = _Pages(related, are_facing=bool(is_on(settings, "w:evenAndOddHeaders")))
    yield Title(document_title(archive, "docProps/core.xml"))
    yield from members.damaged()
    story = Story(shared, member)
    for element in children(archive, member, {"w:body", "w:document"}):
        match element.tag:
            case "w:body":
                continue
            case "w:background":
                shared.page_colour = attribute(element, "w:color") or UNKNOWN
                continue
            case "w:sectPr":
                pages.see(element)
        for section in found(element, "w:sectPr"):
            pages.see(section)
        yield from story.blocks(element)
    if not depth:
        yield from _after_body(shared, members, pages)
        yield from pictures_alone(archive, shared.pictures, shared.shown_pictures, shared.letters, pictures)


class _Members:
    """The parts that a document refers to by their kind, of which there is one each."""

    def __init__(self, archive: Archive, related: Related) -> None:
        self._archive = archive
        self._places = dict(related.values())
        self._roots: dict[str, Element | None] = {}

    def place(self, kind: str) -> str:
        return self._places.get(kind, "")

    def root(self, kind: str) -> Element | None:
        """``None`` where it is missing or damaged."""
        if kind not in self._roots:
            self._roots[kind] = whole(self._archive, self.place(kind))
        return self._roots[kind]

    def damaged(self) -> Iterator[LeftOut]:
        for kind, what in DAMAGED_PARTS.items():
            if self.place(kind) in self._archive.names and self.root(kind) is None:
                yield LeftOut(Why.DAMAGED, what)


DAMAGED_PARTS = {
    "styles": "table of styles",
    "numbering": "table of numbering",
    "footnotes": "list of footnotes",
    "endnotes": "list of endnotes",
    "comments": "list of comments",
}


class _Pages:
    """What stands above and below the pages: of each section what it names, and nothing of older versions."""

    def __init__(self, related: Related, *, are_facing: bool) -> None:
        self._related = related
        self._are_facing = are_facing
        self.places: dict[str, None] = {}

    def see(self, section: Element) -> None:
        has_first = bool(is_on(section, "w:titlePg"))
        for reference in children_named(section, "w:headerReference", "w:footerReference"):
            is_used = {"first": has_first, "even": self._are_facing}.get(attribute(reference, "w:type"), True)
            _, place = self._related.get(attribute(reference, "r:id"), ("", ""))
            if is_used and place:
                self.places.setdefault(place)


def _document(
    archive: Archive, members: _Members, settings: Element | None, pictures: PictureFolder, depth: int
) -> Document:
    formats = [
        value(child(settings, f"w:{kind}Pr", "w:numFmt")) or usual
        for kind, usual in (("footnote", "decimal"), ("endnote", "lowerRoman"))
    ]
    shared = Document(
        archive=archive,
        styles=Styles(members.root("styles")),
        numbering=Numbering(members.root("numbering")),
        footnotes=Notes(formats[0]),
        endnotes=Notes(formats[1], prefix="endnote " if formats[0] == formats[1] else ""),
        comments={},
        inserted=partial(_inserted, archive, pictures, depth),
    )
    shared.comments |= _comments(shared, members)
    return shared


def _comments(shared: Document, members: _Members) -> dict[str, str]:
    """By their ids, as they stand behind what they remark on."""
    story = Story(shared, members.place("comments"))
    comments: dict[str, str] = {}
    for comment in children_named(members.root("comments"), "w:comment"):
        text = " ".join(plain(story.blocks(comment)).split())
        if text:
            comments[attribute(comment, "w:id")] = f" {marks.comment(text, attribute(comment, 'w:author'))}"
    return comments


def _after_body(shared: Document, members: _Members, pages: _Pages) -> Iterator[Block]:
    for kind, heading, notes in (
        ("footnotes", "Footnotes", shared.footnotes),
        ("endnotes", "Endnotes", shared.endnotes),
    ):
        yield from under(heading, _notes(shared, members, kind, notes))
    yield from under("Comments", (Text(text.strip()) for text in shared.comments.values()))
    yield from under("Headers and footers", once(_above_and_below(shared, pages)))


def _notes(shared: Document, members: _Members, kind: str, notes: Notes) -> Iterator[Block]:
    """In the order of the text. Nobody sees those that it does not refer to."""
    texts = {}
    story = Story(shared, members.place(kind))
    for note in children_named(members.root(kind), f"w:{kind[:-1]}"):
        if attribute(note, "w:type") in {"", "normal"}:
            blocks = list(story.blocks(note))
            texts[attribute(note, "w:id")] = plain(blocks)
            yield from (block for block in blocks if isinstance(block, LeftOut))
    for note_id, label in notes.labels.items():
        if text := texts.pop(note_id, ""):
            yield Text(f"[^{label}]: {text}")
    unseen = [text for text in texts.values() if text]
    if not shared.is_whole:
        yield from map(Text, unseen)
    elif unseen:
        yield LeftOut(Why.HIDDEN, f"{kind[:-1]} without a number", len(unseen))


def _above_and_below(shared: Document, pages: _Pages) -> Iterator[Block]:
    for place in sorted(pages.places):
        root = whole(shared.archive, place)
        yield from [LeftOut(Why.DAMAGED, "header or footer")] if root is None else Story(shared, place).blocks(root)


def _inserted(archive: Archive, pictures: PictureFolder, depth: int, place: str) -> Iterator[Block]:
    """A file that Word shows in a place of the document: a page, a text, another document."""
    content = chunk.content(archive, place)
    if content is None:
        yield from unread("inserted file", why=Why.DAMAGED)
    elif content.startswith(b"PK") and depth < DEEPEST_INSERTION:
        yield from _inserted_document(content, pictures, depth)
    else:
        yield from chunk.blocks(content, place)


def _inserted_document(content: bytes, pictures: PictureFolder, depth: int) -> Iterator[Block]:
    try:
        with open_archive(content) as inner:
            yield from (block for block in document(inner, pictures, depth + 1) if not isinstance(block, Title))
    except FileProblem:
        yield from unread("inserted document", why=Why.DAMAGED)
