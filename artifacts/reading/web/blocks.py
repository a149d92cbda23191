"""HTML as blocks: what a reader would see. Scripts and styles are left out, and what is hidden, which is put down; links
are their text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from artifacts.reading import marks
from artifacts.reading.blocks import Block, Heading, LeftOut, Text, Why
from artifacts.reading.pictures.data_uris import DataUris, Keep, keep_none
from artifacts.reading.web.elements import BLOCKS, VOID, OpenElement, OpenElements
from artifacts.reading.web.forms import Choices, amount, choices, field_text, unseen_value
from artifacts.reading.web.formulas import HtmlFormula
from artifacts.reading.web.lists import HtmlList
from artifacts.reading.web.styles import Look, StyleSheet, look_of
from artifacts.reading.web.tables import TABLE_PARTS, OpenTables
from artifacts.reading.web.tokens import Attributes, ByName, HtmlTokens, whole_number

FILMS = {"video": "video", "audio": "recording", "canvas": "drawing", "iframe": "frame", "embed": "embedded file"}
"""They are named; what stands within them is for browsers that can't show them."""
SCRIPTS = {"sup": marks.raised, "sub": marks.lowered, "super": marks.raised}
STRUCK = frozenset({"s", "del", "strike"})
APART = frozenset({
    "button", "label", "select", "textarea", "input", "img", "svg", "object", "progress", "meter", "output",
}) | frozenset(FILMS)  # fmt: skip
"""They stand in a line, and not at the end of a word."""
LISTS = frozenset({"ul", "ol", "menu", "dir"})
CLOSED = TABLE_PARTS | LISTS | APART | {"q", "rt", "title"}
"""At whose end something is to be done."""
OWN_LINES = frozenset({"block", "flex", "grid", "list-item", "table", "table-row"})
IN_A_LINE = ("inline-", "table-cell")
"""How styles lay out what stands in a line, and not at the end of a word."""
NO_ATTRIBUTES: ByName = {}
BEGUN = {"q": "“", "rt": "(", "title": " (picture: ", "text": " ", "tspan": " "}
"""What they begin with; a title is that of a drawing."""
ENDED = {"q": "”", "rt": ")", "title": ")"}
DEEPEST_LIST = 9
DEEPEST_FRAME = 3
LONGEST_TITLE = 1_000
LONGEST_COMMENT = 200
LONGEST_STYLE = 2**20
"""Characters."""
GONE = Look(is_gone=True)
SMALLEST_SIDE = 16
"""Of a picture without a description, in pixels; smaller ones make space."""


@dataclass(slots=True)
class _Mark:
    """Words from ``start`` on are written with the mark of this element."""

    element: OpenElement
    kind: str
    start: int


class HtmlBlocks(HtmlTokens):
    """Fed piece by piece; ``take()`` gives the blocks that are ready. ``title`` is that of the page."""

    def __init__(self, *, sheet: StyleSheet | None = None, keep: Keep = keep_none, depth: int = 0) -> None:
        """``sheet`` are the styles of the page, where they are known beforehand (see ``page``); else each holds from where
        it stands. ``keep``: what becomes of files within the page. ``depth``: in how many frames it stands."""
        super().__init__()
        self.title = ""
        self._uris = DataUris(keep)
        self._keep = keep
        self._depth = depth
        self._sheet = sheet or StyleSheet()
        self._reads_styles = sheet is None
        self._style: list[str] = []
        self._open = OpenElements()
        self._ready: list[Block] = []
        self._words: list[str] = []
        self._marks: list[_Mark] = []
        self._beside: list[Block] = []
        """Comes after the words that are held."""
        self._lists: list[HtmlList] = []
        self._item = ""
        """What the item begins with, until its words come."""
        self._tables = OpenTables()
        self._choices: Choices | None = None
        self._formula: HtmlFormula | None = None
        self._comment = ""

    def feed(self, data: str) -> None:
        super().feed(self._uris.feed(data))

    def take(self) -> Iterator[Block]:
        """And lets go of them."""
        ready, self._ready = self._ready, []
        yield from ready

    def close(self) -> None:
        super().feed(self._uris.close())
        super().close()
        self._close_from(0)
        self.handle_skipped_end("-->")
        self._flush()

    # What the tokens say

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self._start_tag(tag, attrs, is_closed=tag in VOID)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self._start_tag(tag, attrs, is_closed=True)

    def handle_endtag(self, tag: str) -> None:
        if self._formula is not None and tag in BLOCKS:
            self._close_from(self._open.first("math"))
        place = self._open.closed_by_end(tag)
        if place < len(self._open.stack):
            self._close_from(place)
            return
        place = self._open.across_blocks(tag)
        if place < len(self._open.stack):
            self._end_element(self._open.stack[place])
            self._open.remove(place)
        elif tag == "br":
            self._words.append("\r")
        elif tag in BLOCKS and self._open.last.look.is_seen:
            self._flush()

    def handle_data(self, data: str) -> None:
        innermost = self._open.last
        look = innermost.look
        if innermost.tag == "title" and not self._open.has("svg"):
            self.title = f"{self.title}{data}"[:LONGEST_TITLE]
        elif not look.is_seen:
            innermost.has_lost = innermost.has_lost or bool(data.strip())
        elif not innermost.is_drawn:
            return
        elif self._formula is not None:
            self._formula.add(data)
        elif self._choices is not None:
            if innermost.tag == "option" and self._choices.words:
                self._choices.words[-1].append(data)
        else:
            data = self._uris.named(data).replace("\u00ad", "")
            is_kept = not innermost.is_preformatted and (look.keeps_lines or innermost.tag == "textarea")
            self._words.append(data.replace("\n", "\r") if is_kept else data)

    def handle_skipped(self, end: str, data: str) -> None:
        if end == "</style":
            self._style.append(data)
        elif end == "-->" and len(self._comment) < LONGEST_COMMENT:
            self._comment += data.strip("- \t\r\n")[:LONGEST_COMMENT]

    def handle_skipped_end(self, end: str) -> None:
        if end == "-->" and self._comment:
            self._comment = ""
            self._beside.append(LeftOut(Why.HIDDEN, "comment"))

    # Elements

    def _start_tag(self, tag: str, attrs: Attributes, *, is_closed: bool) -> None:
        if self._formula is not None and tag in BLOCKS:
            self._close_from(self._open.first("math"))
        place = self._open.closed_by_start(tag)
        if place < len(self._open.stack):
            self._close_from(place)
        if self._open.is_full and tag not in VOID:
            self._flush()
            return
        attributes = dict(reversed(attrs)) if attrs else NO_ATTRIBUTES  # of two of one name, the first holds
        parent = self._open.last.look
        look = parent if parent.is_gone else look_of(tag, attributes, parent, self._sheet)
        element = OpenElement(tag, look)
        if not look.is_gone and (tag == "math" or self._formula is not None):
            self._formula = self._formula or HtmlFormula()
            self._formula.start(tag, attributes)
        elif not look.is_gone:
            self._start_element(element, attributes, parent)
        if tag == "link" and "stylesheet" in (attributes.get("rel") or "").lower():
            self._sheet.is_partial |= self._reads_styles
        if tag in VOID:
            self._settle(element, self._open.last)
            return
        self._open.push(element)
        if is_closed:
            self._close_from(len(self._open.stack) - 1)

    def _start_element(self, element: OpenElement, attributes: ByName, parent: Look) -> None:
        tag, display = element.tag, element.look.display
        if tag in APART or parent.display.endswith(("flex", "grid")) or display.startswith(IN_A_LINE):
            self._words.append(" ")
        if tag in BLOCKS or display in OWN_LINES:
            self._flush()
        if tag in TABLE_PARTS:
            self._ready += self._tables.start(tag, attributes)
        elif tag in LISTS:
            self._lists.append(HtmlList(tag, attributes))
        elif tag == "li":
            self._item = self._lists[-1].mark(attributes) if self._lists else "- "
        elif tag == "select":
            self._choices = choices(attributes)
        elif tag == "option" and self._choices is not None:
            self._choices.start(attributes)
        elif tag in FILMS:
            self._frame_or_film(element, attributes)
        elif tag in {"progress", "meter"}:
            self._words.append(amount(attributes))
            element.look = GONE
        else:
            self._start_words(element, attributes)

    def _start_words(self, element: OpenElement, attributes: ByName) -> None:
        tag, look = element.tag, element.look
        if tag == "br":
            self._words.append("\n" if self._open.last.is_preformatted else "\r")
        elif tag == "img" or (tag == "image" and self._open.has("svg")):
            self._picture(element, attributes)
        elif tag == "input":
            hidden = unseen_value(attributes)
            self._beside += [hidden] if hidden else []
            self._words.append(f"{field_text(attributes)} " if look.is_seen else "")
        elif tag == "rp":
            element.look = GONE
        elif look.is_seen and (tag != "title" or self._open.has("svg")):
            self._words.append(BEGUN.get(tag, ""))
        if tag in {"sup", "sub"} or look.script:
            self._marks.append(_Mark(element, look.script or tag, len(self._words)))
        if tag in STRUCK or look.is_struck:
            self._marks.append(_Mark(element, "s", len(self._words)))

    def _close_from(self, place: int) -> None:
        while len(self._open.stack) > place:
            self._end_element(self._open.stack[-1])
            self._open.remove()

    def _end_element(self, element: OpenElement) -> None:
        """While it still is open."""
        tag, look = element.tag, element.look
        if self._formula is not None:
            self._end_formula(element)
        elif not look.is_gone:
            if tag in BLOCKS or look.display in OWN_LINES:
                self._flush()
            if tag in CLOSED:
                self._end_special(element)
            elif look.display.startswith(IN_A_LINE):
                self._words.append(" ")
            if self._marks:
                self._end_marks(element)
        if tag == "style":
            self._end_style()
        if element.has_lost:
            self._settle(element, self._open.parent(element))

    def _end_formula(self, element: OpenElement) -> None:
        if self._formula is None or element.look.is_gone:
            return
        self._formula.end()
        if element.tag == "math" and not self._formula.is_open:
            self._words.append(self._formula.text())
            self._formula = None

    def _end_special(self, element: OpenElement) -> None:
        tag = element.tag
        if tag in TABLE_PARTS:
            self._ready += self._tables.end(tag)
        elif tag in LISTS and self._lists:
            self._lists.pop()
        elif tag == "select" and self._choices is not None:
            self._words.append(f" {self._choices.text()} ")
            self._choices = None
        elif element.look.is_seen and (tag != "title" or self._open.has("svg")):
            self._words.append(ENDED.get(tag, " "))

    def _settle(self, element: OpenElement, parent: OpenElement) -> None:
        """What is not seen is put down once, for the outermost of the elements that hide it."""
        if not element.has_lost:
            return
        if parent.look.is_seen:
            self._beside.append(LeftOut(Why.HIDDEN, "hidden part"))
        else:
            parent.has_lost = True

    # Words

    def _end_marks(self, element: OpenElement) -> None:
        for mark in [mark for mark in reversed(self._marks) if mark.element is element]:
            self._write_mark(mark)
            self._marks.remove(mark)

    def _write_mark(self, mark: _Mark) -> None:
        inner = "".join(self._words[mark.start :])
        del self._words[mark.start :]
        is_reference = inner.strip().startswith("[") and inner.strip().endswith("]")
        write = marks.struck if mark.kind == "s" else SCRIPTS[mark.kind]
        self._words.append(inner if is_reference and mark.kind != "s" else write(inner))

    def _flush(self) -> None:
        """What was said so far is a block, or a line of the cell that it stands in."""
        if not self._words and not self._beside:
            return
        for mark in reversed(self._marks):
            self._write_mark(mark)
            mark.start = 0
        text = "".join(self._words)
        self._words = []
        if self._open.last.is_preformatted:
            text = text.strip("\n").replace("\r", "\n")
            text = text if text.strip() else ""
        elif "\r" in text:
            text = "\n".join(line for part in text.split("\r") if (line := " ".join(part.split())))
        else:
            text = " ".join(text.split())
        beside, self._beside = self._beside, []
        if text:
            self._say_block(text)
        self._ready += beside

    def _say_block(self, text: str) -> None:
        innermost, item = self._open.last, self._item
        self._item = ""
        if self._tables.is_in_cell:
            self._tables.add(f"• {text}" if item == "- " else f"{item}{text}")
        elif innermost.level:
            self._ready.append(Heading(innermost.level, " ".join(text.split())))
        elif innermost.is_preformatted:
            self._ready.append(Text(f"```\n{text}\n```"))
        elif item:
            indent = "  " * (min(len(self._lists), DEEPEST_LIST) - 1)
            self._ready.append(Text(f"{indent}{item}{text}", is_item=True))
        else:
            self._ready.append(Text(text))

    # Pictures, films, frames, comments, styles

    def _picture(self, element: OpenElement, attributes: ByName) -> None:
        alternative = " ".join((attributes.get("alt") or "").split())
        embedded = self._uris.of(attributes.get("src") or attributes.get("href") or attributes.get("xlink:href") or "")
        if not element.look.is_seen:
            element.has_lost = bool(alternative)
            return
        if embedded:
            self._beside += embedded.blocks()
        is_worth_a_word = bool(embedded.picture or embedded.why) if embedded else not _is_small(attributes)
        if alternative:
            self._words.append(f" (picture: {alternative}) ")
        elif is_worth_a_word and (embedded or "alt" not in attributes):
            self._words.append(" (picture) ")

    def _frame_or_film(self, element: OpenElement, attributes: ByName) -> None:
        """What stands within is shown by old browsers only."""
        source = attributes.get("srcdoc")
        if element.look.is_seen and element.tag == "iframe" and source and self._depth < DEEPEST_FRAME:
            frame = HtmlBlocks(keep=self._keep, depth=self._depth + 1)
            frame.feed(source)
            frame.close()
            self._flush()
            self._take_in(frame.take())
        elif element.look.is_seen:
            what = FILMS[element.tag]
            name = attributes.get("title") or attributes.get("aria-label")
            self._words.append(f" ({what}: {name}) " if name else f" ({what}) ")
            self._beside.append(LeftOut(Why.NOT_READ, what))
        element.look = GONE

    def _take_in(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if self._tables.is_in_cell and isinstance(block, Text | Heading):
                self._tables.add(block.markdown if isinstance(block, Text) else block.text)
            else:
                self._ready.append(block)

    def _end_style(self) -> None:
        if self._reads_styles and not self._open.has("svg"):
            self._sheet.add("".join(self._style)[:LONGEST_STYLE])
        self._style = []


def _is_small(attributes: ByName) -> bool:
    sides = (whole_number(attributes.get(name)) for name in ("width", "height"))
    return any(side is not None and side <= SMALLEST_SIDE for side in sides)
