"""Answers that take longer than a moment: they end soon after their reader may not have them any more."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpRequest, StreamingHttpResponse

from conversations import errors, wire
from conversations.accounts import second_factors, session_user, tokens
from conversations.errors import OpenbookError
from conversations.models import ApiToken
from conversations.runtime.db import in_database

CHECK_SECONDS = 2.0
"""How often it is asked whether a reader still may. A stream that is silent asks after twice as long at most."""
KEEP_ALIVE_SECONDS = 15.0
"""Proxies close a stream that is silent for long."""

log = logging.getLogger("openbook.streams")

type Check = Callable[[], OpenbookError | None]
"""Why the reader may not go on, as of now. Reads the database."""


class AccessEnded(Exception):
    """``error``: what the reader is told."""

    def __init__(self, error: OpenbookError) -> None:
        super().__init__(error.message)
        self.error = error


class StreamedAnswer(StreamingHttpResponse):
    """What nobody on the way keeps or holds back."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self["X-Accel-Buffering"] = "no"


class SelfChecked(StreamedAnswer):
    """An answer that asks by itself whether its reader still may."""


class EventStream(StreamedAnswer):
    """Server-Sent Events, of which some come at least every ``tick_seconds()``. ``error_event`` tells why they end early."""

    error_event: Callable[[OpenbookError], bytes] = staticmethod(wire.error_event)


def tick_seconds() -> float:
    """How long an event stream is silent at most."""
    return min(KEEP_ALIVE_SECONDS, CHECK_SECONDS)


async def ticking[T](items: AsyncGenerator[T], seconds: float) -> AsyncGenerator[T | None]:
    """The items as they come, and ``None`` whenever none came for so many seconds."""
    async with aclosing(items) as coming:
        while True:
            upcoming = asyncio.ensure_future(anext(coming, None))
            try:
                while not (await asyncio.wait([upcoming], timeout=seconds))[0]:
                    yield None
            finally:
                if upcoming.cancel():
                    await asyncio.wait([upcoming])
            item = upcoming.result()
            if item is None:
                return
            yield item


async def while_allowed[T](items: AsyncGenerator[T], check: Check) -> AsyncGenerator[T]:
    """The items as they come, each ``CHECK_SECONDS`` after a check: some come at least that often. Raises ``AccessEnded``."""
    clock = asyncio.get_running_loop().time
    due = clock() + CHECK_SECONDS
    async with aclosing(items) as coming:
        async for item in coming:
            if clock() >= due:
                if error := await _outcome(check):
                    raise AccessEnded(error)
                due = clock() + CHECK_SECONDS
            yield item


def guard_stream(request: HttpRequest, response: StreamingHttpResponse) -> None:
    """Let an answer of somebody end with their access: an event stream by an error, anything else by breaking off."""
    user, token = request.user, getattr(request, "auth", None)
    if isinstance(response, SelfChecked) or not isinstance(user, User):
        return
    check = (
        _check_of_token(token)
        if isinstance(token, ApiToken)
        else _check_of_session(request.session.session_key, user.pk)
    )
    told = response.error_event if isinstance(response, EventStream) else None
    content = cast(
        "AsyncGenerator[bytes | None]", response.streaming_content
    )  # as Django makes it of what it was given
    if not told:
        content = ticking(content, CHECK_SECONDS)
    response.streaming_content = _pieces(content, check, told)


async def _pieces(
    content: AsyncGenerator[bytes | None], check: Check, told: Callable[[OpenbookError], bytes] | None
) -> AsyncIterator[bytes]:
    try:
        async with aclosing(while_allowed(content, check)) as pieces:
            async for piece in pieces:
                if piece is not None:
                    yield piece
    except AccessEnded as ended:
        log.info("answer ended with its reader's access", extra={"reason": ended.error.code})
        if not told:
            raise
        yield told(ended.error)


def _check_of_token(began: ApiToken) -> Check:
    def check() -> OpenbookError | None:
        token = tokens.valid_digest(bytes(began.digest))
        if token is None or token.user_id != began.user_id:
            return errors.SignInNeeded()
        lost = [scope for scope in began.scopes if scope not in token.scopes]
        return errors.InsufficientScope(f"The token has lost the scope `{lost[0]}`.", scope=lost[0]) if lost else None

    return check


def _check_of_session(key: str | None, user_id: int) -> Check:
    def check() -> OpenbookError | None:
        request = session_user.as_of_now(key)
        if request is None or not isinstance(request.user, User) or request.user.pk != user_id:
            return errors.SignInNeeded()
        return errors.SecondFactorNeeded() if second_factors.is_lacking(request.user) else None

    return check


async def _outcome(check: Check) -> OpenbookError | None:
    try:
        return await in_database(check)()
    except DatabaseError:
        return None  # the database is away; who was let in stays until it says otherwise
