"""What one process at a time does for a user."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def alone(about: int, user_id: int, *, waits: bool = False) -> Iterator[bool]:
    """Whether nobody else does what ``about`` stands for; ``waits`` until that is so. The lock ends with the connection, if
    not before."""
    values = {"about": about, "user": user_id}
    with connection.cursor() as cursor:
        if waits:
            cursor.execute("SELECT pg_advisory_lock(%(about)s::int, %(user)s::int)", values)
            is_alone = True
        else:
            cursor.execute("SELECT pg_try_advisory_lock(%(about)s::int, %(user)s::int)", values)
            (is_alone,) = cursor.fetchone()
    try:
        yield is_alone
    finally:
        if is_alone and connection.connection and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%(about)s::int, %(user)s::int)", values)
