"""Pieces of work that run beside one another on an event loop, as many as there is room for."""

import asyncio
from collections.abc import Coroutine, Hashable
from typing import Any

PAUSE_SECONDS = 0.05
"""Between two looks at least."""


class RunningTasks[K: Hashable]:
    """Each has a key, which several may share. ``look_seconds``: how long ``settle`` waits at most."""

    def __init__(self, *, look_seconds: float) -> None:
        self.look_seconds = look_seconds
        self._keys: dict[asyncio.Task[None], K] = {}

    @property
    def keys(self) -> list[K]:
        return [*self._keys.values()]

    def begin(self, key: K, work: Coroutine[Any, Any, None]) -> None:
        self._keys[asyncio.create_task(work)] = key

    async def settle(self) -> None:
        """Wait until one has ended, or until it is time to look for more. Raises what one of them raised."""
        if self._keys:
            await asyncio.wait(self._keys, timeout=self.look_seconds, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            await asyncio.sleep(self.look_seconds)
        for task in [task for task in self._keys if task.done()]:
            del self._keys[task]
            task.result()

    async def cancel(self) -> None:
        for task in self._keys:
            task.cancel()
        await asyncio.gather(*self._keys, return_exceptions=True)
