"""A consistent copy of an installation: all tables in one snapshot of PostgreSQL, then the files that it names.

Read by COPY over an ordinary connection, so that no programs of PostgreSQL are needed, through poolers, too, and from a
replica where there is one. Nothing is held in memory but pieces. The folder has its name only once all is in it.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import psycopg
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django_tasks_db.models import DBTaskResult
from psycopg import sql

from config.backups import manifest, streams
from config.backups.manifest import FILES, BackupError, Manifest, StoredPartition, StoredSequence, StoredTable
from conversations.errors import FileNotFound
from conversations.files import storage
from conversations.models import ContentAccess, File, HeldRow, MaintenanceRun, Thread
from conversations.runtime.sql_files import read_statements
from conversations.upkeep import partitions

SQL = read_statements(__file__)
LEFT_OUT = [
    # Nobody is signed in by a copy, what workers have to do they find by the rows, and what ran here did not run there.
    *(model._meta.db_table for model in (Session, UserSession, DBTaskResult, MaintenanceRun)),
    MigrationRecorder.Migration._meta.db_table,  # in the manifest
]
TEMPORARY: LiteralString = "SELECT id FROM conversations_thread WHERE temporary"
OF_TEMPORARY: dict[str, LiteralString] = {
    "thread_id": f" WHERE thread_id IS NULL OR thread_id NOT IN ({TEMPORARY})",
    "reply_id": f" WHERE reply_id NOT IN (SELECT id FROM conversations_reply WHERE thread_id IN ({TEMPORARY}))",  # noqa: S608
    "file_id": f" WHERE file_id NOT IN (SELECT id FROM conversations_file WHERE thread_id IN ({TEMPORARY}))",  # noqa: S608
}
OUTLIVING = {ContentAccess._meta.db_table, HeldRow._meta.db_table}
"""Of staff's looks at content, and of legal holds: they outlive the temporary chat that they name."""
OF_HOLDS: LiteralString = " UNION SELECT place FROM conversations_heldrow WHERE place <> ''"
"""Each once: a held row may name the bytes of a file that is still there."""
PLACES, LOCK = "places", "lock"


class SourceTable(NamedTuple):
    """What is read of a table; ``but`` leaves rows out."""

    name: str
    columns: Sequence[str]
    but: LiteralString


type Progress = Callable[[str, int], None]
"""Is told what is done just now, and the bytes of it."""


def back_up(folder: Path, *, key: str, bytes_a_second: float, replica: bool, progress: Progress) -> Manifest:
    """Write a backup into a folder that is new or empty. Raises ``BackupError``, and leaves nothing then."""
    with _partial(folder) as partial:
        try:
            pace = streams.Pace(bytes_a_second)
            with _reading(replica=replica) as reader:
                parts = _read_tables(reader, partial, key, pace, progress)
            listed = _copy_files(partial, key, pace, progress)
            made = Manifest(**parts, **listed, encrypted=bool(key), openbook=openbook_version())
            manifest.write(made, partial, key)
        except OSError as error:
            raise BackupError(f"{folder} can't be written: {error.strerror}. Nothing was kept.") from error
        except psycopg.Error as error:
            hint = " With --primary it is read from the primary." if replica else ""
            raise BackupError(f"PostgreSQL broke off: {str(error).strip()}{hint} Nothing was kept.") from error
    return made


def openbook_version() -> str:
    try:
        return version("openbook")
    except PackageNotFoundError:  # it is run from its folder
        return ""


@contextmanager
def _partial(folder: Path) -> Iterator[Path]:
    """Beside the folder, which it becomes at the end of the block. What a backup that was killed left there goes."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is not empty: name a folder that is new.")
    partial = folder.with_name(f"{folder.name}.partial")
    try:
        partial.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(partial.iterdir()) and not (partial / LOCK).exists():
            raise BackupError(f"{partial} holds something else: remove it, or name another folder.")
        lock = (partial / LOCK).open("w")
    except OSError as error:
        raise BackupError(f"{partial} can't be written: {error.strerror}.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"Another backup is written to {folder} just now.") from None
        try:
            for left in partial.iterdir():
                if left.name != LOCK:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
            yield partial
            (partial / LOCK).unlink()
            _sync(partial)
            partial.rename(folder)
            _sync(folder.parent)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _reading(*, replica: bool) -> Iterator[psycopg.Connection]:
    """One transaction in one snapshot."""
    url, database = settings.DATABASE_URL, connection.settings_dict["NAME"]
    if replica:
        url, database = settings.OPENBOOK_REPLICA_URL, settings.DATABASES["replica"]["NAME"]
    with psycopg.connect(
        url, dbname=database, application_name="openbook backup", connect_timeout=5, prepare_threshold=None
    ) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.read_only = True
        reader.execute(
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; "
            "SET LOCAL datestyle = ISO; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1"
        )
        yield reader


def _read_tables(
    reader: psycopg.Connection, partial: Path, key: str, pace: streams.Pace, progress: Progress
) -> dict[str, Any]:
    [(postgresql, snapshot_at)] = reader.execute(SQL["snapshot"])
    migrations = reader.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
    names = reader.execute(SQL["tables"], {"but": LEFT_OUT}).fetchall()
    sources = _sources(dict(names))
    tables = [_read_table(reader, partial, key, pace, progress, source) for source in sources.values()]
    places = sql.SQL(SQL["places"]).format(
        but=sql.SQL(sources[File._meta.db_table].but),
        held=sql.SQL(OF_HOLDS if HeldRow._meta.db_table in sources else ""),
    )
    with (partial / PLACES).open("w") as file, reader.cursor(name="places") as cursor:
        cursor.itersize = 10_000
        file.writelines(f"{place}\n" for (place,) in cursor.execute(places))
    return {
        "postgresql": postgresql,
        "snapshot_at": snapshot_at.astimezone(UTC),
        "migrations": tuple(migrations),
        "tables": tuple(tables),
        # Their numbers are of now, whatever the snapshot: not less than any in it.
        "sequences": tuple(_sequences(reader)),
        "partitions": tuple(
            StoredPartition(
                table=table.name,
                name=each.name,
                since=each.since.isoformat() if each.since else None,
                until=each.until.isoformat(),
            )
            for table in partitions.TABLES
            for each in partitions.partitions(table)
        ),
    }


def _read_table(
    reader: psycopg.Connection,
    partial: Path,
    key: str,
    pace: streams.Pace,
    progress: Progress,
    source: SourceTable,
) -> StoredTable:
    name, columns = source.name, source.columns
    statement = sql.SQL("COPY (SELECT {} FROM {}{}) TO STDOUT").format(
        sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(name), sql.SQL(source.but)
    )
    rows, waiting = 0, bytearray()
    with (
        streams.target(partial, f"tables/{name}.copy.gz", key, compressed=True) as target,
        reader.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        for row in copy:
            rows += 1  # PostgreSQL sends each in a message of its own
            waiting += row
            if len(waiting) >= streams.PIECE:
                target.write(bytes(waiting))
                pace.add(len(waiting))
                progress(name, len(waiting))
                waiting.clear()
        target.write(bytes(waiting))
        pace.add(len(waiting))
        progress(name, len(waiting))
        stored = target.finish()
    return StoredTable(name=name, columns=tuple(columns), rows=rows, file=stored)


def _sources(tables: Mapping[str, Sequence[str]]) -> dict[str, SourceTable]:
    """By name. A database of an earlier release, which is backed up before its upgrade, has no temporary chats."""
    has_temporary = "temporary" in tables[Thread._meta.db_table]
    return {
        name: SourceTable(name, columns, _but_temporary(name, columns) if has_temporary else "")
        for name, columns in tables.items()
    }


def _but_temporary(name: str, columns: Collection[str]) -> LiteralString:
    """What leaves the rows of temporary chats out, by the first column that leads to a thread."""
    if name == Thread._meta.db_table:
        return " WHERE NOT temporary"
    if name not in OUTLIVING:
        for column, statement in OF_TEMPORARY.items():
            if column in columns:
                return statement
    return ""


def _sequences(reader: psycopg.Connection) -> Iterator[StoredSequence]:
    for sequence, table, column in reader.execute(SQL["sequences"], {"but": LEFT_OUT}).fetchall():
        [(last_value, is_called)] = reader.execute(f"SELECT last_value, is_called FROM {sequence}")  # noqa: S608
        yield StoredSequence(table=table, column=column, last_value=last_value, is_called=is_called)


def _copy_files(partial: Path, key: str, pace: streams.Pace, progress: Progress) -> dict[str, Any]:
    """Those that the snapshot names. What was deleted meanwhile is missed, as it is to be."""
    count = missing = taken = 0
    with (
        (partial / PLACES).open() as places,
        streams.target(partial, FILES, key, compressed=True) as listing,
    ):
        for place in map(str.strip, places):
            try:
                source = storage.open_bytes(place)
            except FileNotFound:
                missing += 1
                continue
            with source, streams.target(partial, f"files/{place}", key, compressed=False) as target:
                while piece := source.read(streams.PIECE):
                    target.write(piece)
                    pace.add(len(piece))
                    progress("files", len(piece))
                stored = target.finish()
            count, taken = count + 1, taken + stored.bytes
            line = {"place": place, "path": stored.path, "bytes": stored.bytes, "sha256": stored.sha256}
            listing.write(json.dumps(line).encode() + b"\n")
        listed = listing.finish()
    (partial / PLACES).unlink()
    return {"files": listed, "files_count": count, "files_bytes": taken, "files_missing": missing}
