"""Whether a reply could be given, and stored, right now."""

import asyncio
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.db import Error, connection, transaction
from django.http import HttpRequest, JsonResponse

from config.postgres.migrations import unapplied
from config.server import draining
from conversations.providers import ProviderError, get_provider, provider_name
from conversations.providers.circuit_breaker import resting
from conversations.runtime.db import connect, in_database
from conversations.runtime.redis_client import unreachable, waiting

DATABASE_SECONDS = 3.0
WRITE_SECONDS = 5.0
"""Between two writes that show whether anything can be stored."""

# Takes room on the disk, which is given back at once, writes to the log that each commit waits for, and is refused where
# the database is read-only.
WRITE = """
WITH room AS MATERIALIZED (SELECT repeat('x', 8000) AS text FROM generate_series(1, 128)),
     nothing AS (DELETE FROM django_migrations WHERE false)
SELECT count(text), pg_logical_emit_message(true, 'openbook', 'health') FROM room
"""

UNREACHABLE = "unreachable: check DATABASE_URL and that PostgreSQL runs"
UNREACHABLE_EMBEDDED = (
    "unreachable: the database of this installation is started again; if this lasts, its log, postgres.log, says why"
)
NO_CONNECTION = (
    "unreachable: PostgreSQL, or the pooler before it, gives no more connections: raise max_connections, the limit of the "
    "role or that of the pooler, or lower OPENBOOK_DATABASE_CONNECTIONS"
)
# A refused connection comes with words alone. The last one is PgBouncer's.
NO_MORE = re.compile("too many (clients|connections)|connection slots|no more connections allowed")
NOT_STORED = {"53100": "the disk of the database is full", "25006": "the database is read-only"}
"""By PostgreSQL's code of the error."""
GONE = ("08", "57")
"""What such codes of a lost connection begin with."""


@dataclass
class LastWrite:
    """When this process last stored something to see whether it can."""

    at: float = -WRITE_SECONDS


last_write = LastWrite()


@dataclass
class Migrated:
    """Whether this process has seen all migrations of its code applied; they stay so."""

    complete: bool = False


migrated = Migrated()


async def health(request: HttpRequest) -> JsonResponse:
    """200 when a reply could be given and stored, else 503, also once this process has been told to leave. A
    Redis that is away slows readers down but stops no reply.
    Nor does a provider that is not asked just now make it 503: other processes do no better, and all but a reply works."""
    if draining.state.leaving:
        return JsonResponse({"status": "draining", "checks": {}}, status=503)
    checks = {
        "database": await _database(_look),
        "provider": await asyncio.to_thread(_provider),
        "redis": await _redis(),
        "circuits": _circuits(),
    }
    well = checks["database"] == checks["provider"] == "ok"
    return JsonResponse({"status": "ok" if well else "unavailable", "checks": checks}, status=200 if well else 503)


async def live(request: HttpRequest) -> JsonResponse:
    """200 as long as the process answers at all; nothing else is looked at, so that nobody restarts it for what is not its
    fault."""
    return JsonResponse({"status": "ok"})


async def ready(request: HttpRequest) -> JsonResponse:
    """200 when requests may be sent here, else 503: the database answers, it has this code's migrations, and the process has
    not been told to leave."""
    if draining.state.leaving:
        return JsonResponse({"status": "draining", "checks": {}}, status=503)
    checks = {"database": await _database(_ask)}
    if checks["database"] == "ok":
        checks["migrations"] = await _migrations()
    well = all(answer == "ok" for answer in checks.values())
    return JsonResponse({"status": "ok" if well else "unavailable", "checks": checks}, status=200 if well else 503)


async def _migrations() -> str:
    """They are looked up until they are all there."""
    if not migrated.complete:
        try:
            missing = await asyncio.wait_for(in_database(unapplied)(), DATABASE_SECONDS)
            migrated.complete = not missing
        except (Error, TimeoutError):
            return UNREACHABLE
    return "ok" if migrated.complete else "missing: run `manage.py migrate`, or restart `manage.py serve`"


async def _database(look: Callable[[], None]) -> str:
    try:
        await asyncio.wait_for(in_database(look)(), DATABASE_SECONDS)
    except (Error, TimeoutError) as error:
        code = getattr(error.__cause__, "sqlstate", None)
        return problem(code) if code else await asyncio.to_thread(unreachable_because)
    return "ok"


def unreachable_because() -> str:
    """The pool says only that it waited, so PostgreSQL is asked once more, past it."""
    try:
        connect("health").close()
    except psycopg.OperationalError as error:
        if NO_MORE.search(str(error)):
            return NO_CONNECTION
    return problem(None)


def problem(code: str | None) -> str:
    """In words for the operator; ``code`` is PostgreSQL's, if it could say one."""
    if code is None or code.startswith(GONE):
        return UNREACHABLE_EMBEDDED if settings.DATABASE_IS_EMBEDDED else UNREACHABLE
    return f"nothing can be stored: {NOT_STORED.get(code, f'PostgreSQL says {code}')}"


def _ask() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _look() -> None:
    now = time.monotonic()
    if now - last_write.at < WRITE_SECONDS:
        _ask()
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL work_mem = '64kB'")
        cursor.execute(WRITE)
    last_write.at = now


def _provider() -> str:
    try:
        obstacle = get_provider(provider_name()).obstacle()
    except ProviderError as error:
        obstacle = error
    return obstacle.message if obstacle else "ok"


def _circuits() -> str:
    waits = [f"{name} is asked again in {math.ceil(seconds)} s" for name, seconds in resting().items()]
    return f"open: {', '.join(waits)}" if waits else "ok"


async def _redis() -> str:
    if not settings.REDIS_URL:
        return "not configured: one server process"
    client = waiting(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2)
    try:
        await client.ping()
    except unreachable():
        return "unreachable: start Redis or correct REDIS_URL; readers in other processes are slower until then"
    finally:
        await client.aclose()
    return "ok"
