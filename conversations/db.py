"""The way from the event loop to the database."""

from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from channels.db import DatabaseSyncToAsync
from django.db import connection, transaction

# Not asgiref's shared thread: there, one slow query holds up every socket of the process.
EXECUTOR = ThreadPoolExecutor(max_workers=8, thread_name_prefix="database")


def in_database[**P, R](function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Run a synchronous database step in a thread of its own; its connection goes back to the pool afterwards."""
    step: Callable[P, Coroutine[Any, Any, R]] = DatabaseSyncToAsync(function, thread_sensitive=False, executor=EXECUTOR)
    return step


@contextmanager
def read_only() -> Iterator[None]:
    """A transaction in which PostgreSQL itself refuses every write."""
    if connection.in_atomic_block:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            yield
        return
    connection.ensure_connection()
    psycopg = connection.connection
    psycopg.read_only = True  # it then says BEGIN READ ONLY: a round trip less than BEGIN and SET
    try:
        with transaction.atomic():
            yield
    finally:
        if not psycopg.closed:  # what broke is not used again
            psycopg.read_only = None
