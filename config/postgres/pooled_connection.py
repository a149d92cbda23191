"""Connections that leave nothing in a session of PostgreSQL, so that a pooler such as PgBouncer may be in between."""

import secrets
import select
from typing import Any, Self

import psycopg
from psycopg import pq
from psycopg_pool import ConnectionPool

READ_ONLY = ("in_hot_standby", "default_transaction_read_only")
"""What PostgreSQL reports by itself whenever it changes."""


class PooledConnection(psycopg.Connection[Any]):
    """Statements are kept prepared where they will be met again: on PostgreSQL itself, and by poolers that keep them for their
    clients, as PgBouncer does since 1.21 with ``max_prepared_statements``. Others run each statement in any session.

    A cursor of the server's lasts as long as a transaction. Outside of one the rows come at once.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._kept_cursors: dict[str, Any] = {}

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Self:
        connection = super().connect(*args, **options)
        if connection.prepare_threshold is not None and not keeps_statements(connection):
            connection.prepare_threshold = None
        return connection

    def cursor(self, name: str = "", *, withhold: bool = False, **options: Any) -> Any:
        if withhold:
            return super().cursor(**{key: value for key, value in options.items() if key != "scrollable"})
        return super().cursor(name, **options) if name else super().cursor(**options)

    def kept_cursor(self, statement: str) -> Any:
        """The same cursor each time for a statement, for rows in binary. It remembers how its values are written and its
        columns read, which a new one looks up for each: a fifth of what psycopg takes. It holds its rows until it has others.
        """
        cursor = self._kept_cursors.get(statement)
        if cursor is None:
            cursor = self._kept_cursors[statement] = self.cursor(binary=True)
        return cursor


def keeps_statements(connection: psycopg.Connection[Any]) -> bool:
    """Whether a statement that this connection prepares is there when it is used. Leaves none behind."""
    cursor = psycopg.RawCursor(connection)
    if cursor.execute("SELECT pg_backend_pid()", prepare=False).fetchone() == (connection.info.backend_pid,):
        return True
    # A pooler is in between. One that keeps statements gives them names of its own.
    name = f"openbook_{secrets.token_hex(8)}"
    with connection.transaction():
        prepared = connection.pgconn.prepare(name.encode(), b"SELECT 1")
        if prepared.status != pq.ExecStatus.COMMAND_OK:
            raise psycopg.OperationalError(prepared.error_message.decode(errors="replace"))
        named = "SELECT name FROM pg_prepared_statements WHERE name = $1"
        kept = cursor.execute(named, [name], prepare=False).fetchone() is None
        if not kept:
            cursor.execute(f"DEALLOCATE {name}", prepare=False)
    return kept


def check_health(connection: psycopg.Connection[Any]) -> None:
    """Before the pool gives a connection out. From one that is well and idle there is nothing to read, so that only one from
    which there is something is asked. Raises what psycopg raises."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(connection)


def check_writable(connection: psycopg.Connection[Any]) -> None:
    """The same where the server must take writes: one that has become read-only, as a primary that another has taken over
    from, said so with what it answered last."""
    check_health(connection)
    if any(connection.info.parameter_status(name) == "on" for name in READ_ONLY):
        connection.close()  # or the pool would keep it
        raise psycopg.OperationalError("the server takes no writes any more")
