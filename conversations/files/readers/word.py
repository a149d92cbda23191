"""Word: the body with its headings, lists and tables; then notes, comments, headers and footers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from conversations.files.archives import Archive
from conversations.files.blocks import Block, Heading, Text, Title, table
from conversations.files.xml_stream import attribute, children, found, main_member, name, relations, tree

LEFT_OUT = {"w:moveFrom", "w:del", "mc:Fallback", "w:instrText", "w:delText", "w:rPr", "w:pPr", "w:tblPr", "w:sectPr"}
"""What was deleted, what stands twice, and how it looks."""
AFTER_BODY = {
    "footnotes": "Footnotes",
    "endnotes": "Endnotes",
    "comments": "Comments",
    "header": "Headers and footers",
    "footer": "Headers and footers",
}
HEADING_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)


@dataclass(frozen=True)
class _Paragraph:
    text: str
    level: int
    """Of a heading, else 0."""
    depth: int
    """In a list, from 1, else 0."""


def document(archive: Archive) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    member = main_member(archive, "word/document.xml")
    related = relations(archive, member)
    styles = next((place for kind, place in related.values() if kind == "styles"), "")
    levels = _heading_levels(tree(archive, styles)) if styles in archive.names else {}
    yield Title(_title(archive))
    for element in children(archive, member, {"w:body"}):
        yield from _blocks(element, levels)
    yield from _after_body(archive, set(related.values()))


def _after_body(archive: Archive, members: set[tuple[str, str]]) -> Iterator[Block]:
    last = ""
    for kind, heading in AFTER_BODY.items():
        for place in sorted(place for its_kind, place in members if its_kind == kind and place in archive.names):
            for block in _apart(tree(archive, place)):
                if heading != last:
                    yield Heading(1, heading)
                last = heading
                yield block


def _title(archive: Archive) -> str:
    if "docProps/core.xml" not in archive.names:
        return ""
    return next((title.text or "" for title in found(tree(archive, "docProps/core.xml"), "dc:title")), "")


def _heading_levels(styles: Element) -> dict[str, int]:
    """By the id of a style: its level, from 1, its own or that of the style it is based on."""
    own: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in found(styles, "w:style"):
        style_id = attribute(style, "w:styleId")
        for inner in style.iter():
            value = attribute(inner, "w:val")
            match name(inner.tag):
                case "w:name":
                    if heading := HEADING_STYLE.fullmatch(value):
                        own[style_id] = int(heading[1])
                    elif value.lower() == "title":
                        own[style_id] = 1
                case "w:basedOn":
                    based[style_id] = value
                case "w:outlineLvl" if value in set("012345678"):
                    own.setdefault(style_id, int(value) + 1)
    return {style_id: level for style_id in {*own, *based} if (level := _inherited(style_id, own, based))}


def _inherited(style_id: str, own: dict[str, int], based: dict[str, str]) -> int:
    for _ in range(len(based) + 1):
        if style_id in own:
            return own[style_id]
        style_id = based.get(style_id, "")
    return 0


def _blocks(element: Element, levels: dict[str, int]) -> Iterator[Block]:
    match name(element.tag):
        case "w:p":
            paragraph = _paragraph(element, levels)
            if paragraph.level and paragraph.text:
                yield Heading(paragraph.level, " ".join(paragraph.text.split()))
            elif paragraph.depth and paragraph.text:
                yield Text(f"{'  ' * (paragraph.depth - 1)}- {paragraph.text}", is_item=True)
            elif paragraph.text:
                yield Text(paragraph.text)
        case "w:tbl":
            yield from table(enumerate(_rows(element), 1))
        case tag if tag not in LEFT_OUT:
            for inner in element:
                yield from _blocks(inner, levels)


def _paragraph(element: Element, levels: dict[str, int]) -> _Paragraph:
    level = depth = 0
    for inner in (inner for properties in element if name(properties.tag) == "w:pPr" for inner in properties):
        value = attribute(inner, "w:val")
        match name(inner.tag):
            case "w:pStyle":
                level = levels.get(value, 0)
            case "w:outlineLvl" if value in set("012345678"):
                level = int(value) + 1
            case "w:numPr":
                depth = 1 + next((int(attribute(at, "w:val") or 0) for at in inner if name(at.tag) == "w:ilvl"), 0)
    return _Paragraph("".join(_words(element)).strip(), level, min(depth, 9))


def _words(element: Element) -> Iterator[str]:
    for inner in element:
        match name(inner.tag):
            case "w:t":
                yield inner.text or ""
            case "w:tab":
                yield "\t"
            case "w:br" | "w:cr":
                yield "\n"
            case "w:noBreakHyphen":
                yield "-"
            case "w:footnoteReference" | "w:endnoteReference":
                yield f"[^{attribute(inner, 'w:id')}]"
            case "wp:docPr":
                description = attribute(inner, "descr")
                yield f"(picture: {description})" if description else ""
            case "w:p":  # of a text box
                yield " "
                yield from _words(inner)
                yield " "
            case tag if tag not in LEFT_OUT:
                yield from _words(inner)


def _rows(element: Element) -> Iterator[list[str]]:
    for line in element:
        if name(line.tag) == "w:tr":
            yield [text for cell in _cells(line) for text in _cell(cell)]
        elif name(line.tag) not in LEFT_OUT:
            yield from _rows(line)


def _cells(element: Element) -> Iterator[Element]:
    for inner in element:
        if name(inner.tag) == "w:tc":
            yield inner
        elif name(inner.tag) in {"w:sdt", "w:sdtContent", "w:ins", "w:customXml"}:
            yield from _cells(inner)


def _cell(cell: Element) -> list[str]:
    """With an empty one for each further column that it takes."""
    span = next((attribute(inner, "w:val") for inner in found(cell, "w:gridSpan")), "1")
    text = " ".join("".join(_words(paragraph)).strip() for paragraph in found(cell, "w:p"))
    return [text, *[""] * (min(int(span), 64) - 1 if span.isdigit() else 0)]


def _apart(root: Element) -> Iterator[Block]:
    """Notes and comments each with their number, and with who wrote them; of headers and footers the paragraphs."""
    notes = [inner for inner in root if name(inner.tag) in {"w:footnote", "w:endnote", "w:comment"}]
    for note in notes or [root]:
        text = "\n".join(filter(None, ("".join(_words(line)).strip() for line in found(note, "w:p"))))
        author = attribute(note, "w:author")
        mark = f"[^{attribute(note, 'w:id')}]: " if name(note.tag).endswith("note") else f"{author}: " if author else ""
        if text:
            yield Text(f"{mark}{text}")
