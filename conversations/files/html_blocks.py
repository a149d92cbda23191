"""HTML as blocks: what a reader would see. Scripts, styles and what is hidden are left out; links are their text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from conversations.files.blocks import Block, Heading, Text, table
from conversations.files.html_tokens import Attributes, HtmlTokens

UNSEEN = {
    "script",
    "style",
    "template",
    "noscript",
    "title",
    "svg",
    "math",
    "iframe",
    "object",
    "audio",
    "video",
    "canvas",
}
HIDEABLE = {
    *(
        "div",
        "span",
        "section",
        "article",
        "aside",
        "table",
        "ul",
        "ol",
        "form",
        "header",
        "footer",
        "nav",
        "a",
        "b",
        "p",
    ),
}
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BREAKS = {
    *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "address", "blockquote", "figure"),
    *("figcaption", "form", "fieldset", "ul", "ol", "dl", "dt", "dd", "li", "body", "html", "hr", "details", "summary"),
    *("center", "caption", "legend", "option", "title", "head"),
}
DEEPEST_LIST = 9
LONGEST_TITLE = 1_000


@dataclass
class _Table:
    """``is_layout``: it holds other tables, so its cells are paragraphs."""

    rows: list[list[str]] = field(default_factory=list)
    is_layout: bool = False


class HtmlBlocks(HtmlTokens):
    """Fed piece by piece; ``take()`` gives the blocks that are ready. ``title`` is that of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self._ready: list[Block] = []
        self._words: list[str] = []
        self._heading = 0
        self._lists: list[str] = []
        self._is_item = False
        self._is_preformatted = False
        self._tables: list[_Table] = []
        self._cell: list[str] | None = None
        self._unseen = ""
        self._unseen_depth = 0

    def take(self) -> Iterator[Block]:
        """And lets go of them."""
        ready, self._ready = self._ready, []
        yield from ready

    def close(self) -> None:
        super().close()
        self._flush()
        while self._tables:
            self._end_table()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if self._unseen == "p" and tag in BREAKS:
            self._unseen = ""  # a paragraph ends where the next block begins
        if self._unseen:
            self._unseen_depth += tag == self._unseen
        elif tag in UNSEEN or (tag in HIDEABLE and _is_hidden(attrs)):
            self._unseen, self._unseen_depth = tag, 1
        else:
            self._start(tag, dict(attrs))

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        if not self._unseen and tag not in UNSEEN:
            self._start(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._unseen_depth -= tag == self._unseen
            if not self._unseen_depth:
                self._unseen = ""
        elif tag in {"td", "th", "tr"}:
            self._end_cell()
        elif tag == "table":
            self._flush()
            self._end_table()
        elif tag in HEADINGS or tag in BREAKS or tag == "pre":
            self._flush()
            self._is_preformatted = self._is_preformatted and tag != "pre"
            if tag in {"ul", "ol"} and self._lists:
                self._lists.pop()

    def handle_data(self, data: str) -> None:
        if self._unseen == "title":
            self.title = f"{self.title}{data}"[:LONGEST_TITLE]
        elif not self._unseen:
            self._words.append(data)

    def _start(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "br":
            self._words.append("\n" if self._is_preformatted else "\r")
        elif tag == "img":
            alternative = attributes.get("alt")
            self._words.append(f" (picture: {alternative}) " if alternative else "")
        elif tag == "table":
            self._start_table()
        elif tag == "tr" and self._tables:
            self._end_cell()
            self._tables[-1].rows.append([])
        elif tag in {"td", "th"} and self._tables:
            self._end_cell()
            self._cell = None if self._tables[-1].is_layout else []
        elif tag in HEADINGS or tag in BREAKS or tag == "pre":
            self._flush()
            self._heading = HEADINGS.get(tag, 0)
            self._is_preformatted = self._is_preformatted or tag == "pre"
            self._is_item = tag == "li" or (self._is_item and tag not in HEADINGS and bool(self._lists))
            if tag in {"ul", "ol"}:
                self._lists.append(tag)

    def _flush(self) -> None:
        """What was said so far is a block, or a line of the cell that it stands in."""
        text = "".join(self._words)
        self._words = []
        if self._is_preformatted:
            text = text.strip("\n")
        else:
            text = "\n".join(line for part in text.split("\r") if (line := " ".join(part.split())))
        heading, self._heading = self._heading, 0
        if not text.strip():
            return
        if self._cell is not None:
            self._cell.append(text)
        elif heading:
            self._ready.append(Heading(heading, " ".join(text.split())))
        elif self._is_preformatted:
            self._ready.append(Text(f"```\n{text}\n```"))
        elif self._is_item:
            depth = min(len(self._lists), DEEPEST_LIST)
            self._ready.append(Text(f"{'  ' * (depth - 1)}- {text}", is_item=True))
            self._is_item = False
        else:
            self._ready.append(Text(text))

    def _start_table(self) -> None:
        self._flush()
        if self._tables:
            self._as_paragraphs(self._tables[-1])
        self._tables.append(_Table())

    def _end_cell(self) -> None:
        self._flush()
        if self._cell is not None and self._tables:
            rows = self._tables[-1].rows
            if not rows:
                rows.append([])
            rows[-1].append(" ".join(self._cell))
        self._cell = None

    def _end_table(self) -> None:
        self._end_cell()
        if not self._tables:
            return
        ended = self._tables.pop()
        if max(map(len, ended.rows), default=0) > 1 and not ended.is_layout:
            self._ready.extend(table(list(enumerate(ended.rows, 1))))
        else:
            self._as_paragraphs(ended)

    def _as_paragraphs(self, outer: _Table) -> None:
        texts = [cell for row in outer.rows for cell in row] + (self._cell or [])
        self._ready.extend(Text(text) for text in texts if text.strip())
        outer.rows, outer.is_layout, self._cell = [], True, None


def _is_hidden(attributes: Attributes) -> bool:
    return any(name == "hidden" or (name == "style" and HIDDEN_STYLE.search(value or "")) for name, value in attributes)
