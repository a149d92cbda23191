"""The events of a streamed answer, out of its bytes as they come. Pure, but for ``events_in``.

Most servers send Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html), some an object of JSON a
line, or one document although a stream was asked for. Which of these it is shows in the first character: the content types
that servers tell are often wrong.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from enum import Enum, auto
from typing import Any, NamedTuple

import httpx2

from conversations.providers.errors import StreamError
from conversations.runtime import bounded_json

LONGEST = 4 * 1024 * 1024
"""Bytes of a line, of an event with all its lines, and of a document: a long artifact in one call has a tenth of it."""
LINE_BYTES = 64
"""What keeping a line takes beside its characters."""
MOST_BYTES, MOST_EVENTS = 64 * 1024 * 1024, 500_000
"""Of a whole answer: several times what the longest one of any model has."""
EVENTS_AT_ONCE, BYTES_AT_ONCE = 50, 128 * 1024
"""After so many others get their turn: a service that writes faster than it is read would keep all else waiting."""
FEW_BYTES = 64 * 1024
"""So short a text is parsed without its values being counted."""
DATA_AGAIN = re.compile(r"\A(?:data: ?)*+")
"""The name of the field, as often as proxies put it there."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DONE = "[DONE]"
PINGS = frozenset({"ping", "heartbeat", "keepalive", "keep-alive"})
"""Names of events that say nothing but that the server is there."""


class StreamEvent(NamedTuple):
    """Without ``data`` it is a comment or a ping: a sign of life."""

    data: str = ""
    name: str = ""

    @property
    def is_end(self) -> bool:
        return self.data.lstrip(' "').startswith(DONE)

    def parse(self) -> dict[str, Any]:
        """The object, with its name as its ``type`` where it lacks one. Raises ``StreamError`` where it is another value, and
        ``ValueError`` where it is no JSON."""
        try:
            value = loads(self.data)
        except ValueError:
            if self.name != "error":
                raise
            value = self.data
        if self.name == "error" and not (isinstance(value, dict) and value.get("error")):
            value = {"type": "error", "error": value if isinstance(value, dict) else {"message": str(value)}}
        if not isinstance(value, dict):
            raise StreamError("bad_stream")
        return {"type": self.name, **value} if self.name else value


LIFE = StreamEvent()


class Shape(Enum):
    """``OBJECT`` begins as one: whether it is a line or a document shows where its first line ends."""

    UNKNOWN = auto()
    OBJECT = auto()
    LINES = auto()
    DOCUMENT = auto()


class EventReader:
    """How the bytes are cut makes no difference."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._after_return = False
        self._shape = Shape.UNKNOWN
        self._data: list[str] = []
        self._data_size = 0
        self._name = ""

    def feed(self, received: bytes) -> Iterator[StreamEvent]:
        """Raises ``ValueError`` for what is no UTF-8 and where a line or an event has no end, ``StreamError`` where it is a web
        page. What is looked at is only what came now, so that a line that comes in many pieces costs no more."""
        received = self._with_plain_ends(received)
        self._keep(received)
        if self._shape is Shape.UNKNOWN:
            self._begin()
        elif self._shape is Shape.OBJECT and b"\n" in received:
            self._decide()
        if self._size > LONGEST:
            raise ValueError("a line without end")
        if self._shape is Shape.LINES and b"\n" in received:
            whole, _, rest = self._taken().rpartition(b"\n")
            self._keep(rest)
            for line in whole.split(b"\n"):
                yield from self._line(line.decode())

    def end(self) -> Iterator[StreamEvent]:
        """What came last, where the server left out the empty line after it."""
        if self._shape is Shape.OBJECT:
            self._decide()
        text = self._taken().decode()
        if self._shape is Shape.DOCUMENT:
            yield StreamEvent(text.strip())
        else:
            yield from self._line(text)
            yield from self._line("")

    def _keep(self, received: bytes) -> None:
        if received:
            self._parts.append(received)
            self._size += len(received)

    def _taken(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts, self._size = [], 0
        return taken

    def _with_plain_ends(self, received: bytes) -> bytes:
        """With line feeds for the other ends of lines. A return is one at once: what follows it may be long in coming."""
        if self._after_return and received:
            received = received.removeprefix(b"\n")
            self._after_return = False
        if b"\r" in received:
            self._after_return = received.endswith(b"\r")
            received = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return received

    def _begin(self) -> None:
        """Without the blanks before it, as soon as anything else is there."""
        text = self._taken().removeprefix(BYTE_ORDER_MARK).lstrip()
        self._keep(text)
        if not text or BYTE_ORDER_MARK.startswith(text):
            return
        if text.startswith(b"<"):
            raise StreamError("web_page")
        if not text.startswith((b"{", b"[")):
            self._shape = Shape.LINES
        else:
            self._shape = Shape.OBJECT
            if b"\n" in text:
                self._decide()

    def _decide(self) -> None:
        """Whether the first line is an object of its own."""
        text = self._taken()
        line = text.partition(b"\n")[0]
        is_line = line.startswith(DONE.encode()) or is_json(line.decode(errors="replace"))
        self._shape = Shape.LINES if is_line else Shape.DOCUMENT
        self._keep(text)

    def _line(self, line: str) -> Iterator[StreamEvent]:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            yield from self._event()
        elif line.startswith(("{", DONE)):  # without the name of a field
            yield from self._event()
            yield StreamEvent(line)
        elif not name:
            yield LIFE
        elif name == "data":
            value = DATA_AGAIN.sub("", value, count=1)
            if len(self._data) == 1 and is_json(self._data[0]):  # an empty line is missing between two events
                yield from self._event()
            self._data.append(value)
            self._data_size += len(value) + LINE_BYTES
            if self._data_size > LONGEST:
                raise ValueError("an event without end")
        elif name == "event":
            self._name = value.strip()
        elif name == "error":  # how earlier llama.cpp tells an error
            yield StreamEvent(value, "error")

    def _event(self) -> Iterator[StreamEvent]:
        data, name = self._data, self._name
        self._data, self._data_size, self._name = [], 0, ""
        if name in PINGS or (data and not any(data)):
            yield LIFE
        elif len(data) > 1 and not is_json("\n".join(data)):
            yield from (StreamEvent(line, name) for line in data)
        elif data:
            yield StreamEvent("\n".join(data), name)


def loads(text: str) -> Any:
    """The value of a JSON text. Raises ``ValueError`` where it is none, or one of very many values."""
    if len(text) > FEW_BYTES:
        bounded_json.check(text.encode(errors="surrogatepass"))
    return json.loads(text)


def is_json(text: str) -> bool:
    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True


async def events_in(response: httpx2.Response) -> AsyncGenerator[StreamEvent]:
    """Raises ``StreamError`` where what answers is no service for models, and whatever reading raises."""
    reader, pace = EventReader(), Pace()
    async with aclosing(as_generator(response.aiter_bytes())) as received:
        async for part in received:
            await pace.after(size=len(part))
            for event in reader.feed(part):
                yield event
                await pace.after(events=1)
    for event in reader.end():
        pace.events += 1
        yield event
    if not pace.events and response.headers.get("content-type", "").startswith(("text/html", "text/plain")):
        raise StreamError("web_page")


class Pace:
    """How much has come, and how much of it since others had their turn."""

    def __init__(self) -> None:
        self.events = self.bytes = 0
        self._events_then = self._bytes_then = 0

    async def after(self, *, events: int = 0, size: int = 0) -> None:
        """Give way where it is time. Raises ``ValueError`` where more came than any answer has."""
        self.events += events
        self.bytes += size
        if self.events - self._events_then >= EVENTS_AT_ONCE or self.bytes - self._bytes_then >= BYTES_AT_ONCE:
            self._events_then, self._bytes_then = self.events, self.bytes
            if self.events > MOST_EVENTS or self.bytes > MOST_BYTES:
                raise ValueError("an answer without end")
            await asyncio.sleep(0)


async def as_generator[T](items: AsyncIterator[T]) -> AsyncGenerator[T]:
    async for item in items:
        yield item
