"""A backup, put into an empty installation: its tables at the migrations that it was made at, then brought up to date.

All of it is checked before anything is written. Until the end nothing is served: see ``runs.is_being_restored``.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files import File as DjangoFile
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from psycopg import sql

from config.backups import backup, erasure, runs, streams
from config.backups.backup import Progress
from config.backups.manifest import BackupError, Manifest, StoredFile, StoredTable, listed_file
from conversations.files import storage
from conversations.models import MaintenanceRun, Thread
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.upkeep import partitions

SQL = read_statements(__file__)
LONGEST_LINE = 2**16


def restore(folder: Path, made: Manifest, *, key: str, progress: Progress) -> Counter[str]:
    """Returns what was forgotten again, by kind. Raises ``BackupError``; then nothing is served from here until a restore
    has succeeded, if anything was written."""
    targets = _targets(made)
    check_empty()
    check(folder, made, key=key, progress=progress)
    if set(MigrationRecorder(connection).applied_migrations()) != set(made.migrations):
        _empty_schema()
        MigrationExecutor(connection).migrate(targets)
    with runs.recorded(runs.KIND.RESTORE) as details:
        try:
            with transaction.atomic():
                _load(folder, made, key, progress)
        except DatabaseError as error:
            raise BackupError(f"PostgreSQL refused the backup: {str(error).strip()}") from error
        for place, stored in files_of(folder, made, key):
            _put_file(folder, place, stored, key)
            progress("files", stored.bytes)
        call_command("migrate", interactive=False, verbosity=0)
        forgotten = _forget_again(made.snapshot_at)
        details.update(rows=made.rows, bytes=made.bytes, files=made.files_count, forgotten=sum(forgotten.values()))
    MaintenanceRun.objects.filter(kind=runs.KIND.RESTORE).exclude(succeeded=True).delete()
    return forgotten


def check_empty() -> None:
    """Raises ``BackupError`` unless nobody has anything here, or a restore broke off here."""
    if runs.is_being_restored():
        return
    existing = set(connection.introspection.table_names())
    for model, noun in ((User, "accounts"), (Thread, "conversations")):
        if model._meta.db_table in existing and run(f"SELECT 1 FROM {model._meta.db_table} LIMIT 1"):  # noqa: S608
            raise BackupError(f"The database of DATABASE_URL holds {noun}: name one that is empty.")
    if existing and MigrationRecorder.Migration._meta.db_table not in existing:
        raise BackupError("The database of DATABASE_URL holds tables of something else: name one that is empty.")
    try:
        folders, files = storage.storage().listdir("")
    except FileNotFoundError:
        return
    if folders or files:
        raise BackupError(
            "The storage of files holds some: name an empty folder in OPENBOOK_FILES_DIR, or an empty bucket."
        )


def check(folder: Path, made: Manifest, *, key: str, progress: Progress) -> None:
    """Each file against its digest. Raises ``BackupError``."""
    for stored in (*(table.file for table in made.tables), made.files):
        streams.check(folder, stored, lambda count: progress("check", count))
    count = 0
    for _, stored in files_of(folder, made, key):
        streams.check(folder, stored, lambda count: progress("check", count))
        count += 1
    if count != made.files_count:
        raise BackupError(
            f"{folder} lists {count} files, where there were {made.files_count}: take another copy of it."
        )


def files_of(folder: Path, made: Manifest, key: str) -> Iterator[tuple[str, StoredFile]]:
    """Where in the storage each file that people gave belongs, and where it lies in the backup. Raises ``BackupError``."""
    rest = b""
    for piece in streams.content_of(folder, made.files, key, compressed=True):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield listed_file(line, made)
        if len(rest) > LONGEST_LINE:
            raise BackupError("The backup's list of files is damaged: take another copy of it.")


def _forget_again(since: datetime) -> Counter[str]:
    try:
        return erasure.apply(since=since)
    except OSError as error:
        raise BackupError(
            f"The erasure ledger can't be read: {error.filename}: {error.strerror}. Nothing is served from here until a "
            "restore has succeeded: correct OPENBOOK_ERASURE_LEDGER and run it once more."
        ) from error


def _targets(made: Manifest) -> list[tuple[str, str]]:
    """The last migrations of the backup. Raises ``BackupError`` where this Openbook doesn't know one."""
    graph = MigrationExecutor(connection).loader.graph
    applied = set(made.migrations)
    if unknown := sorted(applied - graph.nodes.keys()):
        raise BackupError(
            f"The backup was made by a newer Openbook{f' ({made.openbook})' if made.openbook else ''}: "
            f"it has the migration {'.'.join(unknown[0])}, which this one doesn't know. Restore it with that version."
        )
    return sorted(node for node in applied if not any(child.key in applied for child in graph.node_map[node].children))


def _empty_schema() -> None:
    with transaction.atomic():
        for (what,) in run(SQL["emptied"]):
            run(f"DROP {what} CASCADE")


def _load(folder: Path, made: Manifest, key: str, progress: Progress) -> None:
    """All rows, without the triggers that watch people's changes, and foreign keys checked at once at the end."""
    _check_names(made)
    _make_partitions(made)
    run("SET LOCAL lock_timeout = 0")
    tables = [name for (name,) in run(SQL["all_tables"])]
    foreign_keys = run(SQL["foreign_keys"])
    for table in tables:
        run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    for table, name, _ in foreign_keys:
        run(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    with connection.connection.cursor() as cursor:
        cursor.execute(
            sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(sql.Identifier(table.name) for table in made.tables))
        )
    for stored in made.tables:
        _load_table(folder, stored, key, progress)
    for table, name, definition in foreign_keys:
        run(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
    for each in made.sequences:
        run(
            "SELECT setval(pg_get_serial_sequence(%(table)s, %(column)s), %(value)s, %(called)s)",
            table=each.table,
            column=each.column,
            value=each.last_value,
            called=each.is_called,
        )
    for table in tables:
        run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    run("ANALYZE")


def _check_names(made: Manifest) -> None:
    """Raises ``BackupError`` where the backup names a table or column that the schema, or what a backup holds of it, lacks."""
    known = {name: set(columns) for name, columns in run(backup.SQL["tables"], but=backup.LEFT_OUT)}
    named = [(table.name, column) for table in made.tables for column in table.columns]
    named += [(each.table, each.column) for each in made.sequences]
    if unknown := [f"{table}.{column}" for table, column in named if column not in known.get(table, ())]:
        raise BackupError(f"The backup names {unknown[0]}, which its schema doesn't have: take another copy of it.")
    for each in made.partitions:
        if not any(partitions.is_name_of(each.name, table) for table in partitions.TABLES if table.name == each.table):
            raise BackupError(f"The backup names a partition {each.name} of {each.table}: take another copy of it.")


def _load_table(folder: Path, stored: StoredTable, key: str, progress: Progress) -> None:
    columns = sql.SQL(", ").join(map(sql.Identifier, stored.columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(stored.name), columns)
    with connection.connection.cursor() as cursor:
        with cursor.copy(statement) as copy:
            for piece in streams.content_of(folder, stored.file, key, compressed=True):
                copy.write(piece)
                progress(stored.name, len(piece))
        if cursor.rowcount != stored.rows:
            raise BackupError(f"{stored.name} has {cursor.rowcount} rows, where the manifest says {stored.rows}.")


def _make_partitions(made: Manifest) -> None:
    for table in partitions.TABLES:
        recorded = [
            partitions.Partition(
                name=each.name,
                since=datetime.fromisoformat(each.since) if each.since else None,
                until=datetime.fromisoformat(each.until),
            )
            for each in made.partitions
            if each.table == table.name
        ]
        partitions.make_as_recorded(table, recorded)


def _put_file(folder: Path, place: str, stored: StoredFile, key: str) -> None:
    kept = storage.storage()
    if kept.exists(place):
        kept.delete(place)  # of a restore that broke off
    with storage.scratch("restore") as scratch:
        path = scratch / "file"
        with path.open("wb") as file:
            for piece in streams.content_of(folder, stored, key, compressed=False):
                file.write(piece)
        with path.open("rb") as file, storage.reaching():
            kept.save(place, DjangoFile(file))
