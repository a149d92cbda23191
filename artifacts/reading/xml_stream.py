"""XML of documents, piece by piece. Entities are not looked up anywhere, and expat refuses those that grow."""

import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from xml.etree.ElementTree import Element, ParseError, fromstring, iterparse

from artifacts.reading.archives import Archive, readable
from artifacts.reading.problems import FileProblem

SMALL_BYTES = 32 * 2**20
"""Of a member that is read as a whole."""

NAMES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "rel": "http://schemas.openxmlformats.org/package/2006/relationships",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "wpg": "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
    "p188": "http://schemas.microsoft.com/office/powerpoint/2018/8/main",
    "adec": "http://schemas.microsoft.com/office/drawing/2017/decorative",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "dc": "http://purl.org/dc/elements/1.1/",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "field": "urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0",
    "loext": "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0",
    "math": "http://www.w3.org/1998/Math/MathML",
    "xlink": "http://www.w3.org/1999/xlink",
    "xml": "http://www.w3.org/XML/1998/namespace",
    "opf": "http://www.idpf.org/2007/opf",
    "container": "urn:oasis:names:tc:opendocument:xmlns:container",
} | {
    room: f"urn:oasis:names:tc:opendocument:xmlns:{room}:1.0"
    for room in ("office", "text", "table", "presentation", "style", "form", "chart")
}
STRICT = {
    address.replace("schemas.openxmlformats.org", "purl.oclc.org/ooxml").replace("/2006/", "/"): short
    for short, address in NAMES.items()
    if "openxmlformats" in address
}
"""What Office writes if it is told to keep to the standard."""
OTHER = {"http://openoffice.org/2009/office": "office"}
"""Where LibreOffice puts what the standard has no place for."""
SHORT = {address: short for short, address in NAMES.items()} | STRICT | OTHER
READ = {
    *("w:t", "w:sym", "a:t", "m:t", "w:txbxContent", "a:txBody", "p:txBody", "w:drawing", "w:pict", "w:object"),
    *("p:sp", "p:pic", "p:graphicFrame", "p:grpSp", "c:chart", "cx:chart", "dgm:relIds", "pic:pic"),
}
"""What of an alternative is worth reading."""
ON = {"", "1", "true", "on"}
VALUES = ("w:val", "val", "w14:val", "m:val")


@lru_cache(maxsize=10_000)
def name(tag: str) -> str:
    """``w:p`` for a tag or an attribute as the parser has it."""
    address, _, local = tag[1:].partition("}") if tag.startswith("{") else ("", "", tag)
    short = SHORT.get(address, "")
    return f"{short}:{local}" if short else local


def shortened(element: Element) -> Element:
    """The same, with short names for all that is within and for its attributes."""
    for each in element.iter():
        each.tag = name(each.tag)
        if each.keys():
            each.attrib = {name(key): text for key, text in each.items()}
    return element


def attribute(element: Element | None, wanted: str) -> str:
    """By its short name; empty if it has none, or there is no such element."""
    return element.get(wanted, "") if element is not None else ""


def whole_number(text: str, otherwise: int = 0) -> int:
    """A whole number from 0; ``otherwise`` where it is none, or too large to mean anything."""
    return int(text) if text.isdecimal() and len(text) < 10 else otherwise


def children_named(element: Element | None, *wanted: str) -> Iterator[Element]:
    """Those right within."""
    return (inner for inner in inside(element) if inner.tag in wanted)


def inside(element: Element | None) -> Iterator[Element]:
    """All that is right within."""
    return iter(element if element is not None else ())


def child(element: Element | None, *path: str) -> Element | None:
    """The first one right within, and within that, by their short names."""
    for wanted in path:
        element = element.find(wanted) if element is not None else None
    return element


def is_on(parent: Element | None, wanted: str) -> bool | None:
    """A switch of Office right within; ``None`` where it is not there."""
    switch = child(parent, wanted)
    return None if switch is None else value(switch) in ON


def value(element: Element | None) -> str:
    """Of an element of Word or DrawingML that has a ``val``."""
    if element is None:
        return ""
    return next((text for key in VALUES if (text := element.get(key)) is not None), "")


def alternative(element: Element) -> Element | None:
    """Of an ``mc:AlternateContent`` the one that is read: the newest that has something to read."""
    choices = list(children_named(element, "mc:Choice", "mc:Fallback"))
    with_text = (choice for choice in choices if any(inner.tag in READ for inner in choice.iter()))
    return next(with_text, choices[0] if choices else None)


@contextmanager
def well_formed() -> Iterator[None]:
    """Raises ``FileProblem`` where it is not."""
    try:
        yield
    except ParseError as error:
        message = f"The file is damaged: {error}. Open it where it was made and save it again."
        raise FileProblem("damaged", message) from error


def children(archive: Archive, member: str, parents: set[str]) -> Iterator[Element]:
    """The elements right within one of the parents, each whole, and let go of once the next one is asked for."""
    path: list[Element] = []
    inside = 0
    with archive.open(member) as file, readable(), well_formed():
        for event, element in iterparse(file, ("start", "end")):  # noqa: S314  # see above
            if event == "start":
                path.append(element)
                inside += name(element.tag) in parents
                continue
            path.pop()
            inside -= name(element.tag) in parents
            if path and name(path[-1].tag) in parents:
                yield shortened(element)
                element.clear()
                path[-1].remove(element)
            elif not inside:
                element.clear()


def tree(archive: Archive, member: str) -> Element:
    """A small member as a whole. Raises ``FileProblem`` and ``ParseError``."""
    return shortened(fromstring(archive.read(member, at_most=SMALL_BYTES)))  # noqa: S314  # see above


def whole(archive: Archive, member: str) -> Element | None:
    """A small member; ``None`` where it is missing or damaged."""
    try:
        return tree(archive, member) if member else None
    except (FileProblem, ParseError):
        return None


def document_title(archive: Archive, member: str) -> str:
    """As the member with what is said of the document has it; may be empty."""
    return next((title.text or "" for title in found(whole(archive, member), "dc:title")), "")


def found(element: Element | None, wanted: str) -> Iterator[Element]:
    """All elements of that short name within, in their order."""
    return element.iter(wanted) if element is not None else iter(())


def first(element: Element | None, wanted: str) -> Element | None:
    """The first of them, if there is any."""
    return next(found(element, wanted), None)


def relations(archive: Archive, member: str) -> dict[str, tuple[str, str]]:
    """Of a member of an Office file: kind and place in the archive by id. What lies elsewhere is not among them."""
    folder, file = posixpath.split(member)
    place = posixpath.join(folder, "_rels", f"{file}.rels")
    if place not in archive.names:
        return {}
    return {
        relation.get("Id", ""): (
            relation.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/"),
        )
        for relation in inside(whole(archive, place))
        if relation.get("TargetMode") != "External"
    }


def main_member(archive: Archive, otherwise: str) -> str:
    """Of an Office file: where its document begins."""
    places = relations(archive, "").values()
    return next((place for kind, place in places if kind == "officeDocument"), otherwise)
