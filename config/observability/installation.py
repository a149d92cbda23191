"""How the whole installation is, as metrics tell it: read by statements that are quick at any size.

Nothing is counted that grows for ever. What can't be read, as the role may not or it takes too long, is ``None`` or left out.
"""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError

from conversations.audit import delivery
from conversations.audit.delivery import DeliveryStatus
from conversations.runtime import clock
from conversations.runtime.db import read_only, run, start_over
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.lagging import watch
from conversations.runtime.leases import LEASE
from conversations.runtime.sql_files import read_statements
from conversations.upkeep import partitions

WORKER = "worker "
"""What the lease of a worker begins with."""
RECENTLY = timedelta(minutes=5)
SQL = read_statements(__file__)


class Queue(NamedTuple):
    """Tasks that could be run, and for how many seconds the oldest waits."""

    name: str
    length: int
    oldest: float


class Requests(NamedTuple):
    """How many of the newest model requests; ``error`` is a code, or empty."""

    status: str
    error: str
    number: int


class Standby(NamedTuple):
    """``lag`` in seconds; ``None``: it is away, or its lag may not be read."""

    name: str
    lag: float | None
    up: bool


class Disk(NamedTuple):
    """A file system of this machine; bytes."""

    folder: str
    free: int
    size: int


@dataclass(frozen=True, kw_only=True)
class Installation:
    at: datetime
    postgresql: str | None
    size: int | None
    connections: int | None
    most_connections: int | None
    oldest_transaction: float | None
    queues: Sequence[Queue]
    workers: int | None
    leases: int | None
    running: int | None
    stuck: int | None
    """Replies that nobody renews the lease of."""
    mails: int | None
    failed_mails: int | None
    """Those that wait to be sent, and those that were given up."""
    requests: Sequence[Requests]
    standbys: Sequence[Standby]
    ahead: Mapping[str, float]
    """Seconds until a partitioned table has no partition for new rows."""
    maintenance: Mapping[str, datetime]
    """When the newest backup, drill and restore that succeeded ended, by kind."""
    deliveries: Sequence[DeliveryStatus] = ()
    """Of audit events, to each destination that is set."""
    unread: Collection[str] = ()
    """Names of the statements that failed; what they tell of is ``None`` or empty."""


@dataclass
class Reading:
    """Statements of a read-only transaction, of which each may fail alone. All raise what the database raises where it is
    away."""

    statements: Mapping[str, str]
    unread: set[str] = field(default_factory=set)

    def rows(self, name: str, **values: Any) -> list[Any] | None:
        """None where the statement failed."""
        return self.attempt(name, lambda: run(self.statements[name], **values))

    def first(self, name: str, **values: Any) -> Any:
        rows = self.rows(name, **values)
        return rows[0] if rows else None

    def attempt[T](self, name: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except DatabaseError:
            start_over()
            self.unread.add(name)
            return None


def look() -> Installation:
    """Raises what the database raises where it is away."""
    now = clock.now()
    with read_only():
        reading = Reading(SQL)
        database = reading.first("database") or (None, None, None, None)
        leases = reading.first("leases", worker=f"{WORKER}%", lease=LEASE) or (None, None)
        replies = reading.first("replies") or (None, None)
        mails = reading.first("mails") or (None, None)
        oldest = reading.first("transactions")
        return Installation(
            at=now,
            size=database[0],
            connections=database[1],
            most_connections=database[2],
            postgresql=database[3],
            oldest_transaction=oldest and oldest[0],
            queues=[Queue(*row) for row in reading.rows("queues") or ()],
            workers=leases[0],
            leases=leases[1],
            running=replies[0],
            stuck=replies[1],
            mails=mails[0],
            failed_mails=mails[1],
            requests=[Requests(*row) for row in reading.rows("requests", since=lowest_uuid7(now - RECENTLY)) or ()],
            standbys=[*(Standby(*row) for row in reading.rows("standbys") or ()), *_replica()],
            ahead=reading.attempt("ahead", lambda: _ahead(now)) or {},
            maintenance=dict(reading.rows("maintenance") or ()),
            deliveries=reading.attempt("deliveries", delivery.status) or (),
            unread=reading.unread,
        )


def disks() -> list[Disk]:
    """Of the data folder and of the folder of files, each file system once."""
    found: dict[int, Disk] = {}
    for name, folder in (("data", settings.LOCAL_DIR), ("files", settings.OPENBOOK_FILES_DIR)):
        path = next(each for each in (folder, *Path(folder).parents) if each.exists())
        usage = shutil.disk_usage(path)
        found.setdefault(path.stat().st_dev, Disk(name, usage.free, usage.total))
    return list(found.values())


def _replica() -> list[Standby]:
    if not settings.OPENBOOK_REPLICA_URL:
        return []
    watch.usable_lag()
    return [Standby("OPENBOOK_REPLICA_URL", watch.lag, watch.lag is not None)]


def _ahead(now: datetime) -> dict[str, float]:
    made = {table.name: partitions.partitions(table) for table in partitions.TABLES}
    return {name: (parts[-1].until - now).total_seconds() for name, parts in made.items() if parts}
