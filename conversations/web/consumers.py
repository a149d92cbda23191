"""The WebSocket of a thread. It passes frames on and events back; replies run without it."""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import timezone

from conversations import errors, replies, threads, wire
from conversations.accounts import limits
from conversations.accounts.session_times import TOUCH
from conversations.errors import ErrorObject, OpenbookError
from conversations.models import Scope, Thread
from conversations.runtime import bounded_json
from conversations.runtime.db import in_database, is_away
from conversations.runtime.request_ids import FrameCaller, current_request, request_scope
from conversations.runtime.shapes import moment
from conversations.runtime.text import clean
from conversations.threads import temporary
from conversations.web import socket_access
from conversations.web.access_checks import access_checks
from conversations.wire.events import ThreadClearedData

log = logging.getLogger("openbook.chat")
access_log = logging.getLogger("openbook.access")

SIGN_IN, FORBIDDEN, GONE, TOO_SLOW, RESTART, TRY_LATER = 4401, 4403, 4404, 4408, 1012, 1013
CLOSE_CODES: Mapping[type[OpenbookError], int] = {
    errors.SignInNeeded: SIGN_IN,
    errors.InsufficientScope: FORBIDDEN,
    errors.AddressNotAllowed: FORBIDDEN,
    errors.SecondFactorNeeded: SIGN_IN,
    errors.NoticeNotAccepted: FORBIDDEN,
    errors.NotFound: GONE,
    errors.ReaderTooSlow: TOO_SLOW,
    errors.Unavailable: TRY_LATER,
}
ACCESS_ENDED = (
    errors.SignInNeeded,
    errors.SecondFactorNeeded,
    errors.NoticeNotAccepted,
    errors.InsufficientScope,
    errors.AddressNotAllowed,
    errors.NotFound,
)
LOOK_AGAIN_SECONDS = 1.0
WRITING = ("message.send", "preset.run", "reply.stop", "reply.retry", "reply.continue")
LAST_SECONDS = 1.0
"""How long a close waits for the error before it to be taken."""


OPEN: "WeakSet[ThreadConsumer]" = WeakSet()
"""The sockets of this process."""


async def hang_up() -> None:
    """Close all sockets, because this process is about to leave: they are opened elsewhere, and resume there."""
    await asyncio.gather(*(socket.go_elsewhere() for socket in list(OPEN)), return_exceptions=True)


class InvalidFrame(OpenbookError):
    code = "invalid_frame"


class InternalError(OpenbookError):
    type, code, status = "internal", "internal", 500
    message = "Something went wrong on the server. Try again."


class SocketTooSlow(Exception):
    """The other end has read nothing for long."""


class ThreadConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    # Not one of its own: this process has a doorbell that all its sockets share.
    channel_layer_alias = None

    async def connect(self) -> None:
        self.leaving = False
        self.tasks: set[asyncio.Task[None]] = set()
        self.following: dict[uuid.UUID, asyncio.Task[None]] = {}
        self.shown: set[uuid.UUID] = set()
        self.thread_id: uuid.UUID | None = None
        self.thread_state = threads.ThreadState(cleared_at=None, path_version=0)
        self.shows_temporary: tuple[int, uuid.UUID] | None = None
        self.visitor: socket_access.Visitor | None = None
        self.identity = socket_access.identify(self.scope)
        self.touched_again_at = 0.0
        if not socket_access.same_origin(self.scope):
            self._log_refusal(403)
            await self.close(FORBIDDEN)  # before it is accepted: the handshake is refused
            return
        await self.accept(socket_access.TOKEN_PROTOCOL if socket_access.offered_token(self.scope) else None)
        OPEN.add(self)
        with request_scope(address=self._address()):
            await self._open()

    async def disconnect(self, code: int) -> None:
        OPEN.discard(self)
        access_checks().discard(self)
        self._end_tasks()
        if self.shows_temporary and not self.leaving:
            with suppress(DatabaseError):
                await in_database(temporary.leave)(*self.shows_temporary)

    async def go_elsewhere(self) -> None:
        self.leaving = True  # what it still says is said again elsewhere
        self._end_tasks()
        await self.close(RESTART)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.leaving:
            return
        with request_scope(address=self._address()):
            frame: dict[str, Any] = {}
            try:
                try:
                    frame = _parsed(text_data)
                finally:  # whatever it holds
                    visitor = self._visitor()
                    current_request.set(FrameCaller(user=visitor.user, auth=visitor.token))
                    await in_database(limits.count_request)(visitor.user, visitor.token)
                await self._touch(visitor, frame)
                await self._handle(visitor, frame)
            except OpenbookError as error:
                self._log_refusal(error.status, self.visitor)
                await self._answer(error, frame)
            except Exception as error:  # whatever it is, the person is told and the socket stays open
                if is_away(error):
                    log.warning("database unreachable for a frame", exc_info=True)
                    await self._answer(errors.Unavailable(), frame)
                    return
                log.exception("frame failed")
                await self._answer(InternalError(), frame)

    async def send(self, text_data: str | None = None, bytes_data: bytes | None = None, close: Any = False) -> None:
        """Raises ``SocketTooSlow`` where the other end has read nothing for long."""
        try:
            async with asyncio.timeout(settings.OPENBOOK_SLOW_READER_SECONDS):
                await super().send(text_data, bytes_data, close)
        except TimeoutError:
            raise SocketTooSlow from None

    async def _open(self) -> None:
        thread_id = self.scope["url_route"]["kwargs"]["thread_id"]
        visitor: socket_access.Visitor | None = None
        try:
            visitor = await in_database(self.identity.visitor)()
            self._let_in(visitor)
            if thread_id != threads.NEW:
                thread = await in_database(threads.get)(self._visitor().user, thread_id)
                self.thread_state = threads.state_of(thread)
                await self._belong_to(thread)
            access_checks().add(self)
        except ACCESS_ENDED as error:
            self._log_refusal(error.status, visitor)
            await self._leave(error)
        except (OperationalError, InterfaceError):
            await self._leave(errors.Unavailable())

    def _let_in(self, visitor: socket_access.Visitor | None) -> None:
        if visitor is None or (self.visitor is not None and visitor.user != self.visitor.user):
            raise errors.SignInNeeded
        visitor.demand(Scope.READ)
        self.visitor = visitor

    def check(
        self, visitor: socket_access.Visitor | None, states: Mapping[uuid.UUID, threads.ThreadState], asked: bool
    ) -> None:
        """Take what is so now: leave where access has ended, and say so where the thread was cleared or went to another
        branch."""
        try:
            self._let_in(visitor)
            if self.thread_id is None or not asked:
                return
            if self.thread_id not in states:
                raise errors.ThreadNotFound
            before, self.thread_state = self.thread_state, states[self.thread_id]
            if before.cleared_at != self.thread_state.cleared_at:  # what was shown of it is no more
                self._spawn(self._say_changed("thread.cleared", self.thread_id))
            elif before.path_version != self.thread_state.path_version:
                self._spawn(self._say_changed("thread.moved", self.thread_id))
        except ACCESS_ENDED as error:
            self._spawn(self._leave(error))

    async def _say_changed(self, kind: str, thread_id: uuid.UUID) -> None:
        try:
            await self._say(kind, {"thread": str(thread_id)})
        except SocketTooSlow:
            await self._let_go()

    async def _touch(self, visitor: socket_access.Visitor, frame: dict[str, Any]) -> None:
        """Frames of a page that nobody touches keep no session."""
        now = time.monotonic()
        if visitor.idle and frame.get("type") in WRITING and now >= self.touched_again_at:
            self.touched_again_at = now + min(TOUCH, visitor.idle / 4).total_seconds()
            await in_database(socket_access.touch)(self.identity)

    async def _handle(self, visitor: socket_access.Visitor, frame: dict[str, Any]) -> None:
        user, kind = visitor.user, frame.get("type")
        if kind in WRITING:
            visitor.demand(Scope.WRITE)
        match kind:
            case "message.send":
                opened = await replies.start(
                    user=user,
                    thread_id=self.thread_id,
                    content=frame.get("content", "") if frame.get("files") else frame.get("content"),
                    files=frame.get("files"),
                    client_message_id=frame.get("client_message_id"),
                    assistant=_optional_text(frame, "assistant"),
                    model=_optional_text(frame, "model") or "",
                    thread_model=_optional_text(frame, "thread_model") or "",
                    project=_optional_text(frame, "project"),
                    edits=_optional_text(frame, "edits"),
                    temporary=_switch(frame, "temporary"),
                    token=visitor.token,
                )
                await self._belong_to(opened.thread)
                self._follow(opened.reply.id)
            case "preset.run":
                if self.thread_id is None:
                    raise errors.NothingToWorkFrom
                opened = await replies.start_preset(
                    user=user,
                    thread_id=self.thread_id,
                    preset=_text(frame, "preset"),
                    client_message_id=frame.get("client_message_id"),
                    token=visitor.token,
                )
                self._follow(opened.reply.id)
            case "reply.stop":
                await replies.stop(user=user, reply_id=_text(frame, "reply"))
            case "reply.retry":
                opened = await replies.retry(
                    user=user,
                    reply_id=_text(frame, "reply"),
                    model=_optional_text(frame, "model") or "",
                    token=visitor.token,
                )
                self._follow(opened.reply.id)
            case "reply.continue":
                opened = await replies.go_on(user=user, reply_id=_text(frame, "reply"), token=visitor.token)
                self._follow(opened.reply.id)
            case "reply.resume":
                reply = await in_database(threads.reply_of)(user, _text(frame, "reply"))
                self._follow(reply.id, after=_seq(frame), again=True)
            case other:
                given = f"not {other[:40]!r}" if isinstance(other, str) else "as text"
                raise InvalidFrame(f"A frame's type must be {', '.join(WRITING)} or reply.resume, {given}.")

    async def _belong_to(self, thread: Thread) -> None:
        if self.thread_id is None:
            self.thread_id = thread.id
            self._spawn(self._watch(thread.user_id, thread.id))
            if thread.temporary:
                self.shows_temporary = (thread.user_id, thread.id)
                self._spawn(self._stay(thread.user_id, thread.id))

    async def _stay(self, user_id: int, thread_id: uuid.UUID) -> None:
        """A temporary chat stays as long as a page shows it."""
        while True:
            with suppress(DatabaseError):
                await in_database(temporary.stay)(user_id, thread_id)
            await asyncio.sleep(temporary.STAY_SECONDS)

    async def _watch(self, user_id: int, thread_id: uuid.UUID) -> None:
        """Follow every reply of the thread, also those that another tab or program starts."""
        while True:
            try:
                async for reply_id in replies.watch(user_id, thread_id):
                    if reply_id not in self.shown:
                        self._follow(reply_id)
            except DatabaseError:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def _follow(self, reply_id: uuid.UUID, *, after: int = 0, again: bool = False) -> None:
        running = self.following.get(reply_id)
        if running is not None and not again:
            return
        if running is not None:
            running.cancel()
        self.shown.add(reply_id)
        task = asyncio.create_task(self._forward(reply_id, after))
        self.following[reply_id] = task
        task.add_done_callback(lambda done: self._followed(reply_id, done))

    def _followed(self, reply_id: uuid.UUID, done: asyncio.Task[None]) -> None:
        if self.following.get(reply_id) is done:
            del self.following[reply_id]

    async def _forward(self, reply_id: uuid.UUID, after: int) -> None:
        while True:
            try:
                async for event in replies.follow(reply_id, after):
                    await self.send(wire.frame(event.envelope()))
                    after = event.seq
            except SocketTooSlow:
                await self._let_go()
                return
            except DatabaseError:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            else:
                return

    async def _answer(self, error: OpenbookError, frame: dict[str, Any]) -> None:
        try:
            await self._tell(error, frame)
        except SocketTooSlow:
            await self._let_go()

    async def _let_go(self) -> None:
        log.info("slow reader let go")
        await self._leave(errors.ReaderTooSlow())

    async def _tell(self, error: OpenbookError, frame: dict[str, Any] | None = None) -> None:
        described = errors.describe(error)
        if frame and isinstance(frame.get("client_message_id"), str):
            described["details"] = {**described["details"], "client_message_id": frame["client_message_id"]}
        await self._say("error", described)

    async def _say(self, type: str, data: ErrorObject | ThreadClearedData) -> None:
        """What is of no reply."""
        await self.send(wire.frame({"type": type, "reply": None, "seq": 0, "at": moment(timezone.now()), "data": data}))

    def _log_refusal(self, status: int, visitor: socket_access.Visitor | None = None) -> None:
        """Who tried what they may not, by ids, as HTTP's middleware does."""
        if status in (401, 403):
            access_log.info(
                "access refused",
                extra={
                    "status": status,
                    "method": "WEBSOCKET",
                    "route": "ws/threads/<thread_id>/",
                    "user_id": visitor.user.pk if visitor else None,
                    "address": self._address() if settings.OPENBOOK_AUDIT_ADDRESSES else "",
                },
            )

    async def _leave(self, error: OpenbookError) -> None:
        """Nothing is heard or said after this, also while the other end takes its time to hang up."""
        self.visitor = None
        self._end_tasks()
        with suppress(TimeoutError, SocketTooSlow):
            async with asyncio.timeout(LAST_SECONDS):
                await self._tell(error)
        await self.close(next(code for kind, code in CLOSE_CODES.items() if isinstance(error, kind)))

    def _end_tasks(self) -> None:
        for task in {*self.tasks, *self.following.values()} - {asyncio.current_task()}:
            task.cancel()

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _address(self) -> str:
        """Of the client, or of the proxy that didn't tell."""
        return str((self.scope.get("client") or [""])[0])

    def _visitor(self) -> socket_access.Visitor:
        if self.visitor is None:
            raise errors.SignInNeeded
        return self.visitor


def _parsed(text: str | None) -> dict[str, Any]:
    if text is None:
        raise InvalidFrame("Frames are text, not binary: send one JSON object a frame.")
    try:
        frame = bounded_json.loads(text)
    except bounded_json.TooManifold as error:
        raise InvalidFrame(str(error)) from None
    except (ValueError, RecursionError):
        raise InvalidFrame("The frame is not JSON. Send one JSON object a frame.") from None
    if not isinstance(frame, dict):
        raise InvalidFrame('A frame is a JSON object such as {"type": "message.send", "content": "…"}.')
    return frame


def _text(frame: dict[str, Any], name: str) -> str:
    value = frame.get(name)
    if not isinstance(value, str):
        raise InvalidFrame(f"`{name}` must be an id, as text.")
    return clean(value)


def _optional_text(frame: dict[str, Any], name: str) -> str | None:
    return _text(frame, name) if frame.get(name) is not None else None


def _switch(frame: dict[str, Any], name: str) -> bool:
    value = frame.get(name, False)
    if not isinstance(value, bool):
        raise InvalidFrame(f"`{name}` must be true or false.")
    return value


def _seq(frame: dict[str, Any]) -> int:
    value = frame.get("after", 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise InvalidFrame("`after` must be the last `seq` that you have, 0 or greater.")
    return value
