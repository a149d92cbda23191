"""XML of documents, piece by piece. Entities are not looked up anywhere, and expat refuses those that grow."""

import posixpath
from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring, iterparse

from conversations.files.archives import Archive, readable

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
    "dc": "http://purl.org/dc/elements/1.1/",
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "presentation": "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "opf": "http://www.idpf.org/2007/opf",
    "container": "urn:oasis:names:tc:opendocument:xmlns:container",
}
STRICT = {
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://purl.oclc.org/ooxml/presentationml/main": "p",
    "http://purl.oclc.org/ooxml/officeDocument/relationships": "r",
}
"""What Office writes if it is told to keep to the standard."""
SHORT = {address: short for short, address in NAMES.items()} | STRICT


def name(tag: str) -> str:
    """``w:p`` for a tag or an attribute as the parser has it."""
    address, _, local = tag[1:].partition("}") if tag.startswith("{") else ("", "", tag)
    short = SHORT.get(address, "")
    return f"{short}:{local}" if short else local


def attribute(element: Element, wanted: str) -> str:
    """By its short name; empty if it has none."""
    return next((value for key, value in element.items() if name(key) == wanted), "")


def children(archive: Archive, member: str, parents: set[str]) -> Iterator[Element]:
    """The elements right within one of the parents, each whole, and let go of once the next one is asked for."""
    path: list[Element] = []
    inside = 0
    with archive.open(member) as file, readable():
        for event, element in iterparse(file, ("start", "end")):  # noqa: S314  # see above
            if event == "start":
                path.append(element)
                inside += name(element.tag) in parents
                continue
            path.pop()
            inside -= name(element.tag) in parents
            if path and name(path[-1].tag) in parents:
                yield element
                element.clear()
                path[-1].remove(element)
            elif not inside:
                element.clear()


def tree(archive: Archive, member: str) -> Element:
    """A small member as a whole."""
    return fromstring(archive.read(member, at_most=SMALL_BYTES))  # noqa: S314  # see above


def found(element: Element, wanted: str) -> Iterator[Element]:
    """All elements of that short name within, in their order."""
    return (inner for inner in element.iter() if name(inner.tag) == wanted)


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
        for relation in tree(archive, place)
        if relation.get("TargetMode") != "External"
    }


def main_member(archive: Archive, otherwise: str) -> str:
    """Of an Office file: where its document begins."""
    places = relations(archive, "").values()
    return next((place for kind, place in places if kind == "officeDocument"), otherwise)
