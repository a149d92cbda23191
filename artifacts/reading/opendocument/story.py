"""Paragraphs, lists and tables of OpenDocument: of a text, of a slide, of what stands above and below each page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.archives import Archive
from artifacts.reading.blocks import Block, Heading, LeftOut, Text, Why
from artifacts.reading.office.grids import MOST_COLUMNS, Cell, Row, columns, grid
from artifacts.reading.office.letters import UNKNOWN, Letters
from artifacts.reading.office.runs import Look, Piece, Run, apart, bounded, flat, is_heading, marked, plain, seen
from artifacts.reading.office.symbols import readable
from artifacts.reading.opendocument.objects import controls, embedded, field_mark
from artifacts.reading.opendocument.styles import BULLET, Counter, ListLevel, Styles
from artifacts.reading.xml_stream import attribute, child, children_named, found, inside

SKIPPED = {
    *(f"text:{kind}-decls" for kind in ("sequence", "variable", "user-field")),
    *("text:index-title-template", "text:number"),
    *("text:script", "office:event-listeners", "text:change-start", "text:change-end", "text:note-citation"),
    *("svg:title", "svg:desc", "text:alphabetical-index-auto-mark-file", "office:dde-source", "presentation:notes"),
    *(f"text:{kind}-source" for kind in ("table-of-content", "illustration-index", "table-index", "object-index")),
    *(f"text:{kind}-source" for kind in ("user-index", "alphabetical-index", "bibliography")),
}
DEEPEST_LIST = 9
MOST_PICTURES = 100


@dataclass
class Document:
    """What all stories of a file share."""

    archive: Archive
    styles: Styles
    deletions: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Who took out what, by the id of the change."""
    controls: dict[str, list[Piece]] = field(default_factory=dict)
    hidden_layers: set[str] = field(default_factory=set)
    pictures: list[str] = field(default_factory=list)
    """Places of the first of those that are shown."""
    shown_pictures: int = 0
    is_drawn: bool = False
    """Slides, on which each shape has its place."""
    letters: int = 0
    """How many were read."""


@dataclass(frozen=True)
class _List:
    """The list that a paragraph stands in."""

    levels: dict[int, ListLevel]
    counter: Counter
    depth: int
    """From 1."""
    label: str = ""
    """Of its item, before its first paragraph."""


class Story:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._headings = Counter()
        self._lists: dict[str, Counter] = {}
        """By their ids and by their styles, for those that go on."""
        self._inline: dict[str, Callable[[Element, Letters], Iterator[Piece]]] = {
            "text:span": self._span,
            "text:s": lambda at, base: self._sign(" " * columns(attribute(at, "text:c") or "1"), base),
            "text:tab": lambda _, base: self._sign("\t", base),
            "text:line-break": lambda _, base: self._sign("\n", base),
            "text:note": self._note,
            "text:change": self._change,
            "text:hidden-text": self._hidden_text,
            "text:placeholder": self._placeholder,
            "text:ruby-text": lambda at, base: self._sign(f" ({''.join(at.itertext())})", base),
            "field:fieldmark": lambda at, base: self._sign(field_mark(at), base),
            "loext:content-control": self._content_control,
            "office:annotation": self._comment,
            "draw:control": lambda at, _: iter(self._document.controls.get(attribute(at, "draw:control"), [])),
            "draw:frame": self.frame,
        }

    def blocks(self, element: Element, background: str | None = None) -> Iterator[Block]:
        """Of a paragraph, a heading, a list, a table, or what holds such. ``background``: what is behind it."""
        what = "table" if element.tag == "table:table" else "paragraph"
        yield from bounded(self._blocks(element, Letters(background=background), None), what)

    def _blocks(self, element: Element, around: Letters, within: _List | None) -> Iterator[Block]:
        if self._is_hidden(element):
            yield LeftOut(Why.HIDDEN, "hidden section" if element.tag == "text:section" else "hidden shape")
            return
        match element.tag:
            case "text:p" | "text:h":
                yield from self._paragraph(element, around, within)
            case "text:list":
                yield from self._list(element, around, within)
            case "table:table":
                yield from self._table(element, around)
            case "text:tracked-changes":
                self._document.deletions |= {id: change for region in element for id, change in self._deletion(region)}
            case "office:forms":
                self._document.controls |= controls(element)
            case "office:annotation" | "draw:frame" | "draw:control":
                runs, beside = seen(self._inline[element.tag](element, around))
                yield from [Text(text)] if (text := marked(runs).strip()) else []
                yield from beside
            case tag if tag not in SKIPPED:
                for inner in element:
                    yield from self._blocks(inner, around, within)

    def _paragraph(self, element: Element, around: Letters, within: _List | None) -> Iterator[Block]:
        if any(attribute(at, "text:is-hidden") == "true" for at in found(element, "text:hidden-paragraph")):
            yield LeftOut(Why.HIDDEN, "hidden text")
            return
        style = self._document.styles.style("paragraph", attribute(element, "text:style-name"))
        base = replace(style.letters, background=style.letters.background or style.background or around.background)
        runs, beside = seen(self.pieces(element, base))
        words = marked([run for run in runs if not run.look.is_apart]).strip()
        self._document.letters += len(words)
        label = within.label if within else ""
        if words and element.tag == "text:h" and is_heading(words):
            level = attribute(element, "text:outline-level")
            depth = int(level) if level in set("123456789") else 1
            number = "" if label.startswith(BULLET) else label
            number = number or self._heading_number(element, depth)
            yield Heading(depth, " ".join(f"{number} {words}".split()))
            if text := marked([run for run in runs if run.look.is_apart]).strip():
                yield Text(text)
        elif text := marked(runs).strip():
            indent = "  " * (within.depth - 1) if within and label else ""
            yield Text(f"{indent}{label} {text}" if label else text, is_item=bool(label))
        yield from beside

    def _heading_number(self, element: Element, depth: int) -> str:
        written = child(element, "text:number")
        if written is not None:
            return "".join(written.itertext())
        shared = self._document.styles.shared
        levels = self._document.styles.outline or (shared.outline if shared else {})
        if not levels or attribute(element, "text:is-list-header") == "true":
            return ""
        number = self._headings.label(levels, depth, attribute(element, "text:start-value"))
        return "" if number.startswith(BULLET) else number

    def _list(self, element: Element, around: Letters, outer: _List | None) -> Iterator[Block]:
        style_name = attribute(element, "text:style-name")
        levels = self._document.styles.list_levels(style_name) if style_name or not outer else outer.levels
        depth = min(outer.depth + 1, DEEPEST_LIST) if outer else 1
        goes_on = attribute(element, "text:continue-numbering") == "true"
        if outer:
            counter = outer.counter
            if not goes_on:
                counter.restart(depth)
        else:
            before = attribute(element, "text:continue-list") or (f"style {style_name}" if goes_on else "")
            counter = (self._lists.get(before) if before else None) or Counter()
            self._lists[attribute(element, "xml:id")] = self._lists[f"style {style_name}"] = counter
        for item in element:
            is_item = item.tag == "text:list-item"
            start, label = attribute(item, "text:start-value"), ""
            for inner in item if is_item or item.tag == "text:list-header" else ():
                tag = inner.tag
                if is_item and tag in {"text:p", "text:h"}:
                    label, is_item = counter.label(levels, depth, start), False
                elif tag != "text:number":
                    label = ""
                yield from self._blocks(inner, around, _List(levels, counter, depth, label))
                label = ""

    def _table(self, element: Element, around: Letters) -> Iterator[Block]:
        left_out: list[Block] = []
        yield from grid([*self._rows(element, around, left_out, is_header=False)])
        yield from left_out

    def _rows(self, element: Element, around: Letters, left_out: list[Block], *, is_header: bool) -> Iterator[Row]:
        for inner in element:
            tag = inner.tag
            if tag == "table:table-row":
                row = Row([*self._cells(inner, around, left_out)], is_header)
                yield from [row] * columns(attribute(inner, "table:number-rows-repeated"))
            elif tag.startswith("table:"):
                yield from self._rows(inner, around, left_out, is_header=tag == "table:table-header-rows")

    def _cells(self, row: Element, around: Letters, left_out: list[Block]) -> Iterator[Cell]:
        """Covered cells are there as well: those beside a wide one belong to it, those below another one stay empty."""
        taken = count = 0
        for cell in row:
            if cell.tag not in {"table:table-cell", "table:covered-table-cell"}:
                continue
            style = self._document.styles.style("table-cell", attribute(cell, "table:style-name"))
            times = columns(attribute(cell, "table:number-columns-repeated"))
            span = columns(attribute(cell, "table:number-columns-spanned"))
            if count > MOST_COLUMNS:
                return
            base = replace(around, background=style.background or around.background)
            blocks = [block for inner in cell for block in self._blocks(inner, base, None)]
            runs, beside = seen(flat(blocks))
            text = " ".join("".join(run.text for run in runs).split())
            left_out += beside
            if cell.tag == "table:covered-table-cell":
                if text:
                    left_out.append(LeftOut(Why.HIDDEN, "text of a covered cell"))
                within = min(taken, times)
                taken, times, text, span = taken - within, times - within, "", 1
            else:
                taken = span - 1
            yield from [Cell(text, span)] * times
            count += times * span

    def pieces(self, element: Element, base: Letters) -> Iterator[Piece]:
        """Of a paragraph, whose letters look like ``base``."""
        yield self._run(element.text or "", base)
        for inner in element:
            tag = inner.tag
            if attribute(inner, "text:display") == "none":
                yield LeftOut(Why.HIDDEN, "hidden text")
            elif tag in self._inline:
                yield from self._inline[tag](inner, base)
            elif tag in {"text:p", "text:h", "text:list", "table:table"} or tag.startswith("draw:"):
                yield from self._blocks(inner, Letters(background=self._fill(inner)), None)
            elif tag not in SKIPPED:
                yield from self.pieces(inner, base)
            yield self._run(inner.tail or "", base)

    def _run(self, text: str, base: Letters) -> Run:
        font = self._document.styles.family(base.font or "", text)
        return Run(readable(text.replace("\xad", ""), font), base.look()) if text else Run("")

    def _sign(self, text: str, base: Letters) -> Iterator[Piece]:
        yield Run(text, base.look())

    def _span(self, element: Element, base: Letters) -> Iterator[Piece]:
        style = self._document.styles.style("text", attribute(element, "text:style-name"))
        yield from self.pieces(element, style.letters.over(base))

    def _note(self, element: Element, base: Letters) -> Iterator[Piece]:
        citation, body = child(element, "text:note-citation"), child(element, "text:note-body")
        blocks = [block for inner in inside(body) for block in self._blocks(inner, Letters(), None)]
        number = "".join(citation.itertext()).strip() if citation is not None else ""
        kind = "endnote" if attribute(element, "text:note-class") == "endnote" else "note"
        text = " ".join(plain(blocks).split())
        if not base.look().is_hidden:
            yield apart(f" [{' '.join(filter(None, (kind, number)))}: {text}]")
        yield from (block for block in blocks if isinstance(block, LeftOut))

    def _comment(self, element: Element, base: Letters) -> Iterator[Piece]:
        author = next(("".join(at.itertext()) for at in element if at.tag == "dc:creator"), "")
        texts = [block for at in element if at.tag.startswith("text:") for block in self._blocks(at, Letters(), None)]
        if text := " ".join(plain(texts).split()):
            yield apart(f" {marks.comment(text, ' '.join(author.split()))}")

    def _deletion(self, region: Element) -> Iterator[tuple[str, tuple[str, str]]]:
        for deletion in children_named(region, "text:deletion"):
            author = next((at.text or "" for at in found(deletion, "dc:creator")), "")
            blocks = [
                block for at in deletion if at.tag.startswith("text:") for block in self._blocks(at, Letters(), None)
            ]
            for kind in ("text:id", "xml:id"):
                yield attribute(region, kind), (author, plain(blocks))

    def _change(self, element: Element, base: Letters) -> Iterator[Piece]:
        author, text = self._document.deletions.get(attribute(element, "text:change-id"), ("", ""))
        yield Run(f" {' '.join(text.split())} " if text else "", Look(is_deleted=True, author=author))

    def _hidden_text(self, element: Element, base: Letters) -> Iterator[Piece]:
        text = attribute(element, "text:string-value") or "".join(element.itertext())
        yield Run(text, replace(base.look(), is_hidden=attribute(element, "text:is-hidden") != "false"))

    def _placeholder(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield Run(marks.not_filled_in("".join(element.itertext()).strip("<>")), base.look())

    def _content_control(self, element: Element, base: Letters) -> Iterator[Piece]:
        if attribute(element, "loext:checkbox") == "true":
            yield Run(marks.checked(attribute(element, "loext:checked") == "true"), base.look())
        elif attribute(element, "loext:showing-place-holder") == "true":
            yield from self._placeholder(element, base)
        else:
            yield from self.pieces(element, base)

    def frame(self, element: Element, base: Letters) -> Iterator[Piece]:
        """A text box, a table, a formula, a chart, a picture: one of them, in several forms."""
        if self._is_hidden(element):
            yield LeftOut(Why.HIDDEN, "hidden shape")
            return
        described = " ".join(" ".join(at.text or "" for at in element if at.tag in {"svg:title", "svg:desc"}).split())
        forms = {inner.tag: inner for inner in reversed(element)}
        if (thing := forms.get("draw:object")) is not None:
            yield from embedded(self._document.archive, thing, described)
        elif (ole := forms.get("draw:object-ole", forms.get("draw:plugin", forms.get("draw:applet")))) is not None:
            what = "film" if ole.tag == "draw:plugin" else "embedded object"
            yield Run(f" ({what}, not read{f': {described}' if described else ''}) ")
            yield LeftOut(Why.NOT_READ, what)
        elif (image := forms.get("draw:image")) is not None and not {"draw:text-box", "table:table"} & {*forms}:
            self._document.shown_pictures += 1
            if len(self._document.pictures) < MOST_PICTURES:
                self._document.pictures.append(attribute(image, "xlink:href").removeprefix("./"))
            yield apart(f" (picture: {described}) " if described else " (picture) ")
        else:
            for inner in element:
                yield from self._blocks(inner, Letters(background=self._fill(element, base.background)), None)

    def _fill(self, shape: Element, around: str | None = None) -> str:
        """What lies behind a box may be anything, unless it is filled, or its place on a slide says what."""
        style = self._document.styles.style("graphic", attribute(shape, "draw:style-name"))
        return style.background or (around if self._document.is_drawn and around else UNKNOWN)

    def _is_hidden(self, element: Element) -> bool:
        """A section, or a shape by itself or by its layer."""
        if element.tag == "text:section":
            shown = attribute(element, "text:display")
            return shown == "none" or (shown == "condition" and attribute(element, "text:is-hidden") == "true")
        if not element.tag.startswith("draw:"):
            return False
        display = next((value for key, value in element.items() if key.endswith(":display")), "")
        return display in {"none", "printer"} or attribute(element, "draw:layer") in self._document.hidden_layers
