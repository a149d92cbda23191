"""Reads that may lag: of a replica, where there is one and it follows closely; else of the primary.

For search, inspection and export. Never for what decides: who somebody is, what they may, what a model is given.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.models import Model
from django.http import HttpResponseBase
from django.utils.translation import gettext

from conversations.runtime.wording import filled

log = logging.getLogger("openbook.replica")

REPLICA = "replica"
HEADER = "Openbook-Replica-Lag"
LOOK_SECONDS, AWAY_SECONDS = 1.0, 5.0
"""How long a measured lag is believed, and a replica that is away is not asked."""
READABLE = {
    *("Thread", "Message", "Reply", "ContextSnapshot", "ContextBlock", "TurnFile", "File", "FilePart"),
    *("Artifact", "ArtifactVersion", "Memory", "Topic", "ThreadSummary", "IndexedPassage"),
}
"""Models that are read there."""

# Both times are of the primary's clock. What it has written meanwhile without a commit is replayed soon.
WRITTEN = "SELECT pg_current_wal_lsn()::text, clock_timestamp()"
REPLAYED = """
SELECT CASE WHEN pg_last_wal_replay_lsn() >= %s::pg_lsn THEN 0
            ELSE extract(epoch FROM %s::timestamptz - pg_last_xact_replay_timestamp()) END::float8
WHERE pg_is_in_recovery()
"""

_lag: ContextVar[float | None] = ContextVar("replica lag", default=None)


class ReplicaRouter:
    """Django's: writes go to the primary, and so do reads outside of ``read_lagging``."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        return alias() if model.__name__ in READABLE else DEFAULT_DB_ALIAS

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Model, other: Model, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS


@dataclass
class ReplicaWatch:
    """How far the replica was behind, in seconds, when it was last asked; ``None`` where it is away or no standby."""

    lag: float | None = None
    looked_at: float = -AWAY_SECONDS
    was_read: bool = True
    fallbacks: Counter[str] = field(default_factory=Counter)
    """Reads that the primary answered instead, by reason: ``lag``, it lagged or was away; ``failed``, it failed amid."""
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def usable_lag(self) -> float | None:
        """At most so many seconds old is what is read there now; ``None`` where the primary is to be asked."""
        if REPLICA not in connections.settings:
            return None
        age = time.monotonic() - self.looked_at
        if age > (AWAY_SECONDS if self.lag is None else LOOK_SECONDS) and self._guard.acquire(blocking=False):
            try:
                self.lag, self.looked_at = _measured(), time.monotonic()
            finally:
                self._guard.release()
        lag = None if self.lag is None else self.lag + time.monotonic() - self.looked_at
        usable = lag is not None and lag <= settings.OPENBOOK_REPLICA_LAG_SECONDS
        if usable != self.was_read:
            self.was_read = usable
            told = {"lag": lag}
            log.info("the replica is read again", extra=told) if usable else log.warning(
                "the replica lags too far or is away; the primary is read instead", extra=told
            )
        return lag if usable else None

    def told(self) -> str:
        """For people: whether it is read, and how far behind it is; empty where there is none."""
        if REPLICA not in connections.settings:
            return ""
        lag = self.usable_lag()
        if lag is not None:
            return filled(
                "The replica is read for lists, maps, search and export; it is at most {lag} s behind.",
                lag=f"{lag:.1f}",
            )
        if self.lag is None:
            return gettext("The replica is not read: it is away. The primary is read instead.")
        return filled(
            "The replica is not read: it is {lag} s behind. The primary is read instead.", lag=f"{self.lag:.1f}"
        )

    def fell_back(self, reason: str) -> None:
        if REPLICA in connections.settings:
            self.fallbacks[reason] += 1

    def forget(self) -> None:
        """It failed just now."""
        self.lag, self.looked_at = None, time.monotonic()


watch = ReplicaWatch()


def alias() -> str:
    """Of the database that is read here and now."""
    return DEFAULT_DB_ALIAS if _lag.get() is None else REPLICA


def as_of() -> str:
    """For people: that what is read here and now may be old, and how old; empty where it is not."""
    lag = _lag.get()
    return "" if lag is None else filled("read from the replica, at most {lag} s behind", lag=f"{lag:.1f}")


def with_lag[R: HttpResponseBase](response: R) -> R:
    """The answer, with a header that says by how many seconds what is read here and now may be old, where it may be."""
    lag = _lag.get()
    if lag is not None:
        response[HEADER] = f"{lag:.1f}"
    return response


def read_lagging[**P, R](read: Callable[P, R]) -> Callable[P, R]:
    """A read that may lag. It changes nothing: where the replica fails, as by a conflict with what it replays, it is done
    again on the primary."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        lag = watch.usable_lag()
        if lag is None:
            watch.fell_back("lag")
            return read(*args, **kwargs)
        token = _lag.set(lag)
        try:
            return read(*args, **kwargs)
        except Error as error:
            log.warning(
                "a read of the replica failed; the primary is asked", extra={"cause": type(error.__cause__).__name__}
            )
            watch.fell_back("failed")
            if not connections[REPLICA].is_usable():
                watch.forget()
        finally:
            _lag.reset(token)
        return read(*args, **kwargs)

    return reading


def _measured() -> float | None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(WRITTEN)
        written = cursor.fetchone()
    try:
        with connections[REPLICA].cursor() as cursor:
            cursor.execute(REPLAYED, written)
            row = cursor.fetchone()
    except Error:
        return None
    return row[0] if row else None
