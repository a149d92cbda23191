"""Request bodies: none that is too large is read to its end, none that is large is held in memory, nobody who offers no
credentials brings more than a form, and all together take so much of a disk.

Daphne takes in a whole body before it calls the application, so for it all of this happens in its own protocol; for other
servers the application does it.
"""

import asyncio
import io
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from http.client import responses
from typing import IO, Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from django.conf import settings

from config.server import senders
from config.server.headers import plain_headers
from config.server.senders import Sender
from conversations.errors import BadRequest, MessageTooLong, OpenbookError, SignInNeeded, Unavailable, describe
from conversations.files import uploads as file_uploads
from conversations.import_export.uploads import too_large
from conversations.rest import import_export, messages_body
from conversations.rest.errors import message_too_long
from conversations.rest.messages_shapes import STATUSES, error_body
from conversations.rest.throttling import headers_of
from conversations.runtime.request_ids import request_scope

API = "/api/"
IMPORT = "/api/v1/import/"
FILES = "/api/v1/files/"
FORM_BYTES = 2**16
"""Of an upload, beside the file."""
TOKEN = "/api/v1/auth/token/"  # noqa: S105
"""The one call of the API that nobody needs to be signed in for."""
MESSAGES = "/v1/"
"""The Messages API, whose errors have a shape of their own."""
AGENTS = "/mcp/"
FILE = "openbook.body"
"""In the scope of a request that came through Daphne: its body, as a file."""
PIECE = 2**16
OF_STRANGERS = 2**16
"""Bytes of a body that comes without credentials: a form, or what a token is asked for with."""
LINGER_SECONDS = 10.0
"""How long what is still sent is read and dropped: whoever writes a body to its end reads the answer only then."""
ENDING_SECONDS = 1.0
"""The same for somebody whose access has ended."""

Headers = Mapping[str, str]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[..., Awaitable[None]]


class BodyStoreFull(Unavailable):
    code = "no_room"
    message = "The server is taking in as much as it may just now. Nothing was done; send it again in a minute."


def headers_by_name(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """In small letters, each cookie header among them."""
    named: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        named[name] = f"{named[name]}; {value}" if name in named else value
    return named


def offers_credentials(headers: Headers) -> bool:
    """Whether they are right is for the application to see."""
    cookies = {part.partition("=")[0].strip() for part in headers.get("cookie", "").split(";")}
    return settings.SESSION_COOKIE_NAME in cookies or not headers.keys().isdisjoint({"authorization", "x-api-key"})


def limit_of(path: str, headers: Headers) -> int:
    """Bytes that the body of a request may have."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if not offers_credentials(headers):
        return min(OF_STRANGERS, most)
    if path.startswith(IMPORT):
        return max(import_export.largest_body(), most)
    if path == FILES:
        return max(settings.OPENBOOK_MAX_FILE_MB * 2**20 + FORM_BYTES, most)
    return messages_body.LARGEST_BODY if path.startswith(MESSAGES) else most


def body_too_large(path: str, headers: Headers) -> OpenbookError:
    if not offers_credentials(headers):
        if needs_credentials(path):
            return SignInNeeded(SIGN_IN_FIRST)
        return MessageTooLong(f"Without credentials, a body may have {OF_STRANGERS:,} bytes.", limit=OF_STRANGERS)
    if path.startswith(IMPORT):
        return too_large(limit_of(path, headers))
    if path == FILES:
        return file_uploads.too_large()
    return messages_body.too_large() if path.startswith(MESSAGES) else message_too_long()


def needs_credentials(path: str) -> bool:
    """Of every body that is sent there."""
    return path.startswith((API, MESSAGES, AGENTS)) and path != TOKEN


SIGN_IN_FIRST = "Authentication credentials were not provided. Offer a valid token with what you send."


class Body:
    """How much of one body has come, and how much all of this process have that are still there."""

    of_all = 0
    """Bytes, but for the first ``PIECE`` of each: what is short is always taken."""

    def __init__(self, path: str, headers: Headers, announced: int) -> None:
        self._path, self._headers, self._announced = path, headers, announced
        self._limit = limit_of(path, headers)
        self._size = self._counted = 0

    def refusal(self) -> OpenbookError | None:
        """Why it is not taken, by what is announced."""
        return self._refusal(self._announced, more=self._announced - PIECE)

    def add(self, size: int) -> OpenbookError | None:
        """The same, by what has come."""
        self._size += size
        more = max(0, self._size - PIECE) - self._counted
        if error := self._refusal(self._size, more=more):
            return error
        self._counted += more
        Body.of_all += more
        return None

    def release(self) -> None:
        Body.of_all -= self._counted
        self._counted = 0

    def _refusal(self, size: int, *, more: int) -> OpenbookError | None:
        if size > self._limit:
            return body_too_large(self._path, self._headers)
        return (
            BodyStoreFull(retry_after=60)
            if more > 0 and Body.of_all + more > settings.OPENBOOK_MAX_UPLOADS_MB * 2**20
            else None
        )


def answered(error: OpenbookError, path: str, proposed_id: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers that tell of an error where there is no Django yet. The connection is not used again."""
    with request_scope(proposed_id) as request_id:
        told = describe(error)
    is_theirs = path.startswith(MESSAGES)
    status = STATUSES.get(error.status, error.status) if is_theirs else error.status
    body = json.dumps(error_body(status, told) if is_theirs else {"error": told}).encode()
    headers = plain_headers() | {"Content-Type": "application/json", "Cache-Control": "no-store"}
    headers |= {"X-Request-ID": request_id, "Connection": "close"}
    challenge = {"WWW-Authenticate": "Bearer" if is_theirs else "Token"} if status == 401 else {}
    return status, body, headers | challenge | headers_of(error) | {"Content-Length": str(len(body))}


class BodyRefused(Exception):
    """A body that is not taken, or no further."""

    def __init__(self, error: OpenbookError) -> None:
        super().__init__(error.message)
        self.error = error


def bounded(application: Application) -> Application:
    """The ASGI application, which is never called with a body that is not taken, or reads only so much of one."""

    async def checked(scope: Event, receive: Receive, send: Send) -> None:
        if FILE in scope:
            await application(scope, _from_file(scope.pop(FILE), receive), send)
            return
        headers, started = headers_by_name(scope["headers"]), False
        body = Body(scope["path"], headers, _announced(scope))
        if needs_credentials(scope["path"]) and scope["method"] != "GET":
            receive = senders.watched(receive, Sender(headers), BodyRefused)

        async def receive_so_much() -> Event:
            event = await receive()
            if error := body.add(len(event.get("body", b""))):
                raise BodyRefused(error)
            return event

        async def send_once(event: Event) -> None:
            nonlocal started
            started = True
            await send(event)

        try:
            if error := body.refusal():
                raise BodyRefused(error)
            await application(scope, receive_so_much, send_once)
        except BodyRefused as refused:
            if started:
                raise
            await _answer(refused.error, scope, send)
        finally:
            body.release()

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
        await asyncio.sleep(0)  # whoever copies it asks for one piece after the other, and others have their turn
        found = body.read(PIECE)
        if is_read := len(found) < PIECE:
            body.close()
        return {"type": "http.request", "body": found, "more_body": not is_read}

    return piece


def _announced(scope: Event) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) < 20 else 0


async def _answer(error: OpenbookError, scope: Event, send: Send) -> None:
    proposed = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    status, body, headers = answered(error, scope["path"], proposed)
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


class BoundedRequest(WebRequest):  # type: ignore[misc]
    """Answers as soon as a body is known not to be taken, and drops what of it still comes."""

    content: IO[bytes]
    refused = False
    body: Body | None = None
    sender: Sender | None = None
    _next_check: asyncio.TimerHandle | None = None
    _check: asyncio.Future[None] | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        # Twisted would read forms whole into memory, for arguments that nobody asks for.
        super().__init__(*args, **{**options, "parsePOSTFormSubmission": False})

    def gotLength(self, length: int | None) -> None:  # noqa: N802  # Twisted's name
        headers = headers_by_name(
            (name, value) for name, values in self.requestHeaders.getAllRawHeaders() for value in values
        )
        self.body = Body(self._asked_path(), headers, length or 0)
        error = self.body.refusal()
        super().gotLength(0 if error else length)
        if error:
            self._refuse(error)
        elif length != 0 and needs_credentials(self._asked_path()):
            self.sender = Sender(headers)
            self._check_later()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        if self.refused or not self.body:
            return
        if error := self.body.add(len(data)):
            self.content.truncate(0)
            self._refuse(error)
        else:
            super().handleContentChunk(data)

    def release(self) -> None:
        """Whatever has become of it, its body is gone."""
        self._check_no_more()
        if self.body:
            self.body.release()

    def process(self) -> Any:
        self._check_no_more()
        return self.channel.loseConnection() if self.refused else super().process()

    def taken(self) -> IO[bytes]:
        """The body, which Daphne would otherwise put into a queue, all of it at once; that gets an empty one."""
        body, self.content = self.content, io.BytesIO()
        return body

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """What Daphne itself can't read: a header, an address."""
        path = str(self.uri.decode("latin-1"))
        if not path.startswith((API, MESSAGES)):
            super().basic_error(status, status_text, body)
            return
        error = BadRequest(f"The request can't be read: {body}.")
        _, content, headers = answered(error, path, self._proposed_id())
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": raw})
        self.handle_reply({"type": "http.response.body", "body": content})

    def handle_exception(self, exception: BaseException) -> None:
        """An answer that has begun is broken off, so that nobody takes it for whole."""
        if self._response_started:
            self.channel.forceAbortClient()
        else:
            super().handle_exception(exception)

    def _check_later(self) -> None:
        self._next_check = asyncio.get_running_loop().call_later(senders.CHECK_SECONDS, self._begin_check)

    def _begin_check(self) -> None:
        self._check = asyncio.ensure_future(self._end_unless_allowed())

    async def _end_unless_allowed(self) -> None:
        """Let the body end with the access of who sends it."""
        error = await self.sender.refusal() if self.sender else None
        if self.sender is None:  # all of it has come meanwhile, or nobody waits for an answer
            return
        if error:
            self.content.truncate(0)
            self._refuse(error, linger_seconds=ENDING_SECONDS)
        else:
            self._check_later()

    def _check_no_more(self) -> None:
        self.sender = None
        if self._next_check:
            self._next_check.cancel()

    def _asked_path(self) -> str:
        # Twisted tells a request of its path only when all of it has come.
        return str(self.channel._path.decode("latin-1").partition("?")[0])

    def _proposed_id(self) -> str:
        return str((self.requestHeaders.getRawHeaders("X-Request-ID") or [""])[0])

    def _refuse(self, error: OpenbookError, *, linger_seconds: float = LINGER_SECONDS) -> None:
        self.refused = True
        self.release()
        status, body, headers = answered(error, self._asked_path(), self._proposed_id())
        lines = [f"HTTP/1.1 {status} {responses.get(status, '')}", *(f"{name}: {headers[name]}" for name in headers)]
        self.channel.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.channel.callLater(linger_seconds, self.channel.loseConnection)


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

    def protocol_disconnected(self, protocol: Any) -> None:
        """Once it is answered, left or another protocol's."""
        super().protocol_disconnected(protocol)
        if isinstance(protocol, BoundedRequest):
            protocol.release()
