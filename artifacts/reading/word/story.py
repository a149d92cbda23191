"""Paragraphs and tables of Word: of the body, of a note, of a comment, of what stands above and below each page."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from artifacts.reading import marks
from artifacts.reading.blocks import Block, Heading, LeftOut, Text, Why
from artifacts.reading.formulas import formula
from artifacts.reading.office import charts
from artifacts.reading.office.grids import Cell, Row, columns, grid
from artifacts.reading.office.letters import UNKNOWN, Letters
from artifacts.reading.office.runs import Look, Piece, Run, apart, bounded, flat, is_heading, marked, seen
from artifacts.reading.office.symbols import letter, readable
from artifacts.reading.word.document import Document
from artifacts.reading.word.fields import Fields
from artifacts.reading.word.styles import letters, level, list_place, shading
from artifacts.reading.xml_stream import (
    ON,
    alternative,
    attribute,
    child,
    children_named,
    first,
    found,
    inside,
    is_on,
    relations,
    value,
)

SKIPPED = {
    *("w:moveFrom", "w:instrText", "w:delInstrText", "w:rPr", "w:pPr", "w:tblPr", "w:tblGrid", "w:trPr", "w:tcPr"),
    *("w:sectPr", "w:sdtPr", "w:sdtEndPr", "w:rubyPr", "w:tblPrEx", "w:footnoteRef", "w:endnoteRef", "w:annotationRef"),
}
"""How it looks, and what stands elsewhere: what was moved away is read where it is now."""
DEEPEST_LIST = 9
MOST_PICTURES = 100


class Story:
    def __init__(self, document: Document, member: str) -> None:
        self._document = document
        self._related = relations(document.archive, member)
        self._fields = Fields()
        self._is_covered = False
        """Something lies behind the text of this page."""
        self._deletion: str | None = None
        """Who made the one that the reader is in."""
        self._box_fill = UNKNOWN
        self._described = ""
        self._inline: dict[str, Callable[[Element, Letters], Iterator[Piece]]] = {
            "w:r": self._run,
            "w:t": self._text,
            "w:delText": self._text,
            "w:sym": self._symbol,
            "w:fldChar": self._field,
            "w:del": self._deleted,
            "w:sdt": self._control,
            "w:ruby": self._ruby,
            "w:drawing": self._drawing,
            "w:pict": self._drawing,
            "w:object": self._object,
            "pic:pic": self._picture,
            "v:imagedata": self._picture,
            "v:textpath": lambda element, _: iter([Run(f" {element.get('string', '')} ")]),
            "wps:wsp": self._shape,
            "w:txbxContent": self._box,
            "w:footnoteReference": self._note,
            "w:endnoteReference": self._note,
            "w:commentReference": self._comment,
            "m:oMath": self._formula,
            "m:oMathPara": self._formula,
            "mc:AlternateContent": self._alternative,
            "c:chart": self._graphic,
            "cx:chart": self._graphic,
            "dgm:relIds": self._graphic,
            "w:p": self._pieces,
        }

    def blocks(self, element: Element) -> Iterator[Block]:
        """Of a paragraph, a table, or what holds such."""
        around = Letters(background=self._document.page_colour)
        blocks = bounded(self._blocks(element, around), "table" if element.tag == "w:tbl" else "paragraph")
        self._document.is_whole &= not any(isinstance(block, LeftOut) and block.why is Why.DAMAGED for block in blocks)
        self._deletion = None
        yield from blocks

    def _blocks(self, element: Element, around: Letters) -> Iterator[Block]:
        """``around``: what is behind it."""
        match element.tag:
            case "w:p":
                yield from self._paragraph(element, around)
            case "w:tbl":
                yield from self._table(element, around)
            case "w:sdt":
                pieces = self._without_content(element)
                content = self._each_block(child(element, "w:sdtContent"), around)
                yield from self._shown(pieces) if pieces else content
            case "w:altChunk":
                _, place = self._related.get(attribute(element, "r:id"), ("", ""))
                yield from self._document.inserted(place)
            case "mc:AlternateContent":
                yield from self._each_block(alternative(element), around)
            case "m:oMath" | "m:oMathPara":
                yield from self._shown([Run(formula(element))])
            case tag if tag not in SKIPPED:
                yield from self._each_block(element, around)

    def _each_block(self, element: Element | None, around: Letters) -> Iterator[Block]:
        for inner in inside(element):
            yield from self._blocks(inner, around)

    def _paragraph(self, element: Element, around: Letters) -> Iterator[Block]:
        properties = child(element, "w:pPr")
        style_id = value(child(properties, "w:pStyle")) or self._document.styles.paragraph
        style = self._document.styles[style_id]
        own_level = level(properties)
        background = shading(properties) or style.background or around.background
        base = style.letters.over(self._document.styles.defaults)
        if base.background is None:
            base = replace(base, background=UNKNOWN if self._is_covered else background)
        runs, beside = seen(self._pieces(element, base))
        self._fields.end_paragraph()
        words = marked([run for run in runs if not run.look.is_apart]).strip()
        its_level = style.level if own_level is None else own_level
        label, depth = self._label(properties, style_id) if words else ("", 0)
        if its_level and words and is_heading(words):
            bare = "" if label.startswith("-") else label
            yield Heading(its_level, " ".join(f"{bare} {words}".split()))
            yield from self._shown([run for run in runs if run.look.is_apart])
        elif text := marked(runs).strip():
            self._document.letters += len(words)
            item = f"{'  ' * depth}{label} {text}" if label else text
            yield Text(item, is_item=bool(label))
        yield from beside

    def _shown(self, pieces: Iterable[Piece]) -> Iterator[Block]:
        runs, beside = seen(pieces)
        if text := marked(runs).strip():
            self._document.letters += len(text)
            yield Text(text)
        yield from beside

    def _label(self, properties: Element | None, style_id: str) -> tuple[str, int]:
        """What stands before the paragraph because it is one of a list, and how deep in it."""
        style = self._document.styles[style_id]
        list_id, depth = list_place(properties)
        if list_id is None:
            list_id = style.list_id
            depth = style.list_level if depth is None else depth
        if list_id in {None, "", "0"}:
            return "", 0
        if depth is None:
            depth = self._document.numbering.depth_of(list_id or "", style_id)
        return self._document.numbering.label(list_id or "", depth), min(depth, DEEPEST_LIST - 1)

    def _table(self, element: Element, around: Letters) -> Iterator[Block]:
        style = self._document.styles[value(child(element, "w:tblPr", "w:tblStyle"))]
        base = replace(around, background=style.background or around.background)
        left_out: list[Block] = []
        rows = list(self._rows(element, base, left_out))
        yield from grid(rows)
        yield from left_out

    def _rows(self, element: Element, around: Letters, left_out: list[Block]) -> Iterator[Row]:
        for line in element:
            tag = line.tag
            if tag == "w:tr":
                properties = child(line, "w:trPr")
                cells = [self._cell(cell, around, left_out) for cell in _within(line, "w:tc")]
                before = value(child(properties, "w:gridBefore"))
                skipped = [Cell("")] * (columns(before) if before not in {"", "0"} else 0)
                yield Row([*skipped, *cells], is_header=bool(is_on(properties, "w:tblHeader")))
            elif tag not in SKIPPED and tag != "w:tc":
                yield from self._rows(line, around, left_out)

    def _cell(self, cell: Element, around: Letters, left_out: list[Block]) -> Cell:
        properties = child(cell, "w:tcPr")
        base = replace(around, background=shading(properties) or around.background)
        runs, beside = seen(flat(self._each_block(cell, base)))
        left_out += beside
        return Cell(
            " ".join("".join(run.text for run in runs).split()), columns(value(child(properties, "w:gridSpan")))
        )

    def _pieces(self, element: Element | None, base: Letters) -> Iterator[Piece]:
        for inner in inside(element):
            tag = inner.tag
            if tag in self._inline:
                yield from self._inline[tag](inner, base)
            elif tag in SIGNS:
                yield self._as_run(SIGNS[tag], base)
            elif tag == "w:instrText":
                self._fields.instruct(inner.text or "")
            elif tag not in SKIPPED:
                yield from self._pieces(inner, base)

    def _as_run(self, text: str, base: Letters) -> Run:
        """Nothing within the instruction of a field."""
        if not self._fields.is_text:
            return Run("")
        if text.strip():
            self._fields.pass_text()
        look = base.look()
        if self._deletion is not None:
            look = replace(look, is_deleted=True, author=self._deletion)
        return Run(text, look)

    def _run(self, element: Element, base: Letters) -> Iterator[Piece]:
        properties = child(element, "w:rPr")
        style = value(child(properties, "w:rStyle"))
        own = letters(properties)
        named = own.over(self._document.styles[style].letters) if style else own
        if child(element, "w:lastRenderedPageBreak") is not None:
            self._is_covered = False
        yield from self._pieces(element, named.over(base))

    def _text(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield self._as_run(readable((element.text or "").replace("\xad", ""), base.font or ""), base)

    def _symbol(self, element: Element, base: Letters) -> Iterator[Piece]:
        code = attribute(element, "w:char")
        try:
            yield self._as_run(letter(int(code, 16), attribute(element, "w:font")), base)
        except ValueError:
            yield self._as_run("(symbol)", base)

    def _field(self, element: Element, base: Letters) -> Iterator[Piece]:
        if shown := self._fields.change(element):
            yield Run(shown, base.look())

    def _deleted(self, element: Element, base: Letters) -> Iterator[Piece]:
        outer, self._deletion = self._deletion, attribute(element, "w:author")
        yield from self._pieces(element, base)
        self._deletion = outer

    def _without_content(self, control: Element) -> list[Piece]:
        """What a content control shows whose content is none: a box, or a hint where nothing was filled in."""
        properties = child(control, "w:sdtPr")
        box = child(properties, "w14:checkbox")
        if box is not None:
            state = child(box, "w14:checked")
            return [Run(marks.checked(state is not None and value(state) in ON))]
        if not is_on(properties, "w:showingPlcHdr"):
            return []
        content = child(control, "w:sdtContent")
        hint = "".join(text.text or "" for text in found(content, "w:t"))
        return [Run(marks.not_filled_in(" ".join(hint.split()) or "nothing"))]

    def _control(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield from self._without_content(element) or self._pieces(child(element, "w:sdtContent"), base)

    def _ruby(self, element: Element, base: Letters) -> Iterator[Piece]:
        """Signs, and how they are read."""
        above, under = child(element, "w:rt"), child(element, "w:rubyBase")
        yield from self._pieces(under, base)
        reading = "".join(text.text or "" for text in found(above, "w:t"))
        yield Run(f" ({reading})" if reading.strip() else "", base.look())

    def _alternative(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield from self._pieces(alternative(element), base)

    def _formula(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield self._as_run(formula(element), base)

    def _note(self, element: Element, base: Letters) -> Iterator[Piece]:
        kind = self._document.footnotes if element.tag == "w:footnoteReference" else self._document.endnotes
        own = "*" if attribute(element, "w:customMarkFollows") in {"1", "true", "on"} else ""
        if not base.look().is_hidden:
            label = kind.label(attribute(element, "w:id"), own)
            yield Run("", Look(is_apart=True)) if own else apart(f"[^{label}]")

    def _comment(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield apart(self._document.comments.pop(attribute(element, "w:id"), ""))

    def _drawing(self, element: Element, base: Letters) -> Iterator[Piece]:
        """With its description, unless something within it is read."""
        properties = first(element, "wp:docPr")
        shape = next((at for at in element.iter() if at.tag.startswith("v:") and at.get("style")), None)
        is_hidden = attribute(properties, "hidden") in {"1", "true"}
        if is_hidden or "visibility:hidden" in attribute(shape, "style").replace(" ", ""):
            yield LeftOut(Why.HIDDEN, "hidden drawing")
            return
        own = attribute(properties, "descr") or attribute(properties, "title") or attribute(shape, "alt")
        outer, self._described = self._described, own
        pieces = list(self._pieces(element, base))
        has_text = any(not isinstance(piece, Run) or piece.text.strip() for piece in pieces)
        yield from pieces if has_text or not self._described else [Run(f" (picture: {self._described}) ")]
        self._described = outer
        if any(attribute(anchor, "behindDoc") in {"1", "true"} for anchor in children_named(element, "wp:anchor")):
            self._is_covered = True

    def _picture(self, element: Element, base: Letters) -> Iterator[Piece]:
        properties = first(element, "pic:cNvPr")
        own = attribute(properties, "descr") if properties is not None else attribute(element, "o:title")
        description = " ".join((self._described or own).split())
        yield Run(f" (picture: {description}) " if description else " (picture) ", Look(is_apart=True))
        self._document.shown_pictures += 1
        for at in element.iter():
            reference = attribute(at, "r:embed") or attribute(at, "r:id")
            if reference in self._related and len(self._document.pictures) < MOST_PICTURES:
                self._document.pictures.append(self._related[reference][1])
                break

    def _object(self, element: Element, base: Letters) -> Iterator[Piece]:
        """Of another program: its picture shows it, which is not read. Text boxes stand in such, too."""
        program = next((at.get("ProgID") or "" for at in found(element, "o:OLEObject")), "")
        is_control = first(element, "w:control") is not None
        what = "formula" if program.startswith("Equation") else "form control" if is_control else "embedded object"
        if program or is_control:
            about = f": {program}" if program and what != "formula" else ""
            yield Run(f" ({what}, not read{about}) ", base.look())
            yield LeftOut(Why.NOT_READ, what)
        else:
            yield from self._drawing(element, base)

    def _graphic(self, element: Element, base: Letters) -> Iterator[Piece]:
        yield from charts.graphic(self._document.archive, element, self._related, self._described)

    def _box(self, element: Element, base: Letters) -> Iterator[Piece]:
        """A text box stands beside its paragraph."""
        outer, self._fields = self._fields, Fields()
        yield from self._each_block(element, Letters(background=self._box_fill))
        self._fields = outer

    def _shape(self, element: Element, base: Letters) -> Iterator[Piece]:
        """What lies behind a text box may be anything, unless it is filled."""
        fill = child(element, "wps:spPr", "a:solidFill", "a:srgbClr")
        outer, self._box_fill = self._box_fill, value(fill) or UNKNOWN
        yield from self._pieces(element, base)
        self._box_fill = outer


SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-", "w:softHyphen": ""}


def _within(element: Element, wanted: str) -> Iterator[Element]:
    """Those within, through what only wraps them."""
    for inner in element:
        if inner.tag == wanted:
            yield inner
        elif inner.tag in {"w:sdt", "w:sdtContent", "w:ins", "w:customXml", "w:smartTag"}:
            yield from _within(inner, wanted)
