"""OpenDocument: texts by their headings, slides one by one with their notes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from conversations.files.archives import ENCRYPTED, Archive, open_archive
from conversations.files.blocks import Block, Heading, Place, Text, Title, table
from conversations.files.xml_stream import attribute, children, found, name, tree

LEFT_OUT = {
    "text:tracked-changes",
    "text:sequence-decls",
    "office:forms",
    "text:variable-decls",
    "text:user-field-decls",
}
NOT_READ = {"page-number", "date-time", "footer", "header", "page"}
MOST_REPEATED = 64
"""Times that one cell is repeated; sheets of all columns are made so."""
DEEPEST = 9


def is_encrypted(archive: Archive) -> bool:
    manifest = "META-INF/manifest.xml"
    return manifest in archive.names and b"encryption-data" in archive.read(manifest)


def read_either(
    path: Path,
    of_open_xml: Callable[[Archive], Iterator[Block]],
    of_open_document: Callable[[Archive], Iterator[Block]],
) -> Iterator[Block]:
    """What stands in a file of either kind, by the reader for its kind. Raises ``FileProblem``."""
    with open_archive(path) as archive:
        if "content.xml" not in archive.names:
            yield from of_open_xml(archive)
            return
        if is_encrypted(archive):
            raise ENCRYPTED
        yield from of_open_document(archive)


def document(archive: Archive) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    yield Title(_title(archive))
    for element in children(archive, "content.xml", {"office:text"}):
        yield from _blocks(element)


def slides(archive: Archive) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    yield Title(_title(archive))
    pages = (
        page
        for page in children(archive, "content.xml", {"office:presentation", "office:drawing"})
        if name(page.tag) == "draw:page"
    )
    for number, page in enumerate(pages, 1):
        shapes = [shape for shape in page if attribute(shape, "presentation:class") not in NOT_READ]
        titles = [shape for shape in shapes if attribute(shape, "presentation:class") == "title"]
        title = " ".join(word for shape in titles for line in found(shape, "text:p") for word in _inline(line).split())
        yield Place(f"slide {number}", number, title)
        blocks: list[Block] = [Heading(2, title)] if title else []
        for shape in shapes:
            if shape not in titles and name(shape.tag) != "presentation:notes":
                blocks += _blocks(shape)
        notes = [shape for shape in shapes if name(shape.tag) == "presentation:notes"]
        lines = [
            _inline(line)
            for note in notes
            for frame in found(note, "draw:frame")
            if attribute(frame, "presentation:class") not in NOT_READ
            for line in found(frame, "text:p")
        ]
        if text := "\n".join(filter(None, lines)):
            blocks.append(Text(f"Notes: {text}"))
        yield from blocks or [Text("(No text stands on this slide.)")]


def _title(archive: Archive) -> str:
    if "meta.xml" not in archive.names:
        return ""
    return next((title.text or "" for title in found(tree(archive, "meta.xml"), "dc:title")), "")


def _blocks(element: Element, depth: int = 0) -> Iterator[Block]:
    match name(element.tag):
        case "text:h":
            yield from _heading(element)
        case "text:p":
            yield from _paragraph(_inline(element).strip(), depth)
        case "text:list":
            for inner in element:
                yield from _blocks(inner, min(depth + 1, DEEPEST))
        case "table:table":
            yield from table(enumerate(_rows(element), 1))
        case "svg:title" | "svg:desc":
            yield from _paragraph(_picture(element))
        case tag if tag not in LEFT_OUT:
            for inner in element:
                yield from _blocks(inner, depth)


def _heading(element: Element) -> Iterator[Block]:
    level = attribute(element, "text:outline-level")
    if text := " ".join(_inline(element).split()):
        yield Heading(int(level) if level in set("123456789") else 1, text)


def _paragraph(text: str, depth: int = 0) -> Iterator[Block]:
    if text and depth:
        yield Text(f"{'  ' * (depth - 1)}- {text}", is_item=True)
    elif text:
        yield Text(text)


def _inline(element: Element) -> str:
    return "".join(_words(element))


def _words(element: Element) -> Iterator[str]:
    yield element.text or ""
    for inner in element:
        tag = name(inner.tag)
        if tag in SHOWN:
            yield SHOWN[tag](inner)
        elif tag not in LEFT_OUT:
            yield from _words(inner)
        yield inner.tail or ""


def _spaces(element: Element) -> str:
    times = attribute(element, "text:c")
    return " " * (min(int(times), 80) if times.isdigit() else 1)


def _picture(element: Element) -> str:
    return f"(picture: {element.text})" if element.text else ""


def _comment(element: Element) -> str:
    author = next((inner.text or "" for inner in element if name(inner.tag) == "dc:creator"), "")
    text = " ".join(" ".join(_inline(line).split()) for line in found(element, "text:p"))
    return f" [{author}: {text}]" if author else f" [comment: {text}]"


SHOWN: dict[str, Callable[[Element], str]] = {
    "text:s": _spaces,
    "text:tab": lambda _: "\t",
    "text:line-break": lambda _: "\n",
    "text:note-citation": lambda _: "",
    "text:note": lambda note: f" [note: {' '.join(_inline(note).split())}]",
    "office:annotation": _comment,
    "svg:title": _picture,
    "svg:desc": _picture,
    "text:p": lambda paragraph: f" {_inline(paragraph)} ",
    "text:h": lambda heading: f" {_inline(heading)} ",
}


def _rows(element: Element) -> Iterator[list[str]]:
    for inner in element:
        if name(inner.tag) == "table:table-row":
            yield [text for cell in inner for text in _cell(cell)]
        elif name(inner.tag).startswith("table:"):
            yield from _rows(inner)


def _cell(cell: Element) -> list[str]:
    times = attribute(cell, "table:number-columns-repeated")
    repeated = min(int(times), MOST_REPEATED) if times.isdigit() else 1
    return [" ".join(_inline(line).strip() for line in found(cell, "text:p"))] * repeated
