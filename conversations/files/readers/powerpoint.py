"""PowerPoint: each slide with its title, text, tables and notes."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from conversations.files.archives import Archive
from conversations.files.blocks import Block, Heading, Place, Text, Title, table
from conversations.files.xml_stream import attribute, found, main_member, name, relations, tree

TITLES = {"title", "ctrTitle"}
NOT_READ = {"sldNum", "dt", "ftr", "hdr", "sldImg"}
"""What stands on every slide: its number, the day, the picture of the slide above its notes."""


def slides(archive: Archive) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    member = main_member(archive, "ppt/presentation.xml")
    related = relations(archive, member)
    places = [
        related[slide_id][1]
        for slide in found(tree(archive, member), "p:sldId")
        if (slide_id := attribute(slide, "r:id")) in related
    ]
    yield Title(total=len(places))
    for number, place in enumerate(places, 1):
        slide = tree(archive, place)
        titles = [" ".join(_paragraphs(shape)) for shape in found(slide, "p:sp") if _role(shape) in TITLES]
        title = " ".join(" ".join(titles).split())
        hidden = " (hidden)" if slide.get("show") == "0" else ""
        yield Place(f"slide {number}{hidden}", number, title)
        blocks: list[Block] = [Heading(2, title)] if title else []
        blocks += [*_blocks(slide), *_notes(archive, place)]
        yield from blocks or [Text("(No text stands on this slide.)")]


def _blocks(element: Element) -> Iterator[Block]:
    for inner in element:
        match name(inner.tag):
            case "p:sp":
                if _role(inner) not in TITLES | NOT_READ and (text := "\n".join(_paragraphs(inner))):
                    yield Text(text)
            case "p:graphicFrame":
                yield from _frame(inner)
            case "p:pic":
                described = next((attribute(at, "descr") for at in found(inner, "p:cNvPr")), "")
                if described:
                    yield Text(f"(picture: {described})")
            case "mc:Fallback":
                pass
            case _:
                yield from _blocks(inner)


def _frame(element: Element) -> Iterator[Block]:
    rows = [[" ".join(_paragraphs(cell)) for cell in found(row, "a:tc")] for row in found(element, "a:tr")]
    if rows:
        yield from table(enumerate(rows, 1))
    else:
        described = next((attribute(at, "descr") or attribute(at, "name") for at in found(element, "p:cNvPr")), "")
        yield Text(f"(chart or drawing, which is not read: {described})")


def _paragraphs(element: Element) -> Iterator[str]:
    for paragraph in found(element, "a:p"):
        depth = next((attribute(at, "lvl") for at in paragraph if name(at.tag) == "a:pPr"), "")
        words = (
            "\n" if name(inner.tag) == "a:br" else inner.text or ""
            for inner in paragraph.iter()
            if name(inner.tag) in {"a:t", "a:br"}
        )
        if text := "".join(words).strip():
            yield f"{'  ' * int(depth)}- {text}" if depth in set("123456789") else text


def _role(shape: Element) -> str:
    return next((attribute(at, "type") for at in found(shape, "p:ph")), "")


def _notes(archive: Archive, slide: str) -> Iterator[Block]:
    for kind, place in relations(archive, slide).values():
        if kind == "notesSlide" and place in archive.names:
            shapes = found(tree(archive, place), "p:sp")
            text = "\n".join(line for shape in shapes if _role(shape) not in NOT_READ for line in _paragraphs(shape))
            if text:
                yield Text(f"Notes: {text}")
