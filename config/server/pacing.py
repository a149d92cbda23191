"""Readers who don't keep up: no more is written for them than their connection takes, and whoever reads nothing of an event
stream for long is let go.

Daphne would take in whatever it is given, so that one reader who doesn't read could fill the memory. A socket lets go itself.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from daphne.server import Server
from django.conf import settings
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer  # type: ignore[import-untyped]

from conversations import wire
from conversations.errors import ReaderTooSlow

log = logging.getLogger("openbook.pacing")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]


class ConnectionTooSlow(Exception):
    """The connection has taken nothing for long."""


@dataclass
class InFlight:
    """Requests, event streams among them, that this process has not answered to their end."""

    count: int = 0


in_flight = InFlight()


def patient(application: Application) -> Application:
    """The ASGI application, whose event streams end with an error where nobody reads them."""

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        written = b""

        async def send_noted(message: Message) -> None:
            nonlocal written
            written = message.get("body", b"")
            await send(message)

        in_flight.count += 1
        try:
            await application(scope, receive, send_noted)
        except ConnectionTooSlow:
            log.info("slow reader let go")
            await send({"type": "http.response.body", "body": farewell(written)})
        finally:
            in_flight.count -= 1

    return served


def farewell(written: bytes) -> bytes:
    """The error, unless an event was only begun: readers drop it when nothing follows, and must not take it for a whole one."""
    if not written.endswith(b"\n\n"):
        return b""
    return wire.error_event(ReaderTooSlow())


@implementer(IPushProducer)
class Pace:
    """Whether a connection takes more: Twisted says so. A ``source`` is not heard meanwhile: who reads no answers may not go
    on asking. ``seconds``: how long it may take nothing."""

    def __init__(self, source: Any = None, *, seconds: float | None = None) -> None:
        self.source = source
        self.seconds = seconds
        self.room = asyncio.Event()
        self.room.set()

    async def wait(self) -> None:
        """For room. Raises ``ConnectionTooSlow``."""
        if not self.room.is_set():
            try:
                async with asyncio.timeout(self.seconds):
                    await self.room.wait()
            except TimeoutError:
                raise ConnectionTooSlow from None

    def pauseProducing(self) -> None:  # noqa: N802  # Twisted's names
        self.room.clear()
        if self.source:
            self.source.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802
        self.room.set()
        if self.source:
            self.source.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802
        self.room.set()


def pace_of(start: Message) -> Pace:
    """That of the answer that so starts: who reads an event stream may not rest for long."""
    kinds = [value for name, value in start["headers"] if name.lower() == b"content-type"]
    is_stream = any(kind.startswith(b"text/event-stream") for kind in kinds)
    return Pace(seconds=settings.OPENBOOK_SLOW_READER_SECONDS if is_stream else None)


@contextmanager
def unlimited(protocol: Any) -> Iterator[None]:
    """What comes in is limited, and what goes out by the same numbers, unless they are zero. An event may be long."""
    limits = protocol.maxMessagePayloadSize, protocol.maxFramePayloadSize
    protocol.maxMessagePayloadSize = protocol.maxFramePayloadSize = 0
    try:
        yield
    finally:
        protocol.maxMessagePayloadSize, protocol.maxFramePayloadSize = limits


class PacedServer(Server):  # type: ignore[misc]  # Daphne is untyped
    """Daphne, where ``send`` returns once the connection has room for more."""

    async def handle_reply(self, protocol: Any, message: Message) -> None:
        details = self.connections.get(protocol)
        if details is None or "disconnected" in details:
            return
        is_last = message["type"] == "http.response.body" and not message.get("more_body")
        if is_last and "pace" in details:
            protocol.unregisterProducer()
        with unlimited(protocol) if message["type"] == "websocket.send" else nullcontext():
            await super().handle_reply(protocol, message)
        match message["type"]:
            case "http.response.start":
                details["pace"] = pace_of(message)
                protocol.registerProducer(details["pace"], True)
            case "websocket.accept":
                details["pace"] = Pace(protocol.transport)
                protocol.unregisterProducer()  # the HTTP channel that the socket came by
                protocol.registerProducer(details["pace"], True)
            case "http.response.body" | "websocket.send" if not is_last and "pace" in details:
                await details["pace"].wait()
