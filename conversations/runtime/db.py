"""The way from the event loop to the database."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import islice
from typing import Any, cast

import psycopg
from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    InterfaceError,
    InternalError,
    OperationalError,
    close_old_connections,
    connection,
    connections,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.models import Model
from psycopg.errors import ReadOnlySqlTransaction, error_from_result
from psycopg.pq import ConnStatus, ExecStatus

from conversations.runtime import telemetry

# Not asgiref's shared thread: there, one slow query holds up every socket of the process.
EXECUTOR = ThreadPoolExecutor(max_workers=8, thread_name_prefix="database")

_loop: ContextVar[asyncio.AbstractEventLoop] = ContextVar("loop")
"""Of a step in a thread: the event loop that it was begun from."""


def in_database[**P, R](
    function: Callable[P, R], *, executor: ThreadPoolExecutor = EXECUTOR
) -> Callable[P, Coroutine[Any, Any, R]]:
    """Run a synchronous database step in a thread; its connection goes back to the pool afterwards. Whoever stops waiting
    doesn't stop the step, once it has begun."""

    def step(asked: float, /, *args: P.args, **kwargs: P.kwargs) -> R:
        telemetry.listener.database_step(time.perf_counter() - asked)
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    async def stepped(*args: P.args, **kwargs: P.kwargs) -> R:
        loop, context = asyncio.get_running_loop(), copy_context()
        context.run(_loop.set, loop)
        run_here = partial(context.run, step, time.perf_counter(), *args, **kwargs)
        return await loop.run_in_executor(executor, run_here)

    return stepped


def on_event_loop[*Values](function: Callable[[*Values], object], *args: *Values) -> None:
    """Within such a step: have this called on its event loop, before whoever waits for the step goes on, and also where nobody
    waits for it any more."""
    _loop.get().call_soon_threadsafe(function, *args)


def connect(name: str) -> psycopg.Connection:
    """A connection beside the pool and Django's transactions. What it asks is never prepared: see ``PooledConnection``."""
    return psycopg.connect(
        settings.DATABASE_URL,
        dbname=connection.settings_dict["NAME"],
        application_name=f"openbook {name}",
        connect_timeout=connection.settings_dict["OPTIONS"]["connect_timeout"],
        autocommit=True,
        prepare_threshold=None,
    )


def is_away(error: Exception) -> bool:
    """Whether the database can't be reached or takes no writes just now, so that trying again helps."""
    if isinstance(error, InternalError):
        # What has no code comes from psycopg: a pooler whose server died may answer one command twice.
        cause = error.__cause__
        return isinstance(cause, ReadOnlySqlTransaction) or getattr(cause, "sqlstate", "") is None
    return isinstance(error, OperationalError | InterfaceError)


def close_pool() -> None:
    """This process needs the database no more."""
    for each in connections.all(initialized_only=True):
        cast(DatabaseWrapper, each).close_pool()


QUICK_MILLISECONDS = 250
"""What a statement of a read-only transaction may take, unless it says otherwise."""

# Statements are planned once: to plan one of these anew can take longer than to run it. By indexes, as the plan of a small
# table is kept while it grows.
SETTINGS = (
    f"SET LOCAL statement_timeout = {QUICK_MILLISECONDS}; SET LOCAL plan_cache_mode = force_generic_plan; "
    "SET LOCAL enable_seqscan = off"
)


@contextmanager
def read_only() -> Iterator[None]:
    """A transaction in which PostgreSQL itself refuses every write, opened in one round trip.

    A statement that fails or takes too long breaks it, until ``start_over``. There is no ``atomic()`` within.
    """
    own = connections[DEFAULT_DB_ALIAS]  # each look through ``connection`` takes a microsecond
    if own.in_atomic_block:
        execute(f"SAVEPOINT reading; SET TRANSACTION READ ONLY; {SETTINGS}; SAVEPOINT opened")
        try:
            yield
        finally:
            _command(own, "ROLLBACK TO SAVEPOINT reading")
        return
    own.ensure_connection()
    _command(own, f"BEGIN READ ONLY; {SETTINGS}; SAVEPOINT opened")
    try:
        yield
    finally:
        if own.connection.closed:
            own.close()  # what broke is not used again
        else:
            _command(own, "ROLLBACK")


def start_over(*, milliseconds: int = QUICK_MILLISECONDS) -> None:
    """Make a broken read-only transaction usable again; 0 is no limit for the statements that follow."""
    _command(
        connections[DEFAULT_DB_ALIAS], f"ROLLBACK TO SAVEPOINT opened; SET LOCAL statement_timeout = {milliseconds}"
    )


def execute(commands: str) -> None:
    """Several commands in one round trip, on Django's connection, past its transaction handling."""
    with connection.wrap_database_errors:
        # Never in pipeline mode: there psycopg takes a statement for prepared whose preparing failed, and it fails ever after.
        connection.connection.execute(commands, prepare=False)


def _command(own: BaseDatabaseWrapper, commands: str) -> None:
    """The same outside of a transaction, or to go back in one. psycopg would look for one to begin, and forget all prepared
    statements at each ``ROLLBACK``."""
    with own.wrap_database_errors:
        pgconn = own.connection.pgconn
        result = pgconn.exec_(commands.encode())
        if pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError(result.get_error_message())
        if result.status != ExecStatus.COMMAND_OK:
            raise error_from_result(result)


def run(statement: str, **values: Any) -> list[Any]:
    """The rows of one statement on Django's connection; none where it gives none."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


def run_often(statement: str, values: Mapping[str, Any]) -> list[Any]:
    """The rows of one of the few statements that everybody waits for, in binary: on a cursor that stays with the connection."""
    own = connections[DEFAULT_DB_ALIAS]
    own.ensure_connection()
    cursor = own.connection.kept_cursor(statement)
    # As Django's own: who counts or wraps statements sees this one, too.
    wrapped = own.make_debug_cursor(cursor) if own.queries_logged else own.make_cursor(cursor)
    wrapped.execute(statement, values)
    return list(wrapped.fetchall())


def columns_of(name: str, model: type[Model]) -> str:
    """All columns of a model, of the table that has this name in a statement. A ``*`` would break prepared statements when a
    migration adds one."""
    return ", ".join(f'{name}."{field.column}"' for field in model._meta.concrete_fields)


def instance_of[M: Model](model: type[M], values: Iterator[Any]) -> M | None:
    """An instance of the next columns of a row; ``None`` where all are null, as of a row that was not there to be joined."""
    own = list(islice(values, len(model._meta.concrete_fields)))
    return None if all(value is None for value in own) else instances_of(model, [own])[0]


def instances_of[M: Model](model: type[M], rows: Iterable[Sequence[Any]]) -> list[M]:
    """Of rows of exactly the columns of ``columns_of``."""
    names = [field.attname for field in model._meta.concrete_fields]
    return [model.from_db(connection.alias, names, row) for row in rows]
