"""`manage.py migrate`: Django's own, one at a time on all machines, and without keeping people waiting for a lock. An empty
database begins with the schema as it was one day (``config/postgres/baseline.py``), not with the first migration."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
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
    """Then nothing is left but what follows each migration. The names of the files say so: to load all migrations takes
    longer, and to make all models of the past, as Django does, far longer."""
    return all_migrations() <= MigrationRecorder(connection).applied_migrations().keys()


def all_migrations() -> set[tuple[str, str]]:
    """Label of the application and name of each migration that is there, none of them loaded."""
    return {
        (app.label, module.name)
        for app in apps.get_app_configs()
        if (package := MigrationLoader.migrations_module(app.label)[0]) and (spec := find_spec(package))
        for module in iter_modules(spec.submodule_search_locations or [])
        if not module.ispkg and module.name[0] not in "_~"
    }


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
