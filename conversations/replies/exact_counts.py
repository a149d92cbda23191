"""Long turns counted exactly by the provider of a model, after a reply of its has ended. Nobody waits for that: the next
contexts for the model use what is there. Where counting fails, the estimate holds.
"""

import json
import logging
import time
import uuid
from collections.abc import Collection
from dataclasses import dataclass

from django.db import DatabaseError, transaction

from conversations.context.tokens.estimate import TURN_OVERHEAD, countable_texts
from conversations.models import text_blocks
from conversations.providers import ProviderError, get_provider
from conversations.replies.job_queue import JobQueue
from conversations.runtime.db import in_database, run
from conversations.runtime.sql_files import read_statements

log = logging.getLogger("openbook.counts")

LONG = 1_000
"""Estimated tokens from which a turn is counted: an estimate of a shorter one is not far off in tokens."""
NEWEST = 80
"""Turns of a thread that are looked at."""
MOST = 10
"""Turns that are counted after one reply."""
REST_SECONDS = 600.0
"""How long a provider is not asked again that could not count."""

SQL = read_statements(__file__)


@dataclass(frozen=True, kw_only=True)
class CountJob:
    """The long turns of a thread, to be counted for a model."""

    user: int
    thread: uuid.UUID
    provider: str
    model: str


@dataclass(frozen=True, kw_only=True)
class UncountedTurn:
    position: int
    text: str


class ExactCounts(JobQueue[CountJob]):
    """The counts that the replies of an event loop ask for: one request at a time, each turn once for a model."""

    name = "exact counts"

    def __init__(self) -> None:
        super().__init__()
        self._refused: dict[CountJob, set[int]] = {}
        self._resting: dict[str, float] = {}

    def want(self, job: CountJob) -> None:
        """Count what is long in a thread, where the provider can and does not rest."""
        if self._may_ask(job.provider):
            super().want(job)

    def lacks(self, job: CountJob) -> bool:
        """Whether there is something to count that can be. Reads the database."""
        try:
            return self._may_ask(job.provider) and bool(uncounted(job, but=self._refused.get(job, ())))
        except DatabaseError:
            return False

    async def work(self, job: CountJob) -> None:
        if not self._may_ask(job.provider):
            return
        try:
            counter = get_provider(job.provider).token_counter()
            assert counter
            for turn in await in_database(uncounted)(job, but=self._refused.get(job, ())):
                try:
                    tokens = await counter(job.model, turn.text)
                except ProviderError as error:
                    if not error.retryable:
                        self._refused.setdefault(job, set()).add(turn.position)
                    raise
                await in_database(keep)(job, turn.position, tokens + TURN_OVERHEAD)
        except ProviderError as error:
            rest = max(REST_SECONDS, error.retry_after or 0.0)
            self._resting[job.provider] = time.monotonic() + rest
            about = {"provider": job.provider, "model": job.model, "code": error.code, "rest_seconds": round(rest)}
            log.warning("can't count tokens exactly, the estimate holds", extra=about)
        except DatabaseError as error:
            log.warning("can't store counts of tokens", extra={"thread_id": str(job.thread), "cause": str(error)})

    def _may_ask(self, name: str) -> bool:
        try:
            provider = get_provider(name)
        except ProviderError:
            return False
        is_resting = time.monotonic() < self._resting.get(name, 0.0)
        return not is_resting and provider.token_counter() is not None and not provider.wait()


def uncounted(job: CountJob, *, but: Collection[int] = ()) -> list[UncountedTurn]:
    """The newest long turns of the thread that have no count for the model, without those at these positions."""
    rows = run(
        SQL["uncounted"],
        user=job.user,
        thread=job.thread,
        provider=job.provider,
        model=job.model,
        newest=NEWEST,
        long=LONG,
        most=MOST,
        but=list(but),
    )
    return [
        UncountedTurn(position=position, text=countable(json.loads(content) if content else text_blocks(text)))
        for position, text, content in rows
    ]


def countable(blocks: list[dict[str, object]]) -> str:
    return "\n".join(filter(None, countable_texts(blocks)))


def keep(job: CountJob, position: int, tokens: int) -> None:
    """What the provider counted of a turn. It stays as it is once it is there; the first count holds."""
    values = {
        "user": job.user,
        "thread": job.thread,
        "provider": job.provider,
        "model": job.model,
        "position": position,
        "tokens": tokens,
    }
    with transaction.atomic():
        run(SQL["lock_thread"], **values)
        run(SQL["keep"], **values)
