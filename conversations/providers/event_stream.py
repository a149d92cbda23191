"""The events of a streamed answer, out of its bytes as they come. Pure, but for ``events_in``.

Most servers send Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html), some an object of JSON a
line, or one document although a stream was asked for. Which of these it is shows in the first character: the content types
that servers tell are often wrong.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from enum import Enum, auto
from typing import Any, NamedTuple

import httpx2

from conversations.providers.errors import StreamError

LONGEST_LINE = 16 * 1024 * 1024
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
            value = json.loads(self.data)
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
    UNKNOWN = auto()
    LINES = auto()
    DOCUMENT = auto()


class EventReader:
    """How the bytes are cut makes no difference."""

    def __init__(self) -> None:
        self._rest = b""
        self._after_return = False
        self._shape = Shape.UNKNOWN
        self._data: list[str] = []
        self._name = ""

    def feed(self, received: bytes) -> Iterator[StreamEvent]:
        """Raises ``ValueError`` for what is no UTF-8 and where a line has no end, ``StreamError`` where it is a web page."""
        self._rest += self._with_plain_ends(received)
        if self._shape is Shape.UNKNOWN:
            self._look(is_all=False)
        if len(self._rest) > LONGEST_LINE and (self._shape is Shape.DOCUMENT or b"\n" not in self._rest):
            raise ValueError("a line without end")
        if self._shape is Shape.LINES:
            whole, end, self._rest = self._rest.rpartition(b"\n")
            for line in whole.split(b"\n") if end else ():
                yield from self._line(line.decode())

    def end(self) -> Iterator[StreamEvent]:
        """What came last, where the server left out the empty line after it."""
        if self._shape is Shape.UNKNOWN:
            self._look(is_all=True)
        if self._shape is Shape.DOCUMENT:
            yield StreamEvent(self._rest.decode().strip())
        else:
            yield from self._line(self._rest.decode())
            yield from self._line("")

    def _with_plain_ends(self, received: bytes) -> bytes:
        """With line feeds for the other ends of lines. A return is one at once: what follows it may be long in coming."""
        if self._after_return and received:
            received = received.removeprefix(b"\n")
            self._after_return = False
        if b"\r" in received:
            self._after_return = received.endswith(b"\r")
            received = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return received

    def _look(self, *, is_all: bool) -> None:
        """Which shape it has, as far as that can be told yet."""
        text = self._rest.removeprefix(BYTE_ORDER_MARK).lstrip()
        if not text or (BYTE_ORDER_MARK.startswith(text) and not is_all):
            return
        if text.startswith(b"<"):
            raise StreamError("web_page")
        line, end, _ = text.partition(b"\n")
        if text.startswith((b"{", b"[")) and not (end or is_all):
            return
        is_document = text.startswith((b"{", b"[")) and not is_json(line.decode(errors="replace"))
        self._shape = Shape.DOCUMENT if is_document and not line.startswith(DONE.encode()) else Shape.LINES
        self._rest = text

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
            while value.startswith("data:"):  # twice through a proxy
                value = value.removeprefix("data:").removeprefix(" ")
            if len(self._data) == 1 and is_json(self._data[0]):  # an empty line is missing between two events
                yield from self._event()
            self._data.append(value)
        elif name == "event":
            self._name = value.strip()
        elif name == "error":  # how earlier llama.cpp tells an error
            yield StreamEvent(value, "error")

    def _event(self) -> Iterator[StreamEvent]:
        data, name = self._data, self._name
        self._data, self._name = [], ""
        if name in PINGS or (data and not any(data)):
            yield LIFE
        elif len(data) > 1 and not is_json("\n".join(data)):
            yield from (StreamEvent(line, name) for line in data)
        elif data:
            yield StreamEvent("\n".join(data), name)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


async def events_in(response: httpx2.Response) -> AsyncGenerator[StreamEvent]:
    """Raises ``StreamError`` where what answers is no service for models, and whatever reading raises."""
    reader, has_events = EventReader(), False
    async with aclosing(as_generator(response.aiter_bytes())) as received:
        async for part in received:
            for event in reader.feed(part):
                has_events = True
                yield event
    for event in reader.end():
        has_events = True
        yield event
    if not has_events and response.headers.get("content-type", "").startswith(("text/html", "text/plain")):
        raise StreamError("web_page")


async def as_generator[T](items: AsyncIterator[T]) -> AsyncGenerator[T]:
    async for item in items:
        yield item
