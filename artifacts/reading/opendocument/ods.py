"""Sheets of OpenDocument (.ods, .ots): what cells show, a row at a time, and what lies on the sheets."""

import re
from collections.abc import Collection, Generator, Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element, ParseError, iterparse

from artifacts.reading.archives import Archive, readable
from artifacts.reading.blocks import Block, LeftOut, Place, Text, Title, Why
from artifacts.reading.marks import cell_note
from artifacts.reading.office.letters import NOTHING, Letters
from artifacts.reading.office.numerals import letters
from artifacts.reading.office.runs import HIDDEN, marked, seen
from artifacts.reading.opendocument.story import Document, Story
from artifacts.reading.opendocument.styles import Styles
from artifacts.reading.problems import FileProblem
from artifacts.reading.sheets.sheet_table import SheetRow, damaged_sheet, hidden_rows, or_empty, sheet_table
from artifacts.reading.xml_stream import attribute, child, children, first, found, name, shortened, whole, whole_number

MOST_COLUMNS = 16_384
MOST_ROWS_REPEATED = 1_000
"""Times that one row is given; a sheet may say that it goes on to the last row."""
CHUNK = 2**20
REFERENCE = re.compile(r"\[\.?([^\]\[]*)\]")
"""Of cells in a formula, such as ``[.A1:.B7]``."""
TABLE = re.compile(rb"<table:table[\s>]")
FOLDED = {"collapse", "filter"}
VALUES = ("office:string-value", "office:date-value", "office:time-value", "office:boolean-value", "office:value")

type Events = Iterator[tuple[str, Element]]


def sheets(archive: Archive) -> Iterator[Block]:
    """Raises ``FileProblem``."""
    yield Title(total=_count(archive) or None)
    styles = Styles(_named_styles(archive))
    hidden: set[str] = set()
    with archive.open("content.xml") as file, readable():
        events: Events = iterparse(file, ("start", "end"))  # noqa: S314  # see xml_stream
        path: list[str] = []
        number = 0
        for event, element in events:
            if event == "end":
                path.pop()
                if element.tag.endswith("}style"):
                    styles.add(shortened(element))
                    hidden |= _hidden_tables(element)
                continue
            path.append(name(element.tag))
            if path[-2:] == ["office:spreadsheet", "table:table"]:
                number += 1
                sheet = _Sheet(archive, styles, shortened(element))
                yield from sheet.blocks(events, number, hidden)
                path.pop()
                element.clear()
                if sheet.is_damaged:
                    return


def _count(archive: Archive) -> int:
    """How many sheets there are."""
    count, rest = 0, b""
    with archive.open("content.xml") as file, readable():
        while chunk := file.read(CHUNK):
            chunk = rest + chunk
            count += len(TABLE.findall(chunk))
            rest = chunk[-12:] if not TABLE.search(chunk[-12:]) else b""
    return count


def _hidden_tables(style: Element) -> set[str]:
    """The name of a style of sheets that are hidden."""
    is_hidden = attribute(child(style, "style:table-properties"), "table:display") == "false"
    return {attribute(style, "style:name")} if is_hidden else set()


def _named_styles(archive: Archive) -> Styles:
    """Those that go by names that people gave; those of the content itself come with it."""
    styles = Styles()
    if "styles.xml" in archive.names:
        try:
            for element in children(archive, "styles.xml", {"office:styles"}):
                if element.tag.endswith(":style"):
                    styles.add(element)
        except (ParseError, FileProblem):
            return styles
    return styles


class _Sheet:
    def __init__(self, archive: Archive, styles: Styles, element: Element) -> None:
        self._archive = archive
        self._styles = styles
        self._story = Story(Document(archive, styles))
        self._letters: dict[str, Letters] = {}
        self._hidden = 0
        """Texts of which something was left out since nobody sees it."""
        self._element = element
        self._name = attribute(element, "table:name")
        self._shapes: list[Block] = []
        self._column = 0
        self._hidden_columns: set[int] = set()
        self._hidden_rows = 0
        self.is_damaged = False

    def blocks(self, events: Events, number: int, hidden: Collection[str]) -> Iterator[Block]:
        is_hidden = attribute(self._element, "table:style-name") in hidden
        yield Place(f'sheet "{self._name}"{" (hidden)" if is_hidden else ""}', number, self._name)
        yield from or_empty(self._table(events))

    def _table(self, events: Events) -> Iterator[Block]:
        yield from sheet_table(self._rows(events), hidden_columns=self._hidden_columns, column_name=letters)
        yield from hidden_rows(self._hidden_rows)
        yield from self._shapes
        if self._hidden:
            yield LeftOut(Why.HIDDEN, "hidden cell", self._hidden)
        if self.is_damaged:
            yield from damaged_sheet()

    def _rows(self, events: Events) -> Iterator[SheetRow]:
        """Up to the end of this sheet, or to what is damaged."""
        try:
            with readable():
                yield from self._read(events)
        except (ParseError, FileProblem) as error:
            if isinstance(error, FileProblem) and error.code != "damaged":
                raise
            self.is_damaged = True

    def _read(self, events: Events) -> Iterator[SheetRow]:
        path = [self._element]
        number = 1
        tables = 1
        for event, element in events:
            tag = name(element.tag)
            if event == "start":
                path.append(element)
                tables += tag == "table:table"
                continue
            path.pop()
            if tag == "table:table":
                tables -= 1
                if not tables:
                    return
            if tables > 1 or not path:
                continue
            match tag:
                case "table:table-row":
                    number += yield from self._row(shortened(element), number)
                    path[-1].clear()
                case "table:table-column":
                    self._columns(shortened(element))
                case "table:shapes":
                    for shape in shortened(element):
                        self._shapes += self._shape(shape)
                    element.clear()

    def _columns(self, element: Element) -> None:
        repeated = min(_times(element, "table:number-columns-repeated"), MOST_COLUMNS)
        if attribute(element, "table:visibility") in FOLDED:
            self._hidden_columns |= set(range(self._column, min(self._column + repeated, MOST_COLUMNS)))
        self._column += repeated

    def _row(self, element: Element, number: int) -> Generator[SheetRow, None, int]:
        """Returns how often it is repeated."""
        repeated = _times(element, "table:number-rows-repeated")
        cells: dict[int, str] = {}
        column = 0
        for cell in element:
            times = min(_times(cell, "table:number-columns-repeated"), MOST_COLUMNS - column)
            text = self._cell(cell, cell.tag == "table:covered-table-cell")
            if text:
                cells.update(dict.fromkeys(range(column, column + times), text))
            column += times
        if not cells:
            return repeated
        is_hidden = attribute(element, "table:visibility") in FOLDED
        self._hidden_rows += repeated if is_hidden else 0
        for at in range(min(repeated, MOST_ROWS_REPEATED)):
            yield SheetRow(number + at, cells, is_hidden)
        if repeated > MOST_ROWS_REPEATED:
            last = number + repeated - 1
            yield SheetRow(number + MOST_ROWS_REPEATED, {min(cells): f"(the same up to row {last})"}, is_hidden)
        return repeated

    def _cell(self, cell: Element, is_covered: bool) -> str:
        if not len(cell) and not attribute(cell, "office:value-type") and not attribute(cell, "table:formula"):
            return ""
        base = self._look(attribute(cell, "table:style-name"))
        paragraphs: list[str] = []
        comments: list[str] = []
        hidden = self._hidden
        for inner in cell:
            match inner.tag:
                case "text:p":
                    paragraphs.append(self._text(inner, base))
                case "office:annotation":
                    comments.append(_comment(inner))
                case tag if tag.startswith("draw:"):
                    self._shapes += self._shape(inner)
        shown = " ".join(filter(None, paragraphs))
        if is_covered:
            self._hidden += bool(shown)
            shown = ""
        elif not paragraphs:
            shown = _value(cell)
        elif not shown and attribute(cell, "office:value") not in {"", "0"}:
            self._hidden = hidden + 1
        return " ".join(filter(None, (shown, *comments)))

    def _look(self, style_name: str) -> Letters:
        """Of the letters of a cell, on what is behind them."""
        if style_name not in self._letters:
            style = self._styles.style("table-cell", style_name)
            background = style.letters.background or style.background
            self._letters[style_name] = replace(style.letters, background=background)
        return self._letters[style_name]

    def _text(self, paragraph: Element, base: Letters) -> str:
        runs, beside = seen(self._story.pieces(paragraph, base))
        self._hidden += HIDDEN in beside
        self._shapes += (block for block in beside if block != HIDDEN)
        return marked(runs).strip()

    def _shape(self, element: Element) -> Iterator[Block]:
        """A text box, a chart, a picture."""
        drawn = first(element, "draw:object")
        about = next((each.text for key in ("svg:desc", "svg:title") for each in found(element, key) if each.text), "")
        texts = [self._text(line, NOTHING) for line in found(element, "text:p")]
        if drawn is not None:
            yield from self._object(drawn, about)
        elif any(texts):
            yield Text("\n".join(filter(None, texts)))
        elif first(element, "draw:image") is not None:
            yield Text(f"(picture: {' '.join(about.split())})" if about else "(picture)")

    def _object(self, drawn: Element, about: str) -> Iterator[Block]:
        member = f"{attribute(drawn, 'xlink:href').removeprefix('./')}/content.xml"
        root = whole(self._archive, member) if member in self._archive.names else None
        elements = list(root.iter()) if root is not None else []
        is_chart = any(each.tag == "office:chart" for each in elements)
        titles = [
            " ".join("".join(line.itertext()).split())
            for each in elements
            if each.tag.rpartition(":")[2] in {"title", "subtitle"}
            for line in found(each, "text:p")
        ]
        what = "chart" if is_chart else "embedded object"
        words = "; ".join(filter(None, titles)) or about
        yield Text(f"({what}: {words})" if words else f"({what})")
        yield LeftOut(Why.NOT_READ, what)


def _value(cell: Element) -> str:
    """Of a cell without a text, as some programs write them: the value itself, or the formula that has none."""
    shown = next((value for key in VALUES if (value := attribute(cell, key))), "")
    if shown:
        return shown.upper() if attribute(cell, "office:value-type") == "boolean" else shown
    _, is_formula, formula = attribute(cell, "table:formula").partition("=")
    return f"={REFERENCE.sub(lambda found: found[1].replace(':.', ':'), formula)}" if is_formula else ""


def _comment(element: Element) -> str:
    """What somebody noted, such as ``[Eva: Ask the mayor.]``."""
    author = next((inner.text or "" for inner in element if inner.tag == "dc:creator"), "")
    text = " ".join(word for line in found(element, "text:p") for word in "".join(line.itertext()).split())
    return cell_note(text, author)


def _times(element: Element, key: str) -> int:
    return max(1, whole_number(attribute(element, key)))
