"""A formula within a page (MathML), as one line."""

from xml.etree.ElementTree import Element, TreeBuilder

from artifacts.reading.formulas import formula
from artifacts.reading.web.tokens import ByName

DEEPEST = 60
"""What stands deeper in one another stands beside one another."""
MOST_ELEMENTS = 20_000
"""Of the rest, only the text is kept."""
LONGEST_ATTRIBUTE = 100


class HtmlFormula:
    """Is given all that begins and ends within a ``math``, and that itself."""

    def __init__(self) -> None:
        self._tree = TreeBuilder()
        self._open: list[str] = []
        """By depth, the tag; empty where it is not in the tree."""
        self._depth = 0
        self._count = 0

    @property
    def is_open(self) -> bool:
        return bool(self._open)

    def start(self, tag: str, attributes: ByName) -> None:
        is_kept = self._depth < DEEPEST and self._count < MOST_ELEMENTS
        self._open.append(tag if is_kept else "")
        self._count += 1
        if is_kept:
            self._depth += 1
            self._tree.start(tag, {name: (value or "")[:LONGEST_ATTRIBUTE] for name, value in attributes.items()})

    def add(self, text: str) -> None:
        if self._open and self._open[-1]:
            self._tree.data(text)
        elif text.strip():
            self._tree.start("mtext", {})
            self._tree.data(text)
            self._tree.end("mtext")

    def end(self) -> None:
        tag = self._open.pop() if self._open else ""
        if tag:
            self._depth -= 1
            self._tree.end(tag)

    def text(self) -> str:
        root = self._tree.close()
        _tidy(root)
        return formula(root)


def _tidy(root: Element) -> None:
    """White space between signs is no part of a formula."""
    for element in root.iter():
        element.text = " ".join((element.text or "").split())
