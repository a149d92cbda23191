"""What the next requests gain by replies that have ended: the search knows their words, the estimate of tokens their counts,
and long turns are counted exactly. Nobody waits for it, so those that end within a moment are learnt from in one step.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable

from django.db import DatabaseError

from conversations.context.tokens import calibration as token_calibration
from conversations.replies.doorbell import rung
from conversations.replies.exact_counts import CountJob, ExactCounts
from conversations.runtime.db import in_database
from memory.index.index_turns import catch_up_if_possible

log = logging.getLogger("openbook.replies")

GATHER_SECONDS = 0.05
"""In which what ends is gathered. Until then a search looks at the new turns as they are."""


class Learning:
    """What the replies of an event loop leave to be learnt."""

    def __init__(self, counts: ExactCounts) -> None:
        self._counts = counts
        self._users: set[int] = set()
        self._answers: list[CountJob] = []
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def want(self, user_id: int, answered: CountJob | None) -> None:
        """A reply to the user has ended, and a model ``answered`` in it or none."""
        self._users.add(user_id)
        if answered:
            self._answers.append(answered)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="learning")

    async def done(self) -> None:
        """Wait until all is learnt, and what is to be counted for that is counted."""
        if self._task:
            await self._task
        await self._counts.done()

    async def stop(self) -> None:
        """Learn what is left, at once."""
        self._stopping.set()
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._users:
            await rung(self._stopping, GATHER_SECONDS)
            users, answers, self._users, self._answers = self._users, self._answers, set(), []
            for job in await in_database(self._learn)(users, answers):
                self._counts.want(job)

    def _learn(self, users: Iterable[int], answers: Iterable[CountJob]) -> list[CountJob]:
        """Returns what is to be counted for a model."""
        for user_id in users:
            catch_up_if_possible(user_id)
        for (provider, model), replies in Counter((job.provider, job.model) for job in answers).items():
            try:
                token_calibration.learn(provider, model, replies=replies)
            except DatabaseError as error:
                about = {"provider": provider, "model": model, "cause": type(error).__name__}
                log.warning("can't learn how a model counts yet", extra=about)
        return [job for job in dict.fromkeys(answers) if self._counts.lacks(job)]
