"""Bringing the schema up to date while others use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LOCK_SECONDS = 2
"""How long a migration waits for a table. Whoever comes after it to that table waits as long, people too."""


class LimitedSchemaEditor(DatabaseSchemaEditor):
    """Gives up a migration, undone, whose table stays locked by somebody else (``lock_timeout``)."""

    def __enter__(self) -> Self:
        super().__enter__()
        if self.atomic_migration:
            # For this transaction alone: a session may be another's next, behind a pooler.
            self.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
        return self


@contextmanager
def limited_locks(database: str = DEFAULT_DB_ALIAS) -> Iterator[None]:
    """Migrations of the block wait ``LOCK_SECONDS`` for a table, then raise ``OperationalError``. Those that are not atomic, as
    they build an index beside its users or set limits of their own, are left as they are."""
    connection: Any = connections[database]
    connection.SchemaEditorClass = LimitedSchemaEditor
    try:
        yield
    finally:
        del connection.SchemaEditorClass


def unapplied(database: str = DEFAULT_DB_ALIAS) -> list[str]:
    """The migrations of this code that the database lacks, as ``app.name``."""
    ours = MigrationLoader(None, ignore_no_migrations=True).disk_migrations or {}
    applied = MigrationRecorder(connections[database]).applied_migrations()
    return sorted(f"{app}.{name}" for app, name in ours.keys() - applied.keys())
