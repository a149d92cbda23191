"""PostgreSQL: whether it can be used, and what will go wrong with it later."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import psycopg
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from django.utils.translation import gettext

from config.doctor.examination import reading
from config.doctor.findings import Finding, ok, warning, wrong
from config.observability import limits
from config.postgres.pooled_connection import PooledConnection, keeps_statements
from config.server.health import NO_CONNECTION, NO_MORE
from conversations.runtime import lagging
from conversations.runtime.db import connect, run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.wording import filled, translated
from conversations.upkeep import partitions

SQL = read_statements(__file__)
LEAST_VERSION = 15
POOL_SECONDS = 4
SMALL_DRIFT, LARGE_DRIFT = 2.0, 60.0
BESIDE_POOL = 3
"""Connections of a server beside its pool: leases, health, migrations."""
OF_WORKERS = 4
"""Of the two workers that a server brings."""
AHEAD = timedelta(seconds=limits.AHEAD_SECONDS)


def look_at_reachable() -> Sequence[Finding]:
    try:
        with connect("doctor") as asked:
            version = asked.info.server_version
            is_superuser = asked.info.parameter_status("is_superuser") == "on"
            is_standby = asked.info.parameter_status("in_hot_standby") == "on"
            place = f"{asked.info.host}:{asked.info.port}"
            words = filled(
                "PostgreSQL {version}, {place}, as {user}",
                version=f"{version // 10_000}.{version % 10_000}",
                place=gettext("the embedded one") if settings.DATABASE_IS_EMBEDDED else place,
                user=asked.info.user,
            )
    except psycopg.OperationalError as error:
        return [unreachable(str(error))]
    return reachable(words, version // 10_000, is_superuser=is_superuser, is_standby=is_standby)


def unreachable(words: str) -> Finding:
    if NO_MORE.search(words):
        advice = f"{translated(NO_CONNECTION)}. docs/operate/connections-near-limit.md"
        return wrong(gettext("it gives no more connections"), advice)
    advice = gettext("Start PostgreSQL, or correct DATABASE_URL: docs/operate/database-down.md.")
    return wrong(filled("can't be reached: {problem}", problem=" ".join(words.split())), advice)


def reachable(words: str, version: int, *, is_superuser: bool, is_standby: bool) -> list[Finding]:
    if version < LEAST_VERSION:
        advice = filled("Upgrade it to PostgreSQL {version} or newer.", version=LEAST_VERSION)
        return [wrong(filled("{words}: too old", words=words), advice)]
    if is_standby:
        advice = gettext("Name the primary in DATABASE_URL, or all servers: docs/operate/failover.md.")
        return [wrong(filled("{words}: a standby, which takes no writes", words=words), advice)]
    if is_superuser:
        advice = gettext("Use a role that owns its database alone.")
        return [warning(filled("{words}: a superuser, who may read the server's files", words=words), advice)]
    return [ok(words)]


def look_at_schema() -> Sequence[Finding]:
    with reading():
        missing, unknown = migrations()
    return schema(missing, unknown)


def migrations() -> tuple[list[str], list[str]]:
    """Of our code those that are not applied, and applied ones that it does not know."""
    loader = MigrationLoader(connection)
    known, applied = set(loader.disk_migrations), set(loader.applied_migrations)
    apps = {app for app, _ in known}
    named = [f"{app}.{name}" for app, name in sorted(known - applied - set(loader.replacements))]
    return named, [f"{app}.{name}" for app, name in sorted(applied - known) if app in apps]


def schema(missing: Sequence[str], unknown: Sequence[str]) -> list[Finding]:
    if unknown:
        advice = gettext("Run the code that made them, or newer: an older one may write what the newer can't read.")
        return [wrong(filled("the database is ahead of this code: {names}", names=", ".join(unknown[:3])), advice)]
    if missing:
        advice = gettext("Run: python manage.py migrate. `serve` does it at its start.")
        words = filled(
            "{number} migrations are not applied, the first is {first}", number=len(missing), first=missing[0]
        )
        return [wrong(words, advice)]
    return [ok(gettext("all migrations are applied; no extensions are needed"))]


def look_at_rights() -> Sequence[Finding]:
    with reading():
        ((may_create, may_make_temporary, foreign),) = run(SQL["rights"])
    return rights(may_create, may_make_temporary, foreign)


def rights(may_create: bool, may_make_temporary: bool, foreign: Sequence[str]) -> list[Finding]:
    found = []
    if not may_create:
        advice = filled(
            "As a superuser: {command}",
            command="ALTER DATABASE … OWNER TO openbook; GRANT CREATE ON SCHEMA public TO openbook",
        )
        found.append(wrong(gettext("the role may make no tables: migrations and partitions fail"), advice))
    if not may_make_temporary:
        advice = filled("As a superuser: {command}", command="GRANT TEMPORARY ON DATABASE … TO openbook")
        found.append(warning(gettext("the role may make no temporary tables: restoring and drills need them"), advice))
    if foreign:
        advice = filled("As a superuser: {command}", command="REASSIGN OWNED BY … TO openbook")
        found.append(wrong(filled("tables belong to another role: {names}", names=", ".join(foreign)), advice))
    return found or [ok(gettext("the role owns its tables and may make more"))]


def look_at_encoding() -> Sequence[Finding]:
    with reading():
        ((encoding,),) = run(SQL["encoding"])
    if encoding != "UTF8":
        advice = gettext("Make the database anew WITH ENCODING 'UTF8' TEMPLATE template0, and bring the data over.")
        return [wrong(filled("{encoding}: not every character can be stored", encoding=encoding), advice)]
    return [ok(encoding)]


def look_at_durability() -> Sequence[Finding]:
    with reading():
        return durability(dict(run(SQL["durability"])))


def durability(off: Mapping[str, str]) -> list[Finding]:
    if off:
        advice = gettext("Switch it on in postgresql.conf, or ALTER ROLE … RESET.")
        words = filled("{names} is off: what was acknowledged can be lost in a crash", names=", ".join(off))
        return [warning(words, advice)]
    return [ok(gettext("what is acknowledged is on the disk"))]


def look_at_clock() -> Sequence[Finding]:
    with reading():
        before = time.time()
        ((theirs,),) = run("SELECT extract(epoch FROM clock_timestamp())::float8")
        after = time.time()
    return [drift(gettext("the database"), (before + after) / 2 - theirs, margin=(after - before) / 2)]


def drift(other: str, seconds: float, *, margin: float = 0.0) -> Finding:
    """``seconds`` that this clock is ahead of the other one, known up to the ``margin``."""
    size = max(abs(seconds) - margin, 0.0)
    if size < SMALL_DRIFT:
        most = f"{max(abs(seconds) + margin, 0.1):.1f}"
        return ok(filled("at most {seconds} s from that of {other}", seconds=most, other=other))
    apart = f"{size:.0f}"
    if seconds > 0:
        words = filled("{seconds} s ahead of that of {other}", seconds=apart, other=other)
    else:
        words = filled("{seconds} s behind that of {other}", seconds=apart, other=other)
    advice = gettext("Run an NTP client (chrony, systemd-timesyncd) on both: docs/operate/clock.md.")
    return (wrong if size >= LARGE_DRIFT else warning)(words, advice)


def look_at_connections(servers: int) -> Sequence[Finding]:
    with reading():
        found = run(SQL["limits"])
    is_pooled = _is_pooled()
    return [connections(found, settings.OPENBOOK_DATABASE_CONNECTIONS, servers, is_pooled=is_pooled)]


def connections(found: Sequence[tuple[int, int]], pool: int, servers: int, *, is_pooled: bool) -> Finding:
    """``found``: each limit that there is, and how many connections count against it. The worst is told."""
    limit, used = max(found, key=lambda each: each[1] / max(each[0], 1))
    if used <= limit * limits.CONNECTIONS_SHARE:
        limit, used = min(found)
    needed = servers * (pool + BESIDE_POOL + OF_WORKERS)
    words = filled(
        "{used} of {limit} are used; {servers} `serve` with pools of {pool} may take {needed}",
        used=used,
        limit=limit,
        servers=servers,
        pool=pool,
        needed=needed,
    )
    advice = gettext(
        "Lower OPENBOOK_DATABASE_CONNECTIONS, raise max_connections, or put PgBouncer in between: "
        "docs/operate/connections-near-limit.md."
    )
    if used > limit * limits.CONNECTIONS_SHARE:
        return wrong(words, advice)
    if needed > limit and not is_pooled:
        return warning(words, advice)
    return ok(filled("{words}, by a pooler", words=words) if is_pooled else words)


def look_at_pooler() -> Sequence[Finding]:
    options = {"dbname": connection.settings_dict["NAME"], "connect_timeout": POOL_SECONDS, "autocommit": True}
    with PooledConnection.connect(settings.DATABASE_URL, prepare_threshold=2, **options) as one:
        ((first,),) = one.execute("SELECT pg_backend_pid()", prepare=False).fetchall()
        if first == one.info.backend_pid:
            return [ok(gettext("none in between, statements are kept prepared"))]
        return pooler(keeps=keeps_statements(one), has_two=_has_two(one))


def _has_two(one: psycopg.Connection) -> bool:
    """Whether a second transaction gets a connection while a first one runs."""
    with one.transaction():
        one.execute("SELECT 1", prepare=False)
        try:
            with connect("doctor pool") as other:
                other.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
    return True


def _is_pooled() -> bool:
    with connect("doctor") as asked:
        row = asked.execute("SELECT pg_backend_pid()").fetchone()
        return row != (asked.info.backend_pid,)


def pooler(*, keeps: bool, has_two: bool) -> list[Finding]:
    found = []
    if not has_two:
        advice = gettext("Raise default_pool_size: docs/operate/pgbouncer.md.")
        found.append(wrong(gettext("gives one connection to all at once: `serve` can't migrate"), advice))
    if not keeps:
        advice = gettext("Use PgBouncer 1.21 or newer with max_prepared_statements = 200: docs/operate/pgbouncer.md.")
        found.append(
            warning(gettext("keeps no prepared statements: each message costs some milliseconds more"), advice)
        )
    return found or [ok(gettext("a pooler in between, which keeps prepared statements"))]


def look_at_partitions() -> Sequence[Finding]:
    found: list[Finding] = []
    for table in partitions.TABLES:
        with reading():
            made = partitions.partitions(table)
            in_rest = bool(run(f"SELECT 1 FROM {table.rest} LIMIT 1"))  # noqa: S608
        found += partition(table.name, made[-1].until if made else None, timezone.now(), in_rest=in_rest)
    return found or [ok(gettext("made ahead for all tables that grow"))]


def partition(table: str, until: datetime | None, now: datetime, *, in_rest: bool) -> list[Finding]:
    """``until``: the end of the newest one."""
    advice = gettext("See that a worker runs, which makes them: docs/operate/partition-missing.md.")
    if until is None or until <= now:
        return [wrong(filled("{table} has none for now; rows go to {table}_rest", table=table), advice)]
    if until <= now + AHEAD:
        end = f"{until.astimezone(UTC):%Y-%m-%d %H:%M}"
        return [warning(filled("{table} has them until {end} only", table=table, end=end), advice)]
    if in_rest:
        return [warning(filled("rows of {table} lie in {table}_rest", table=table), advice)]
    return []


def look_at_transactions() -> Sequence[Finding]:
    with reading():
        ((oldest, prepared),) = run(SQL["oldest_transaction"])
        slots = run(SQL["lost_slots"])
    return transactions(oldest, prepared, [f"{name} ({size})" for name, size in slots])


def transactions(oldest: float, prepared: float, slots: Sequence[str]) -> list[Finding]:
    """Ages in seconds; ``slots`` of replicas that are gone, with what is kept for them."""
    found = []
    age, what = max((oldest, gettext("transaction")), (prepared, gettext("prepared transaction")))
    if age >= limits.TRANSACTION_SECONDS:
        judged = wrong if age >= limits.TRANSACTION_SECONDS_WRONG else warning
        advice = gettext("End it: docs/operate/old-transaction.md.")
        words = filled(
            "the oldest {what} is {minutes} minutes old: nothing is vacuumed", what=what, minutes=f"{age / 60:.0f}"
        )
        found.append(judged(words, advice))
    if slots:
        advice = gettext("Drop the slot of a replica that is gone: docs/operate/disk-filling.md.")
        found.append(
            wrong(filled("the log is kept for a replica that is away: {names}", names=", ".join(slots)), advice)
        )
    return found or [ok(filled("the oldest is {seconds} s old", seconds=f"{oldest:.0f}"))]


def look_at_replica() -> Sequence[Finding]:
    if not settings.OPENBOOK_REPLICA_URL:
        return []
    lagging.watch.forget()
    lagging.watch.looked_at = -lagging.AWAY_SECONDS
    lag = lagging.watch.usable_lag()
    told = lagging.watch.told()
    return [warning(told, "docs/operate/replica-lag.md") if lag is None else ok(told)]
