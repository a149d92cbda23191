"""What one process at a time does for a user."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from conversations.runtime.db import run


@contextmanager
def alone(about: int, user_id: int, *, waits: bool = False) -> Iterator[bool]:
    """Whether nobody else does what ``about`` stands for; ``waits`` until that is so. The lock ends with the connection, if
    not before."""
    values = {"about": about, "user": user_id}
    take = "pg_advisory_lock" if waits else "pg_try_advisory_lock"
    ((answer,),) = run(f"SELECT {take}(%(about)s::int, %(user)s::int)", **values)
    is_alone = waits or answer
    try:
        yield is_alone
    finally:
        if is_alone and connection.connection and not connection.connection.closed:
            run("SELECT pg_advisory_unlock(%(about)s::int, %(user)s::int)", **values)
