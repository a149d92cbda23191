"""Whether who sends a body still may: asked again and again while it comes, as the application may meet it only when all of it
is there. Of calls alone, which nobody makes without credentials; forms of pages are short."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from conversations.accounts import session_user, tokens
from conversations.errors import OpenbookError, SignInNeeded
from conversations.runtime.db import in_database

CHECK_SECONDS = 2.0
"""After how long a body that still comes is looked at, and again."""

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]


class Sender:
    """Who sends a body, by what the ``headers`` of the request offer: by their names in small letters."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        named = credentials if scheme.lower() in ("token", "bearer") else ""
        self._tokens = [token.strip() for token in (named, headers.get("x-api-key", "")) if token.strip()]
        self._session_key = _cookie(headers.get("cookie", ""))

    async def refusal(self) -> OpenbookError | None:
        """Why the rest of the body is not taken, as of now."""
        try:
            may_send = await in_database(self._may_send)()
        except DatabaseError:
            return None  # it is away; who was let in stays until it says otherwise
        return None if may_send else SignInNeeded()

    def _may_send(self) -> bool:
        if any(tokens.valid_digest(tokens.digest(token)) for token in self._tokens):
            return True
        return session_user.as_of_now(self._session_key) is not None


def watched(receive: Receive, sender: Sender, refuse: Callable[[OpenbookError], BaseException]) -> Receive:
    """The same events, until the body has come whole. Raises what ``refuse`` makes of a refusal."""
    now = asyncio.get_running_loop().time
    due, is_whole = now() + CHECK_SECONDS, False

    async def watched_receive() -> Event:
        nonlocal due, is_whole
        if is_whole:
            return await receive()
        waiting = asyncio.ensure_future(receive())
        try:
            while True:
                done, _ = await asyncio.wait([waiting], timeout=max(0.0, due - now()))
                if now() >= due:
                    if error := await sender.refusal():
                        raise refuse(error)
                    due = now() + CHECK_SECONDS
                if done:
                    is_whole = not waiting.result().get("more_body")
                    return waiting.result()
        finally:
            waiting.cancel()

    return watched_receive


def _cookie(header: str) -> str | None:
    try:
        morsel = SimpleCookie(header).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    return morsel.value if morsel else None
