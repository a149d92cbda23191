"""Text as PostgreSQL and JSON can hold it."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
JOINER = "\u200d"
"""Holds an emoji together."""
HARMLESS = {"\n", "\t", JOINER}
CONTROLLING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of Unicode: what a terminal or a log would obey instead of showing it, and breaks of lines beside our own."""


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, visibly; a pair of surrogates becomes the character that it stands for."""
    if not UNSTORABLE.search(text):
        return text
    return paired(text).replace("\0", REPLACEMENT)


def paired(text: str) -> str:
    """The character for each pair of surrogates, of which the halves may have come apart; a lone one is replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str) -> str:
    """Without control characters and line breaks, as a title is shown."""
    return " ".join(CONTROL_CHARACTERS.sub(" ", text).split())


def printable(text: str) -> str:
    """Without what a terminal would take for a command."""
    return "".join(char for char in text if char in HARMLESS or unicodedata.category(char) not in CONTROLLING)


def shortened(text: str, most: int) -> str:
    """So many characters at most, with a mark where it is cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def clean_deep(value: Any) -> Any:
    """``clean`` for every text of a JSON value."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {clean(name): clean_deep(part) for name, part in value.items()}
        case list():
            return [clean_deep(part) for part in value]
    return value


class StreamCleaner:
    """``clean`` for text that comes in pieces: a surrogate pair may be cut in two."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        piece = self._held + piece
        self._held = piece[-1] if piece and "\ud800" <= piece[-1] <= "\udbff" else ""
        return clean(piece[: len(piece) - len(self._held)])

    def end(self) -> str:
        held, self._held = self._held, ""
        return clean(held)


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a JSON value, in order, but for the names in its objects."""
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from texts_in(part)
        case list() | tuple():
            for part in value:
                yield from texts_in(part)
