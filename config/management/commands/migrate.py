"""`manage.py migrate`: Django's own, one at a time on all machines, and without keeping people waiting for a lock. An empty
database begins with the schema as it was one day (``config/postgres/baseline.py``), not with the first migration."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from psycopg.errors import LockNotAvailable

from config.management.output import PrintableCommand
from config.postgres.baseline import load_into_empty
from config.postgres.migrations import LOCK_SECONDS, limited_locks
from conversations.runtime import clock
from conversations.runtime.db import connect

MIGRATING = 0x6F70656E
"""PostgreSQL's advisory locks are known by number; this one spells "open"."""
LOOK_SECONDS = 0.2
PAUSE_SECONDS = 1.0
"""Between two attempts to lock a table, for those who waited behind the first one."""
ATTEMPTS = 60
PARTIAL = ("app_label", "from_the_first", "plan", "check_unapplied", "fake", "fake_initial", "prune")
"""What says that something else is wanted than a database that is up to date."""


class Command(PrintableCommand, migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--from-the-first",
            action="store_true",
            help="Apply each migration, from the first on, to an empty database as well; it takes half a minute longer.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        is_whole = options["database"] == DEFAULT_DB_ALIAS and not any(options.get(name) for name in PARTIAL)
        with one_at_a_time(), limited_locks(options["database"]):
            if is_whole and load_into_empty(clock.now()) and options["verbosity"]:
                self.stdout.write("The tables were made in an empty database.")
            for left in reversed(range(ATTEMPTS)):
                try:
                    if is_whole and not options["verbosity"] and is_up_to_date():
                        emit_post_migrate_signal(0, False, DEFAULT_DB_ALIAS)
                    else:
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


def is_up_to_date() -> bool:
    """Then nothing is left but what follows each migration: Django would make all models of the past first."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


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
