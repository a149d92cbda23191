"""Rings between readers and writers: "look again". Carries no data; the truth is in PostgreSQL.

In one process a ring is an ``asyncio.Event``. With Redis it goes to the other processes too. A ring may get lost – Redis
restarts, say –, so whoever waits also looks again by itself after a while.
"""

import asyncio
import logging
import math
from collections import defaultdict
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from channels.layers import get_channel_layer
from django.conf import settings

from conversations.runtime.redis_client import unreachable

log = logging.getLogger("openbook.doorbell")

RESUBSCRIBE_SECONDS = 1.0


class Doorbell:
    """One a process and event loop."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self._layer: Any = get_channel_layer() if settings.REDIS_URL else None
        self._channel = ""
        self._opening = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._reachable = True

    @property
    def is_shared(self) -> bool:
        """Whether other processes ring here too."""
        return self._layer is not None

    def ring(self, key: str) -> None:
        """Wake everyone who listens to this key, here and elsewhere. Never waits and never fails."""
        self._wake(key)
        if self._layer is not None:
            self._spawn(self._send(key))

    @contextmanager
    def listen(self, key: str, bell: asyncio.Event | None = None) -> Iterator[asyncio.Event]:
        """An event that is set at every ring. Whoever waits clears it first, then looks, then waits."""
        bell = bell or asyncio.Event()
        self._waiting[key].add(bell)
        if self._layer is not None and len(self._waiting[key]) == 1:
            self._spawn(self._subscribe(key))
        try:
            yield bell
        finally:
            self._waiting[key].discard(bell)
            if not self._waiting[key]:
                del self._waiting[key]
                if self._layer is not None:
                    self._spawn(self._unsubscribe(key))

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._layer is not None:
            with suppress(*unreachable()):  # a Redis that is gone needs no goodbye
                await self._layer.flush()

    def _wake(self, key: str) -> None:
        for bell in self._waiting.get(key, ()):
            bell.set()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, key: str) -> None:
        try:
            await self._layer.group_send(key, {"type": "ring", "key": key})
            self._reachable = True
        except unreachable() as error:
            self._lost(error)

    async def _subscribe(self, key: str) -> None:
        while key in self._waiting:
            try:
                await self._layer.group_add(key, await self._own_channel())
            except unreachable() as error:
                self._lost(error)
                await asyncio.sleep(RESUBSCRIBE_SECONDS)
            else:
                self._wake(key)  # for what was rung before the subscription took hold
                return

    async def _unsubscribe(self, key: str) -> None:
        if key not in self._waiting and self._channel:
            with suppress(*unreachable()):  # at worst a ring too many arrives
                await self._layer.group_discard(key, self._channel)

    async def _own_channel(self) -> str:
        async with self._opening:
            if not self._channel:
                self._channel = await self._layer.new_channel("openbook")
                self._spawn(self._receive())
        return self._channel

    async def _receive(self) -> None:
        while True:
            self._wake((await self._layer.receive(self._channel))["key"])

    def _lost(self, error: BaseException) -> None:
        if self._reachable:
            log.warning(
                "Redis can't be reached: start it or correct REDIS_URL. Until then readers look into the database.",
                extra={"cause": str(error)},
            )
        self._reachable = False


def thread_key(thread_id: object) -> str:
    """Rung when a reply starts in the thread."""
    return f"thread.{thread_id}"


def reply_key(reply_id: object) -> str:
    """Rung when a reply has new events."""
    return f"reply.{reply_id}"


def owner_key(owner: str) -> str:
    """Rung when a reply of that process is asked to stop."""
    return f"owner.{owner}"


async def rung(bell: asyncio.Event, seconds: float | None) -> bool:
    """Wait for a ring, or for so many seconds. Whether it rang."""
    if not bell.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds == math.inf else seconds):
                await bell.wait()
    return bell.is_set()
