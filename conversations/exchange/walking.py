"""A JSON text read value by value, so that a document of any length takes the memory of its largest element."""

import json
import re
from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any, NamedTuple, NoReturn, TextIO

from conversations.errors import InvalidImport

CHUNK = 2**18
"""Characters that are read at once."""
EDGE = 16
"""A mistake this near to the end of what was read may be a value that was cut in two."""
AFTER = tuple(",:]} \t\n\r")
"""What may follow a value."""
SPACE = re.compile(r"[ \t\n\r]*")


class Found(NamedTuple):
    """A value under a name, or an element of a list that stands under it; without a name where the document is all there is.

    A list is told of before its elements, as an empty one.
    """

    name: str | None
    number: int | None
    value: Any


def walk(file: TextIO) -> Iterator[Found]:
    """What a list holds, or an object and the lists in it. Raises ``InvalidImport`` where it is no JSON."""
    text = Text(file)
    if text.next() == "[":
        yield Found(None, None, [])
        yield from (Found(None, index, value) for index, value in text.elements())
    elif text.next() == "{":
        for name in text.names():
            if text.next() == "[":
                yield Found(name, None, [])
                yield from (Found(name, index, value) for index, value in text.elements())
            else:
                yield Found(name, None, text.value())
    else:
        yield Found(None, None, text.value())
    if text.next():
        text.refuse("something follows after its end")


def _no_constant(name: str) -> NoReturn:
    raise JSONDecodeError(f"{name} is no number in JSON", "", 0)


class Text:
    """A text of which no more than the value at hand is in memory."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._decoder = file, json.JSONDecoder(parse_constant=_no_constant)
        self._read, self._place, self._passed, self._is_whole = "", 0, 0, False

    def next(self) -> str:
        """The character that comes next and is no space; empty at the end."""
        while True:
            if space := SPACE.match(self._read, self._place):
                self._place = space.end()
            if self._place < len(self._read):
                return self._read[self._place]
            if not self._more():
                return ""

    def names(self) -> Iterator[str]:
        """The names of an object, each at the place of its value, which is to be read before the next is asked for."""
        for _ in self._listed("{}"):
            name = self.value()
            if not isinstance(name, str):
                self.refuse("a name must be a text")
            self._take(":")
            yield name

    def elements(self) -> Iterator[tuple[int, Any]]:
        for index, _ in enumerate(self._listed("[]")):
            yield index, self.value()

    def value(self) -> Any:
        self.next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._read, self._place)
            except JSONDecodeError as error:
                if not (self._may_be_cut(error) and self._more()):
                    self.refuse(error.msg, at=error.pos)
                continue
            except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
                self.refuse(
                    "a value is nested too deep" if isinstance(error, RecursionError) else "a number is too long"
                )
            if self._read[end : end + 1] in AFTER or not self._more():  # else a number may go on
                self._place = end
                return value

    def refuse(self, problem: str, *, at: int | None = None) -> NoReturn:
        place = self._passed + (self._place if at is None else at)
        raise InvalidImport(f"The document is no valid JSON: {problem}, at character {place + 1:,}.", place="")

    def _listed(self, brackets: str) -> Iterator[None]:
        opening, closing = brackets[0], brackets[1]
        self._take(opening)
        if self.next() == closing:
            return self._take(closing)
        while True:
            yield
            if self.next() == closing:
                return self._take(closing)
            self._take(",")

    def _take(self, expected: str) -> None:
        if self.next() != expected:
            self.refuse(f"“{expected}” is expected" if self.next() else "it ends too early")
        self._place += 1

    def _may_be_cut(self, error: JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._read) - EDGE

    def _more(self) -> bool:
        """Read on – the more, the longer the value is that doesn't fit – and let go of what is behind."""
        if self._is_whole:
            return False
        try:
            more = self._file.read(max(CHUNK, len(self._read) - self._place))
        except UnicodeDecodeError:
            raise InvalidImport("The document must be JSON in UTF-8.", place="") from None
        self._is_whole = not more
        self._passed += self._place
        self._read, self._place = self._read[self._place :] + more, 0
        return bool(more)
