"""What lies on the sheets of Excel: text boxes, charts, pictures, and what people noted beside cells."""

from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, LeftOut, Text, Why
from artifacts.reading.sheets.sheet_table import HIDDEN
from artifacts.reading.sheets.xlsx_sheet import position
from artifacts.reading.sheets.xlsx_styles import SharedText, read_text, unescaped
from artifacts.reading.xml_stream import attribute, children_named, first, found, inside, relations, whole

MOST_SERIES = 30
"""Names of series that are given of a chart."""
type Relations = Mapping[str, tuple[str, str]]


def drawing(archive: Archive, member: str) -> Iterator[Block]:
    """What a sheet's drawing shows, in the order of the file."""
    root = whole(archive, member)
    if root is None:
        yield LeftOut(Why.DAMAGED, "drawing")
        return
    links = relations(archive, member)
    yield from _shapes(archive, root, links)


def _shapes(archive: Archive, element: Element, links: Relations) -> Iterator[Block]:
    match element.tag:
        case "mc:AlternateContent":
            yield from _shapes(archive, element[0], links) if len(element) else ()
        case "sp":
            yield from _text_box(element)
        case "pic":
            yield Text(f"(picture: {_description(element)})" if _description(element) else "(picture)")
        case "graphicFrame":
            yield from _graphic(archive, element, links)
        case "contentPart":
            yield Text("(drawing by hand)")
            yield LeftOut(Why.NOT_READ, "drawing by hand")
        case _:
            for inner in element:
                yield from _shapes(archive, inner, links)


def _description(element: Element) -> str:
    about = first(element, "cNvPr")
    return " ".join((attribute(about, "descr") or attribute(about, "title")).split())


def _text_box(element: Element) -> Iterator[Block]:
    lines = [line for body in found(element, "txBody") for line in paragraphs(body) if line.strip()]
    if lines:
        is_hidden = attribute(first(element, "cNvPr"), "hidden") in {"1", "true"}
        yield Text("\n".join([f"{HIDDEN} {lines[0]}" if is_hidden else lines[0], *lines[1:]]))


def paragraphs(body: Element) -> Iterator[str]:
    """Lines of a text that was drawn."""
    for paragraph in found(body, "a:p"):
        shown: list[str] = []
        for run in paragraph:
            text = "".join(each.text or "" for each in found(run, "a:t"))
            properties = first(run, "a:rPr")
            baseline = attribute(properties, "baseline").rstrip("%")
            if baseline not in {"", "0"}:
                text = marks.lowered(text) if baseline.startswith("-") else marks.raised(text)
            if attribute(properties, "strike") not in {"", "noStrike"}:
                text = marks.struck(text)
            shown.append("\n" if run.tag == "a:br" else text)
        yield "".join(shown)


def _graphic(archive: Archive, element: Element, links: Relations) -> Iterator[Block]:
    for tag, key, show in (("c:chart", "r:id", chart), ("cx:chart", "r:id", chart), ("dgm:relIds", "r:dm", _diagram)):
        if place := links.get(attribute(first(element, tag), key)):
            yield from show(archive, place[1])
            return


def _diagram(archive: Archive, member: str) -> Iterator[Block]:
    root = whole(archive, member)
    texts = [line for text in found(root, "dgm:t") for line in paragraphs(text)]
    words = "; ".join(" ".join(text.split()) for text in texts if text.strip())
    yield Text(f"(diagram: {words})" if words else "(diagram, not read)")
    if not words:
        yield LeftOut(Why.NOT_READ, "diagram")


def chart(archive: Archive, member: str) -> Iterator[Block]:
    """Its title, those of its axes, and the names of its series."""
    root = whole(archive, member)
    titles: list[str] = []
    series: list[str] = []
    for element in root.iter() if root is not None else ():
        kind = element.tag.rpartition(":")[2]
        if kind == "title" and (title := _words(element)):
            titles.append(title)
        elif kind in {"ser", "series"} and len(series) < MOST_SERIES:
            texts = (_words(each) for each in element if each.tag.rpartition(":")[2] == "tx")
            series += [text for text in texts if text]
    about = "; ".join([*dict.fromkeys(titles), *([f"series {', '.join(series)}"] if series else [])])
    yield Text(f"(chart: {about})" if about else "(chart)")
    yield LeftOut(Why.NOT_READ, "chart")


def _words(element: Element) -> str:
    texts = (each.text or "" for each in element.iter() if each.tag.rpartition(":")[2] in {"t", "v"})
    return " ".join("".join(texts).split())


def read_comments(archive: Archive, links: Iterable[tuple[str, str]]) -> dict[tuple[int, int], str]:
    """Notes of a sheet by row from 1 and column from 0, as they stand behind a cell's text: ``[Eva: Ask the mayor.]``."""
    comments: dict[tuple[int, int], list[str]] = {}
    threads: dict[tuple[int, int], list[str]] = {}
    for kind, member in links:
        root = whole(archive, member) if kind in {"comments", "threadedComment"} else None
        if root is None:
            continue
        for place, author, text in _notes(root) if kind == "comments" else _threaded(archive, root):
            target = comments if kind == "comments" else threads
            target.setdefault(place, []).append(marks.cell_note(text, author))
    return {place: " ".join(texts) for place, texts in (comments | threads).items()}


def _notes(root: Element) -> Iterator[tuple[tuple[int, int], str, str]]:
    authors = [author.text or "" for author in found(root, "author")]
    for comment in found(root, "comment"):
        number = comment.get("authorId", "")
        author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
        author = "" if author.startswith("tc=") else " ".join(author.split())
        texts = map(read_text, children_named(comment, "text"))
        text = " ".join(word for text in texts for word in _plain(text).split())
        yield position(comment.get("ref", "")), author, text.removeprefix(f"{author}:").strip() if author else text


def _plain(text: SharedText) -> str:
    return (
        text if isinstance(text, str) else "".join(run.font.marked(run.text) if run.font else run.text for run in text)
    )


def _threaded(archive: Archive, root: Element) -> Iterator[tuple[tuple[int, int], str, str]]:
    lists = (whole(archive, member) for member in archive.names if member.startswith("xl/persons/"))
    people = {person.get("id", ""): person.get("displayName", "") for people in lists for person in inside(people)}
    for comment in found(root, "threadedComment"):
        text = " ".join(unescaped(each.text or "") for each in children_named(comment, "text"))
        state = " (done)" if comment.get("done") in {"1", "true"} else ""
        yield (
            position(comment.get("ref", "")),
            people.get(comment.get("personId", ""), ""),
            f"{' '.join(text.split())}{state}",
        )
