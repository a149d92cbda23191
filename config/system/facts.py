"""What the page *System* tells of, read by short statements. One that fails, or takes too long, costs only its own line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from config.doctor import database, services
from config.doctor.findings import Finding
from config.observability import installation
from config.observability.installation import Disk, Installation, Reading
from conversations.runtime import lagging
from conversations.runtime.db import read_only, run
from conversations.runtime.sql_files import read_statements
from conversations.upkeep import partitions

SQL = read_statements(__file__)


class Server(NamedTuple):
    """PostgreSQL. ``sees_all``: whether the role may read what others do."""

    version: str
    role: str
    sees_all: bool


class Schema(NamedTuple):
    missing: Sequence[str]
    unknown: Sequence[str]


class Migration(NamedTuple):
    app: str
    name: str
    applied: datetime


class Table(NamedTuple):
    """Bytes; ``rows`` as PostgreSQL estimates them, ``None`` where it has not; ``partitions``: 0 where it has none."""

    name: str
    size: int
    rows: int | None
    partitions: int


class Run(NamedTuple):
    """The last of its kind, whatever became of it."""

    kind: str
    began_at: datetime
    ended_at: datetime | None
    succeeded: bool | None


class Month(NamedTuple):
    """Bytes of a table's partition."""

    table: str
    since: datetime
    size: int


@dataclass(frozen=True, kw_only=True)
class Facts:
    """``None``: could not be read."""

    installation: Installation
    server: Server | None
    schema: Schema | None
    migrations: Sequence[Migration] | None
    failed_tasks: int | None
    transactions: tuple[float, float] | None
    """For how many seconds the oldest is open, and the oldest prepared one."""
    lost_slots: Sequence[str] | None
    stuck: int | None
    replica: str
    """Of `OPENBOOK_REPLICA_URL`, in words; empty where there is none."""
    replica_is_read: bool
    tables: Sequence[Table] | None
    months: Sequence[Month] | None
    runs: Mapping[str, Run] | None
    disks: Sequence[Disk]
    redis: Sequence[Finding]


def look() -> Facts:
    """Raises what the database raises where it is away."""
    redis = services.look_at_redis()
    whole = installation.look()
    replica, lag = lagging.watch.told(), lagging.watch.usable_lag()
    with read_only():
        own, doctors = Reading(SQL), Reading(database.SQL)
        server = own.rows("versions")
        migrations, failed = own.rows("migrations"), own.rows("failed_tasks")
        oldest, slots = doctors.rows("oldest_transaction"), doctors.rows("lost_slots")
        stuck = doctors.rows("stuck_replies")
        tables, runs = own.rows("tables"), own.rows("runs")
        return Facts(
            installation=whole,
            server=_server(*server[0]) if server else None,
            schema=own.attempt("schema", lambda: Schema(*database.migrations())),
            migrations=None if migrations is None else [Migration(*row) for row in migrations],
            failed_tasks=failed[0][0] if failed else None,
            transactions=tuple(oldest[0]) if oldest else None,
            lost_slots=None if slots is None else [f"{name} ({size})" for name, size in slots],
            stuck=stuck[0][0] if stuck else None,
            replica=replica,
            replica_is_read=lag is not None,
            tables=None if tables is None else [Table(*row) for row in tables],
            months=own.attempt("months", _months),
            runs=None if runs is None else {row[0]: Run(*row) for row in runs},
            disks=installation.disks(),
            redis=redis,
        )


def _server(version: str, role: str, sees_all: bool) -> Server:
    """The embedded one has no role beside ours that anybody uses."""
    return Server(version, role, sees_all=sees_all or settings.DATABASE_IS_EMBEDDED)


def _months() -> list[Month]:
    found = []
    for table in (partitions.REQUESTS, partitions.ACCESSES):
        sizes = dict(run(SQL["partition_sizes"], table=table.name))
        parts = [(each.since, sizes.get(each.name, 0)) for each in partitions.partitions(table)]
        found += [Month(table.name, since, size) for since, size in parts if since]
    return found
