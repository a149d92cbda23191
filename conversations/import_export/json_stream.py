"""A JSON text read value by value, so that a document of any length takes little memory.

Before a value is made, it is measured: how many values it holds, how deep, how long it is. Whatever a shape does not name is
passed over and never made.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from json import JSONDecodeError
from typing import Any, Final, Literal, NamedTuple, NoReturn, Protocol

from conversations.errors import InvalidImport
from conversations.import_export.disk_lists import FEW, Scratch, Spool
from conversations.runtime import long_work

CHUNK = 2**18
"""Bytes that are read at once."""
SPACE = re.compile(rb"[ \t\n\r]*")
# Possessive, so that a long text takes no memory of its own.
TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("|\\?\Z)|[\[\]{},]', re.DOTALL)
FAR = re.compile(rb"[\xf0-\xff]")
"""The first byte of a character that is not in Unicode's basic plane."""
PLAIN = re.compile(rb"[^,:\[\]{}\" \t\n\r]*")
"""A number, or true, false, null."""
PIECE = re.compile(rb'(?:[^"\\]++|\\(?:u[0-9a-fA-F]{4}|[^u]))*+')
"""Of a text, without an escape that is not there as a whole."""
QUOTE, STEPS, COUNTED = ord('"'), {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}, frozenset(b"[{,")
MARK = b"\xef\xbb\xbf"
LONGEST_ESCAPE = 6
NOT_FIRST = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that no character begins with."""

MOST_VALUES, MOST_OF_CONVERSATION = 50_000, 200_000
"""In what is made at once: a message, a note; a whole conversation of elsewhere."""
DEEPEST = 200
MOST_BYTES = 56_000_000
"""Of memory that the text of one value may take while it is read."""
MOST_SKIPPED = 1_000_000
"""Values in what is passed over."""
MOST_IN_ALL = 10_000_000
"""Values of a whole text: a million messages."""
MOST_ELEMENTS = 1_000_000
"""Of one list."""
IN_MEMORY = 2**20
"""Bytes of JSON of a list that is kept in memory."""

PASSED: Final = "passed"
type Shape = Mapping[str, "Shape"] | list["Shape"] | Literal["passed"] | Callable[["Text"], Any] | None
"""The names of an object that are kept, a list by the shape of its elements, what is only passed over, what a function reads,
or any value."""


class ByteReader(Protocol):
    def read(self, size: int, /) -> bytes: ...


class StreamedValue(NamedTuple):
    """A value under a name, or an element of a list that stands under it; without a name where the document is all there is.

    A list is told of before its elements, as an empty one.
    """

    name: str | None
    number: int | None
    value: Any


def walk(
    file: ByteReader, scratch: Scratch, shape: Mapping[str, Shape], *, makes_elements: bool = True
) -> Iterator[StreamedValue]:
    """What a list holds, or the names of an object that the shape has, and the lists in it.

    Raises ``InvalidImport`` where it is no JSON, or holds a value that is too large.
    """
    text = Text(file, scratch)
    if text.next() == b"[":
        yield StreamedValue(None, None, [])
        for index in text.elements():
            if makes_elements:
                yield StreamedValue(None, index, text.value(most=MOST_OF_CONVERSATION))
            else:
                yield StreamedValue(None, index, text.read(PASSED))
    elif text.next() == b"{":
        for name in text.names():
            inner = shape.get(name)
            if name not in shape:
                text.skip()
            elif inner == PASSED:
                text.read(inner)
            elif text.next() == b"[" and isinstance(inner, list):
                yield StreamedValue(name, None, [])
                yield from (StreamedValue(name, index, text.read(inner[0])) for index in text.elements())
            else:
                yield StreamedValue(name, None, text.read(inner) if callable(inner) else text.value())
    else:
        yield StreamedValue(None, None, text.value())
    text.end()


def _no_constant(name: str) -> NoReturn:
    raise JSONDecodeError(f"{name} is no number in JSON", "", 0)


class Text:
    """A text of which no more than the value at hand is in memory."""

    def __init__(self, file: ByteReader, scratch: Scratch, *, most_elements: int = MOST_ELEMENTS) -> None:
        self._file, self._scratch, self._most_elements = file, scratch, most_elements
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)
        self._read, self._place, self._is_whole = b"", 0, False
        self._values = 0
        self._passed, self._passed_bytes = 0, 0
        """Characters, and bytes, that were let go of."""
        self._more()
        if self._read.startswith(MARK):
            self._place = len(MARK)

    def next(self) -> bytes:
        """The byte that comes next and is no space; empty at the end."""
        while True:
            if space := SPACE.match(self._read, self._place):
                self._place = space.end()
            if self._place < len(self._read):
                return self._read[self._place : self._place + 1]
            if not self._more():
                return b""

    def end(self) -> None:
        if self.next():
            self.refuse("something follows after its end")

    def names(self) -> Iterator[str]:
        """The names of an object, each at the place of its value, which is to be read before the next is asked for."""
        for _ in self._elements(b"{}"):
            name = self.value()
            if not isinstance(name, str):
                self.refuse("a name must be a text")
            self._take(b":")
            yield name

    def elements(self) -> Iterator[int]:
        """The numbers of a list's elements, each at the place of the element, which is to be read before the next."""
        for index, _ in enumerate(self._elements(b"[]")):
            if index == self._most_elements:
                self.refuse(
                    f"a list has more than {self._most_elements:,} elements; send them as several documents", json=False
                )
            yield index

    def read(self, shape: Shape) -> Any:
        """The value of that shape; what has another one is read as it is, to be refused by whoever knows better."""
        if isinstance(shape, Mapping) and self.next() == b"{":
            return {name: self.read(shape[name]) for name in self._names_of(shape)}
        if isinstance(shape, list) and self.next() == b"[":
            return self._list(shape[0])
        if callable(shape):
            return shape(self)
        return self.skip(most=MOST_IN_ALL) if shape == PASSED else self.value()

    def pieces(self) -> Iterator[bytes]:
        """What stands between the quotes of a text, as it stands there: its escapes are whole, but not resolved."""
        self._take(b'"')
        while True:
            found = PIECE.match(self._read, self._place)
            assert found
            yield found[0]
            self._place = found.end()
            if self._read[self._place : self._place + 1] == b'"':
                self._place += 1
                return
            if len(self._read) - self._place > LONGEST_ESCAPE:
                self.refuse("an escape is none")
            if not self._more():
                self.refuse("it ends too early")

    def value(self, *, most: int = MOST_VALUES) -> Any:
        """Any value, made as a whole once it is known not to be too large."""
        end = self._measured(keeps=True, most=most)
        start = self._place
        try:
            text = str(memoryview(self._read)[start:end], "utf-8")
        except UnicodeDecodeError:
            raise InvalidImport("The document must be JSON in UTF-8.", place="") from None
        try:
            value = self._decoder.decode(text)
        except JSONDecodeError as error:
            self.refuse(error.msg, at=len(text[: error.pos].encode()))
        except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
            self.refuse("a value is nested too deep" if isinstance(error, RecursionError) else "a number is too long")
        self._place = end
        return value

    def skip(self, *, most: int = MOST_SKIPPED) -> None:
        """Pass over a value, of which nothing is made."""
        self._place = self._measured(keeps=False, most=most)

    def refuse(self, problem: str, *, at: int = 0, json: bool = True) -> NoReturn:
        place = self._passed + _characters(self._read[: self._place + at])
        beginning = "The document is no valid JSON" if json else "The document can't be taken"
        raise InvalidImport(f"{beginning}: {problem}, at character {place + 1:,}.", place="")

    def _names_of(self, shape: Mapping[str, Shape]) -> Iterator[str]:
        for name in self.names():
            if name in shape:
                yield name
            else:
                self.skip()

    def _list(self, shape: Shape) -> Sequence[Any]:
        values: list[Any] | Spool[Any] = []
        begun_at = self._passed_bytes + self._place
        for number in self.elements():
            is_long = number == FEW or self._passed_bytes + self._place - begun_at > IN_MEMORY
            if is_long and isinstance(values, list):
                values = Spool(self._scratch, values)
            values.append(self.read(shape))
        return values

    def _measured(self, *, keeps: bool, most: int) -> int:
        """Where the value ends. It is kept from its beginning on, or let go of as it is read."""
        first = self.next()
        if first not in (b"[", b"{", b'"'):
            return self._plain_end()
        at, level, values, most = self._place, 0, 0, min(most, MOST_IN_ALL - self._values)
        while True:
            for token in TOKEN.finditer(self._read, at):
                sign = self._read[token.start()]
                if sign == QUOTE and token[1] != b'"':  # it may go on behind what was read
                    at = token.start()
                    break
                at = token.end()
                level += STEPS.get(sign, 0)
                values += sign in COUNTED
                if values > most or level > DEEPEST:
                    self._refuse_size(most, level)
                if level <= 0:
                    self._values += values
                    return at
            else:
                at = max(at, len(self._read))
            if not keeps:
                at = self._let_go(at)
            before = self._place
            if not self._more():
                return len(self._read)
            at -= before - self._place
            self._check_size()

    def _refuse_size(self, most: int, level: int) -> NoReturn:
        too_deep = f"a value is nested more than {DEEPEST} levels deep"
        self.refuse(too_deep if level > DEEPEST else f"a part of it holds more than {most:,} values", json=False)

    def _let_go(self, at: int) -> int:
        """Of a text that goes on, only its beginning is kept; what it says doesn't matter."""
        if at < len(self._read):
            backslashes = len(self._read) - len(self._read.rstrip(b"\\"))
            rest = b'"' + b"\\" * (backslashes % 2)
            self._passed += _characters(self._read) - len(rest)
            self._passed_bytes += len(self._read) - len(rest)
            self._read, self._place = rest, 0
            return 0
        self._place = at
        return at

    def _plain_end(self) -> int:
        while True:
            plain = PLAIN.match(self._read, self._place)
            end = plain.end() if plain else self._place
            if end < len(self._read) or not self._more():
                return max(end, min(self._place + 1, len(self._read)))
            self._check_size()

    def _check_size(self) -> None:
        """A text with characters far from Latin takes up to four bytes for each of them."""
        size = len(self._read) - self._place
        width = 1 if self._read.isascii() else 4 if FAR.search(self._read, self._place) else 2
        if size * (2 + 2 * width) > MOST_BYTES:
            self.refuse("a part of it is too long", json=False)

    def _elements(self, brackets: bytes) -> Iterator[None]:
        opening, closing = brackets[:1], brackets[1:]
        self._take(opening)
        if self.next() == closing:
            return self._take(closing)
        while True:
            yield
            if self.next() == closing:
                return self._take(closing)
            self._take(b",")

    def _take(self, expected: bytes) -> None:
        if self.next() != expected:
            self.refuse(f"“{expected.decode()}” is expected" if self.next() else "it ends too early")
        self._place += 1

    def _more(self) -> bool:
        """Read on – the more, the longer the value is that doesn't fit – and let go of what is behind."""
        long_work.check()
        if self._is_whole:
            return False
        more = self._file.read(max(CHUNK, min(len(self._read) - self._place, 2**22)))
        self._is_whole = not more
        self._passed += _characters(self._read[: self._place])
        self._passed_bytes += self._place
        self._read, self._place = self._read[self._place :] + more, 0
        return bool(more)


def _characters(text: bytes) -> int:
    return len(text.translate(None, NOT_FIRST))
