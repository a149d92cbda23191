"""Request bodies: none that is too large is read to its end, and none that is large is held in memory.

Daphne takes in a whole body before it calls the application, so for it both happen in its own protocol; for other servers
the application refuses what is too large.
"""

import io
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import IO, Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from django.conf import settings

from conversations.api import messages_api
from conversations.api.errors import message_too_long
from conversations.api.messages_shapes import error_body
from conversations.errors import BadRequest, OpenbookError, describe
from conversations.exchange.uploads import too_large
from conversations.request_ids import request_scope

API = "/api/"
IMPORT = "/api/v1/import/"
MESSAGES = "/v1/"
"""The Messages API, whose errors have a shape of their own."""
FILE = "openbook.body"
"""In the scope of a request that came through Daphne: its body, as a file."""
PIECE = 2**16
LINGER_SECONDS = 10
"""How long what is still sent is read and dropped: whoever writes a body to its end reads the answer only then."""

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[..., Awaitable[None]]


def limit_of(path: str) -> int:
    """Bytes that the body of a request to this path may have."""
    if path.startswith(IMPORT):
        return max(settings.OPENBOOK_MAX_IMPORT_MB * 2**20, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    return messages_api.LARGEST_BODY if path.startswith(MESSAGES) else settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def body_too_large(path: str) -> OpenbookError:
    if path.startswith(IMPORT):
        return too_large(limit_of(path))
    return messages_api.too_large() if path.startswith(MESSAGES) else message_too_long()


def answered(error: OpenbookError, path: str, proposed_id: str) -> tuple[bytes, dict[str, str]]:
    """The body and the headers that tell of an error where there is no Django yet. The connection is not used again."""
    with request_scope(proposed_id) as request_id:
        told = describe(error)
    body = json.dumps(error_body(error.status, told) if path.startswith(MESSAGES) else {"error": told}).encode()
    headers = {"Content-Type": "application/json", "X-Request-ID": request_id, "Connection": "close"}
    return body, headers | {"Content-Length": str(len(body))}


class TooLarge(Exception):
    """More came than was allowed."""


def bounded(application: Application) -> Application:
    """The ASGI application, which is never called with a body that is announced as too large, or reads only so much of one."""

    async def checked(scope: Event, receive: Receive, send: Send) -> None:
        if FILE in scope:
            await application(scope, _from_file(scope.pop(FILE), receive), send)
            return
        limit, read, started = limit_of(scope["path"]), 0, False

        async def receive_so_much() -> Event:
            nonlocal read
            event = await receive()
            read += len(event.get("body", b""))
            if read > limit:
                raise TooLarge
            return event

        async def send_once(event: Event) -> None:
            nonlocal started
            started = True
            await send(event)

        try:
            if _announced(scope) > limit:
                raise TooLarge
            await application(scope, receive_so_much, send_once)
        except TooLarge:
            if started:
                raise
            await _answer(scope, send)

    return checked


def _from_file(body: IO[bytes], receive: Receive) -> Receive:
    """A body whose size was checked when it came, a piece each time that one is asked for."""
    is_begun = is_read = False

    async def piece() -> Event:
        nonlocal is_begun, is_read
        if is_read:
            return await receive()
        if not is_begun:
            is_begun = bool(await receive())  # the empty body that Daphne has put in its place
        found = body.read(PIECE)
        if is_read := len(found) < PIECE:
            body.close()
        return {"type": "http.request", "body": found, "more_body": not is_read}

    return piece


def _announced(scope: Event) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 20 else 0


async def _answer(scope: Event, send: Send) -> None:
    proposed = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    body, headers = answered(body_too_large(scope["path"]), scope["path"], proposed)
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 413, "headers": raw})
    await send({"type": "http.response.body", "body": body})


class BoundedRequest(WebRequest):  # type: ignore[misc]
    """Answers as soon as a body is known to be too large, and drops what of it still comes."""

    content: IO[bytes]
    refused = False
    left = 0

    def gotLength(self, length: int | None) -> None:  # noqa: N802  # Twisted's name
        self.left = limit_of(self._asked_path())
        is_too_large = length is not None and length > self.left
        super().gotLength(0 if is_too_large else length)
        if is_too_large:
            self._refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        self.left -= len(data)
        if self.refused:
            return
        if self.left < 0:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        return self.channel.loseConnection() if self.refused else super().process()

    def taken(self) -> IO[bytes]:
        """The body, which Daphne would otherwise put into a queue, all of it at once; that gets an empty one."""
        body, self.content = self.content, io.BytesIO()
        return body

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """What Daphne itself can't read: a header, an address."""
        path = self._uri()
        if not path.startswith((API, MESSAGES)):
            super().basic_error(status, status_text, body)
            return
        content, headers = answered(BadRequest(f"The request can't be read: {body}."), path, self._proposed_id())
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": raw})
        self.handle_reply({"type": "http.response.body", "body": content})

    def handle_exception(self, exception: BaseException) -> None:
        """An answer that has begun is broken off, so that nobody takes it for whole."""
        if self._response_started:
            self.channel.forceAbortClient()
        else:
            super().handle_exception(exception)

    def _asked_path(self) -> str:
        # Twisted tells a request of its path only when all of it has come.
        return str(self.channel._path.decode("latin-1").partition("?")[0])

    def _uri(self) -> str:
        return str(self.uri.decode("latin-1"))

    def _proposed_id(self) -> str:
        return str((self.requestHeaders.getRawHeaders("X-Request-ID") or [""])[0])

    def _refuse(self) -> None:
        self.refused = True
        path = self._asked_path()
        body, headers = answered(body_too_large(path), path, self._proposed_id())
        lines = ["HTTP/1.1 413 Content Too Large", *(f"{name}: {value}" for name, value in headers.items())]
        self.channel.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.channel.callLater(LINGER_SECONDS, self.channel.loseConnection)


class BoundedFactory(HTTPFactory):  # type: ignore[misc]
    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


class BoundedServer(Server):  # type: ignore[misc]
    def create_application(self, protocol: Any, scope: Event) -> Any:
        if isinstance(protocol, BoundedRequest):
            scope[FILE] = protocol.taken()
        return super().create_application(protocol, scope)
