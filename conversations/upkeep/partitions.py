"""Tables that grow for ever lie in partitions by time: made ahead, and dropped whole once all of it may go.

A row's partition follows from its id, which begins with the milliseconds of its time (UUIDv7). ``…_first`` holds all before
the oldest month or day, ``…_rest`` what has no partition yet, so that storing never fails. All that is done here is
small transactions that wait for a lock for a moment only, as all others wait behind them; what could not be locked is for the
next time.
"""

import logging
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from itertools import takewhile
from typing import Any

from django.db import OperationalError, transaction
from psycopg.errors import LockNotAvailable

from conversations.models import ContentAccess, ContextSnapshot, Reply, ReplyEvent, Thread
from conversations.replies.events import ENDINGS
from conversations.runtime import clock, interruption
from conversations.runtime.db import run
from conversations.runtime.ids import LONGEST_REPLY, lowest_uuid7, time_of
from conversations.runtime.sql_files import read_statements

log = logging.getLogger("openbook.worker")

SQL = read_statements(__file__)
MONTHS_AHEAD, DAYS_AHEAD = 3, 7
LOCK_MILLISECONDS = 200
"""Whoever comes after one that waits for a lock waits, too. Less than PostgreSQL takes to look for a deadlock."""
MOST_MOVED = 50_000
BOUNDS = re.compile(r"FOR VALUES FROM \((?:MINVALUE|'(.+)')\) TO \('(.+)'\)")


@dataclass(frozen=True, kw_only=True)
class PartitionedTable:
    """``periods`` gives the ends of the partition that holds a time, and of those after it that are made ahead."""

    name: str
    key: str
    periods: Callable[[datetime], Iterator[datetime]]
    date_format: str
    refers_to: str = ""
    """The table that rows belong to, if to one."""
    unique: tuple[str, ...] = ()
    """Columns whose values are there once in each partition; PostgreSQL can't hold it across them."""

    @property
    def first(self) -> str:
        return f"{self.name}_first"

    @property
    def rest(self) -> str:
        return f"{self.name}_rest"


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Of rows before ``until``, and not before ``since``; ``None``: all before."""

    name: str
    since: datetime | None
    until: datetime


def month_ends(at: datetime) -> Iterator[datetime]:
    end = at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for _ in range(1 + MONTHS_AHEAD):
        end = (end + timedelta(days=32)).replace(day=1)
        yield end


def day_ends(at: datetime) -> Iterator[datetime]:
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (day + timedelta(days=number) for number in range(1, 2 + DAYS_AHEAD))


REQUESTS = PartitionedTable(
    name=ContextSnapshot._meta.db_table,
    key="id",
    periods=month_ends,
    date_format="%Y_%m",
    refers_to=Thread._meta.db_table,
    unique=("reply_id", "round", "purpose"),
)
EVENTS = PartitionedTable(
    name=ReplyEvent._meta.db_table,
    key="reply_id",
    periods=day_ends,
    date_format="%Y_%m_%d",
    refers_to=Reply._meta.db_table,
)
ACCESSES = PartitionedTable(name=ContentAccess._meta.db_table, key="id", periods=month_ends, date_format="%Y_%m")
TABLES = (REQUESTS, EVENTS, ACCESSES)


def partitions(table: PartitionedTable) -> list[Partition]:
    """The oldest first, without the one for the rest."""
    found = [(name, BOUNDS.fullmatch(bounds)) for name, bounds in run(SQL["partitions"], table=table.name)]
    return sorted(
        (
            Partition(
                name=name, since=time_of(uuid.UUID(match[1])) if match[1] else None, until=time_of(uuid.UUID(match[2]))
            )
            for name, match in found
            if match
        ),
        key=lambda each: each.until,
    )


def after_migrate(**signal: Any) -> None:
    make_ahead(clock.now())


def make_ahead(now: datetime) -> None:
    """Make those of now and of the time to come that are missing, with the rows that came before them."""
    for table in TABLES:
        if not (existing := partitions(table)):
            continue  # an earlier schema, which `migrate` was told to stop at
        since = existing[-1].until
        for until in table.periods(now):
            if until > since:
                name = f"{table.name}_{until - timedelta(days=1):{table.date_format}}"
                if not _make(table, Partition(name=name, since=since, until=until)):
                    break
                since = until
        if since > existing[-1].until:
            run(f"ANALYZE {table.name}")  # of the whole; autovacuum looks at each partition alone


def is_name_of(name: str, table: PartitionedTable) -> bool:
    """Whether a partition of it is called so, but for the one for the rest."""
    return name == table.first or bool(re.fullmatch(rf"{table.name}_\d{{4}}_\d\d(?:_\d\d)?", name, re.ASCII))


def make_as_recorded(table: PartitionedTable, recorded: list[Partition]) -> None:
    """Of an empty table: exactly these, the oldest first, in the place of those that it has. Within a transaction."""
    if not recorded:
        return
    first, *later = recorded
    for existing in partitions(table):
        if existing.name == table.first:
            run(f"ALTER TABLE {table.name} DETACH PARTITION {table.first}")
        else:
            run(f"DROP TABLE {existing.name}")
    until = lowest_uuid7(first.until)
    run(f"ALTER TABLE {table.name} ATTACH PARTITION {table.first} FOR VALUES FROM (MINVALUE) TO ('{until}')")
    for each in later:
        if not _make(table, each):
            raise OperationalError(f"{table.name} is in use")


def drop_events(before: datetime) -> None:
    """Drop the days whose replies had all ended by then, and such replies' events that are of no day."""
    while not interruption.is_requested() and run(SQL["forget_rest"], endings=list(ENDINGS), before=before):
        pass
    for day in events_over(before):
        if not _drop(day):
            return


def events_over(before: datetime) -> Iterator[Partition]:
    """The days, the oldest first, whose replies had all ended by then."""
    for day in partitions(EVENTS):
        since, until = lowest_uuid7(day.until - LONGEST_REPLY), lowest_uuid7(day.until)
        if day.until > before or run(SQL["still_followed"], since=since, until=until, before=before):
            return
        yield day


def drop_requests(before: datetime) -> None:
    """Drop the months that were over by then. What was left in them, as the newest request of each thread is, goes to the
    first partition; a month in which more was left than can be moved within a second or two stays."""
    first, *months = partitions(REQUESTS)
    for month in months:
        if month.until > before or run(f"SELECT 1 FROM {month.name} OFFSET {MOST_MOVED} LIMIT 1"):  # noqa: S608
            return
        if not _merge(first, month):
            return


def accesses_over(before: datetime) -> Iterator[Partition]:
    """The months, the oldest first, that were over by then."""
    return takewhile(lambda month: month.until <= before, partitions(ACCESSES))


def drop_accesses(before: datetime) -> None:
    """Drop the months that were over by then; the first partition stays, empty."""
    for month in accesses_over(before):
        if not (_empty if month.name == ACCESSES.first else _drop)(month):
            return


def _unless_locked(step: Callable[..., None]) -> Callable[..., bool]:
    """The step in a transaction of its own. Returns false where what it needs is locked by others."""

    @wraps(step)
    def attempt(*args: Any) -> bool:
        try:
            with transaction.atomic():
                run(f"SET LOCAL lock_timeout = {LOCK_MILLISECONDS}")
                step(*args)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            log.info("partitions are left for the next time: a table is in use", extra={"step": step.__name__})
            return False
        return True

    return attempt


@_unless_locked
def _make(table: PartitionedTable, new: Partition) -> None:
    """With the rows that went to the rest meanwhile."""
    assert new.since
    if table.refers_to:  # first, as whoever writes to both does
        run(f"LOCK TABLE {table.refers_to} IN SHARE ROW EXCLUSIVE MODE")
    run(f"LOCK TABLE ONLY {table.name} IN SHARE UPDATE EXCLUSIVE MODE")
    if run("SELECT 1 WHERE to_regclass(%(name)s) IS NOT NULL", name=new.name):
        return  # by another process
    run(f"LOCK TABLE {table.rest} IN ACCESS EXCLUSIVE MODE")
    since, until = lowest_uuid7(new.since), lowest_uuid7(new.until)
    run(f"CREATE TABLE {new.name} (LIKE {table.name} INCLUDING ALL)")
    if table.unique:
        run(f"ALTER TABLE {new.name} ADD UNIQUE ({', '.join(table.unique)})")
    if run(f"SELECT 1 FROM {table.rest} WHERE {table.key} >= '{since}' AND {table.key} < '{until}' LIMIT 1"):  # noqa: S608
        run(f"ALTER TABLE {table.rest} DISABLE TRIGGER USER")  # they go nowhere
        run(
            f"WITH moved AS (DELETE FROM {table.rest} WHERE {table.key} >= '{since}' AND {table.key} < '{until}' "  # noqa: S608
            f"RETURNING *) INSERT INTO {new.name} SELECT * FROM moved"
        )
        run(f"ALTER TABLE {table.rest} ENABLE TRIGGER USER")
    for (definition,) in run(SQL["statement_triggers"], table=table.rest):
        run(definition.replace(f"{table.rest} ", f"{new.name} "))
    run(f"ALTER TABLE {table.name} ATTACH PARTITION {new.name} FOR VALUES FROM ('{since}') TO ('{until}')")


@_unless_locked
def _drop(partition: Partition) -> None:
    run(f"DROP TABLE {partition.name}")


@_unless_locked
def _empty(partition: Partition) -> None:
    run(f"LOCK TABLE {partition.name} IN ACCESS EXCLUSIVE MODE")
    if run(f"SELECT 1 FROM {partition.name} LIMIT 1"):  # noqa: S608
        run(f"ALTER TABLE {partition.name} DISABLE TRIGGER USER")  # they refuse it to all others
        run(f"TRUNCATE {partition.name}")
        run(f"ALTER TABLE {partition.name} ENABLE TRIGGER USER")


def _merge(first: Partition, month: Partition) -> bool:
    # Checked beforehand, so that the first partition need not be read while it is locked.
    return _add_bound(first, month) and _validate_bound(first) and _move(first, month)


@_unless_locked
def _add_bound(first: Partition, month: Partition) -> None:
    run(f"ALTER TABLE {first.name} DROP CONSTRAINT IF EXISTS {first.name}_bound")
    check = f"id < '{lowest_uuid7(month.until)}'"
    run(f"ALTER TABLE {first.name} ADD CONSTRAINT {first.name}_bound CHECK ({check}) NOT VALID")


@_unless_locked
def _validate_bound(first: Partition) -> None:
    run(f"ALTER TABLE {first.name} VALIDATE CONSTRAINT {first.name}_bound")


@_unless_locked
def _move(first: Partition, month: Partition) -> None:
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run(f"LOCK TABLE {REQUESTS.refers_to} IN SHARE ROW EXCLUSIVE MODE")
    run(f"LOCK TABLE {REQUESTS.name} IN ACCESS EXCLUSIVE MODE")
    for partition in (first, month):
        run(f"ALTER TABLE {REQUESTS.name} DETACH PARTITION {partition.name}")
    run(f"INSERT INTO {first.name} SELECT * FROM {month.name}")  # noqa: S608
    run(f"DROP TABLE {month.name}")
    until = lowest_uuid7(month.until)
    run(f"ALTER TABLE {REQUESTS.name} ATTACH PARTITION {first.name} FOR VALUES FROM (MINVALUE) TO ('{until}')")
    run(f"ALTER TABLE {first.name} DROP CONSTRAINT {first.name}_bound")
