"""What is done after replies, of which nobody waits for the end: one job at a time, in the event loop that runs the replies."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Hashable

MOST_WAITING = 200
"""Jobs that wait. Any further one is left out: the next reply of its thread may want it again."""


class JobQueue[Job: Hashable](ABC):
    """Each job once while it waits. ``work`` answers for its own errors: one that it raises ends the others, too."""

    name: str

    def __init__(self) -> None:
        self._waiting: dict[Job, None] = {}
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def work(self, job: Job) -> None: ...

    def want(self, job: Job) -> None:
        if len(self._waiting) >= MOST_WAITING:
            return
        self._waiting[job] = None
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=self.name)

    async def done(self) -> None:
        """Wait until none is wanted any more."""
        if self._task:
            await self._task

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._waiting:
            job = next(iter(self._waiting))
            del self._waiting[job]
            await self.work(job)
