"""`manage.py migrate`: Django's own, one at a time on all machines, and without keeping people waiting for a lock."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError
from psycopg.errors import LockNotAvailable

from config.management.output import PrintableCommand
from config.postgres.migrations import LOCK_SECONDS, limited_locks
from conversations.runtime.db import connect

MIGRATING = 0x6F70656E
"""PostgreSQL's advisory locks are known by number; this one spells "open"."""
LOOK_SECONDS = 0.2
PAUSE_SECONDS = 1.0
"""Between two attempts to lock a table, for those who waited behind the first one."""
ATTEMPTS = 60


class Command(PrintableCommand, migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with one_at_a_time(), limited_locks(options["database"]):
            for left in reversed(range(ATTEMPTS)):
                try:
                    super().handle(*args, **options)
                    return
                except OperationalError as error:
                    if not isinstance(error.__cause__, LockNotAvailable):
                        raise
                    if not left:
                        raise CommandError(
                            f"A table stayed locked by somebody else, {ATTEMPTS} times for {LOCK_SECONDS} s. What was done so "
                            "far stays. Look for long transactions in pg_stat_activity, end them, and run migrate again."
                        ) from error
                    self.stderr.write("A table is locked by somebody else; the migration is tried again.")
                    time.sleep(PAUSE_SECONDS)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Several processes may start at once, and Django's migrations don't know of each other. The lock ends with a transaction
    that stays open meanwhile, and whoever waits for it holds none: a pooler may have few connections to give."""
    with connect("migrations") as holder:
        while True:
            with holder.transaction():
                holder.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                # Without parameters: with them a snapshot stays, for whose end an index that is built CONCURRENTLY waits.
                if holder.execute(f"SELECT pg_try_advisory_xact_lock({MIGRATING})").fetchone() == (True,):
                    yield
                    return
            time.sleep(LOOK_SECONDS)
