"""Whether those whose sockets are open may still be there, asked again and again."""

import asyncio
import logging
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from django.db import DatabaseError

from conversations import threads
from conversations.runtime.db import in_database
from conversations.threads import ThreadState
from conversations.web.socket_access import Identity, Visitor

log = logging.getLogger("openbook.chat")

CHECK_ACCESS_SECONDS = 4.0


class OpenSocket(Protocol):
    """``visitor`` is None before somebody was let in and after they left."""

    identity: Identity
    visitor: Visitor | None
    thread_id: uuid.UUID | None

    def check(self, visitor: Visitor | None, states: Mapping[uuid.UUID, ThreadState], asked: bool) -> None:
        """Take what is so now: who it is, and how each of their threads is. ``asked``: whether after its own."""


class AccessChecks:
    """Of all sockets of an event loop: people sign out, are deactivated, delete or clear threads. One person is looked at after
    the other, each once for all their sockets, so that many sockets keep nobody from the database."""

    def __init__(self) -> None:
        self._sockets: WeakSet[OpenSocket] = WeakSet()
        self._task: asyncio.Task[None] | None = None

    def add(self, socket: OpenSocket) -> None:
        self._sockets.add(socket)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def discard(self, socket: OpenSocket) -> None:
        self._sockets.discard(socket)

    async def _run(self) -> None:
        while self._sockets:
            await asyncio.sleep(CHECK_ACCESS_SECONDS)
            for identity, sockets in self._by_identity().items():
                try:
                    await _check(identity, sockets)
                except Exception:  # whatever it is, the others are looked at
                    log.exception("sockets were not checked")

    def _by_identity(self) -> dict[Identity, list[OpenSocket]]:
        grouped: dict[Identity, list[OpenSocket]] = {}
        for socket in list(self._sockets):
            grouped.setdefault(socket.identity, []).append(socket)
        return grouped


async def _check(identity: Identity, sockets: list[OpenSocket]) -> None:
    asked = {socket.thread_id for socket in sockets if socket.thread_id}  # a socket may come to a thread meanwhile
    with suppress(DatabaseError):  # it is away: who was let in stays until it says otherwise
        visitor, states = await in_database(_look)(identity, asked)
        for socket in sockets:
            if socket.visitor is not None:
                socket.check(visitor, states, socket.thread_id in asked)


def _look(identity: Identity, thread_ids: set[uuid.UUID]) -> tuple[Visitor | None, dict[uuid.UUID, ThreadState]]:
    visitor = identity.visitor()
    if visitor is None or not thread_ids:
        return visitor, {}
    rows = threads.of(visitor.user).filter(id__in=thread_ids)
    return visitor, {thread.id: threads.state_of(thread) for thread in rows.only("id", "cleared_at", "path_version")}


_checks: WeakKeyDictionary[asyncio.AbstractEventLoop, AccessChecks] = WeakKeyDictionary()


def access_checks() -> AccessChecks:
    """Those of the running event loop."""
    return _checks.setdefault(asyncio.get_running_loop(), AccessChecks())
