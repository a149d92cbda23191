"""Which elements of a page are open, and what a tag closes: also without being said, as browsers do it
(https://html.spec.whatwg.org/multipage/parsing.html#tree-construction)."""

from collections import Counter
from dataclasses import dataclass

from artifacts.reading.web.styles import Look

DEEPEST = 512
"""As in browsers; what is deeper is not kept."""

VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "head", "header", "hgroup", "hr", "html", "legend", "li",
    "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "td",
    "th", "ul",
}) | frozenset(HEADINGS)  # fmt: skip
CELLS = frozenset({"td", "th"})
FORMATTING = frozenset({
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u", "del", "ins", "sup",
    "sub", "mark",
})  # fmt: skip
CLOSE_PARAGRAPHS = BLOCKS - {"body", "head", "html", "td", "th", "tr", "tbody", "tfoot", "thead", "caption"}
UNDRAWN = frozenset({"head", "svg"})
DRAWN = frozenset({"body", "title", "text", "foreignobject"})
SCOPE = frozenset({"table", "td", "th", "caption", "template", "object", "math", "svg"})

IMPLIED: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu", "dir"})),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"})),
    "option": (frozenset({"option"}), frozenset({"select", "datalist", "optgroup"})),
    "optgroup": (frozenset({"option", "optgroup"}), frozenset({"select"})),
    "rt": (frozenset({"rt", "rp"}), frozenset({"ruby"})),
    "rp": (frozenset({"rt", "rp"}), frozenset({"ruby"})),
    "td": (CELLS | {"caption"}, frozenset({"table", "tr"})),
    "th": (CELLS | {"caption"}, frozenset({"table", "tr"})),
    "tr": (CELLS | {"tr", "caption", "colgroup"}, frozenset({"table"})),
    "body": (frozenset({"head"}), frozenset({"body"})),
    "button": (frozenset({"button"}), frozenset({"form"})),
} | {
    tag: (CELLS | {"tr", "caption", "colgroup", "tbody", "thead", "tfoot"}, frozenset({"table"}))
    for tag in ("tbody", "thead", "tfoot", "caption", "colgroup")
}
"""What a start tag closes: the outermost of the first, as far as to one of the second."""


@dataclass(slots=True)
class OpenElement:
    tag: str
    look: Look
    is_drawn: bool = True
    """What stands in it is text: not so in the head of a page, and in a drawing but for its texts."""
    is_preformatted: bool = False
    level: int = 0
    """Of the heading that it stands in."""
    has_lost: bool = False
    """Something stands in it that is not seen."""

    def within(self, outer: "OpenElement") -> None:
        """It takes over what holds of all that stands in the other one."""
        tag = self.tag
        self.is_preformatted = outer.is_preformatted or tag == "pre"
        self.level = HEADINGS.get(tag, outer.level)
        if tag in DRAWN:
            self.is_drawn = True
        else:
            self.is_drawn = outer.is_drawn and tag not in UNDRAWN


PAGE = OpenElement("", Look())


class OpenElements:
    """A stack. ``closed_by_…`` is the place of the outermost element that is closed, and with it all behind it."""

    def __init__(self) -> None:
        self.stack: list[OpenElement] = []
        self.last = PAGE
        """The innermost."""
        self._counts: Counter[str] = Counter()

    def has(self, tag: str) -> bool:
        return self._counts[tag] > 0

    @property
    def is_full(self) -> bool:
        return len(self.stack) >= DEEPEST

    def push(self, element: OpenElement) -> None:
        element.within(self.last)
        self.stack.append(element)
        self._counts[element.tag] += 1
        self.last = element

    def remove(self, at: int = -1) -> None:
        element = self.stack.pop(at)
        self._counts[element.tag] -= 1
        self.last = self.stack[-1] if self.stack else PAGE

    def parent(self, element: OpenElement) -> OpenElement:
        """What an open element stands in."""
        place = len(self.stack) - 1 if self.last is element else self.stack.index(element)
        return self.stack[place - 1] if place else PAGE

    def first(self, tag: str) -> int:
        """The place of the outermost."""
        return next((place for place, element in enumerate(self.stack) if element.tag == tag), len(self.stack))

    def closed_by_start(self, tag: str) -> int:
        place = len(self.stack)
        if tag in CLOSE_PARAGRAPHS and self._counts["p"]:
            place = min(place, self._last(frozenset({"p"}), SCOPE))
        if tag in IMPLIED:
            tags, border = IMPLIED[tag]
            if any(self._counts[each] for each in tags):
                place = min(place, self._first(tags, border))
        return place

    def closed_by_end(self, tag: str) -> int:
        if not self._counts[tag]:
            return len(self.stack)
        if tag in {"table", "html", "body", "template", "object", "math", "svg"}:
            border: frozenset[str] = frozenset()
        elif tag in CELLS or tag in {"tr", "tbody", "thead", "tfoot", "caption"}:
            border = frozenset({"table"})
        elif tag in BLOCKS:
            border = SCOPE
        else:
            border = BLOCKS | SCOPE
        return self._last(frozenset({tag}), border)

    def across_blocks(self, tag: str) -> int:
        """The place of something like ``<b>`` that a block stands in when it ends; the block stays open."""
        return self._last(frozenset({tag}), SCOPE) if tag in FORMATTING and self._counts[tag] else len(self.stack)

    def _last(self, tags: frozenset[str], border: frozenset[str]) -> int:
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place].tag in tags:
                return place
            if self.stack[place].tag in border:
                break
        return len(self.stack)

    def _first(self, tags: frozenset[str], border: frozenset[str]) -> int:
        first = len(self.stack)
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place].tag in border:
                break
            if self.stack[place].tag in tags:
                first = place
        return first
