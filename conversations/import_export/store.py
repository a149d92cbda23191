"""The database step of an import: all of it, or nothing."""

import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Model
from psycopg.errors import UniqueViolation

from artifacts.models import Artifact, ArtifactVersion
from conversations import threads
from conversations.errors import AlreadyExists, InvalidMessage
from conversations.files import storage
from conversations.files.uploads import refuse_what_is_stored_unless_room
from conversations.import_export.blocks import size_of
from conversations.import_export.disk_lists import Spool
from conversations.import_export.records import (
    ArtifactRecord,
    MemoryRecord,
    PreferencesRecord,
    Record,
    ThreadRecord,
    TopicRecord,
)
from conversations.import_export.rows import (
    TURN_COLUMNS,
    artifact_row,
    row_of,
    said_turns,
    thread_row,
    turn_file_rows,
    turn_rows,
    version_rows,
)
from conversations.import_export.values import refuse
from conversations.models import Assistant, File, Message, Thread, TurnFile
from conversations.runtime import clock, long_work
from memory.consolidation import consolidation_state
from memory.consolidation.store import remake_days
from memory.index import word_index
from memory.index.index_turns import catch_up
from memory.models import Memory, Preferences, ThreadSummary, Topic
from memory.services import preferences_of, zone_of

log = logging.getLogger("openbook.exchange")

BATCH = 1_000
CHARS_OF_TURN = 4_000
NEAR = [timedelta(days=days) for days in (-1, 0, 1)]
MANY = 1_000
"""Turns from which the planner is told."""

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(kw_only=True)
class ImportCounts:
    """What an import has stored: each thread's id and how many turns it has, and how many there are of the rest."""

    threads: list[tuple[uuid.UUID, int]] = field(default_factory=list)
    memories: int = 0
    topics: int = 0
    files: int = 0
    days: set[date] = field(default_factory=set)
    assistants: dict[str | None, Assistant] = field(default_factory=dict)


def store(
    *,
    user: User,
    records: Iterable[Record],
    read_later: Callable[[File], object],
    report: Callable[[ImportCounts], None] = lambda stored: None,
) -> ImportCounts:
    """Store records as they are read, all of them or none. Raises ``InvalidImport``, ``AlreadyExists`` and, where other files
    have come meanwhile, ``FilesFull``.

    ``read_later`` sees to it that a file is read, in the same transaction. ``report`` is called after each batch with what
    there is by then; what it raises ends the import, and nothing is stored.
    """
    stored = ImportCounts()
    try:
        with transaction.atomic():
            for batch in batches(records):
                _insert_batch(user, batch, stored, read_later)
                report(stored)
            _complete(user, stored)
    except IntegrityError as error:
        if taken := _existing_id(error):
            raise taken from None
        raise
    turns = sum(count for _, count in stored.threads)
    if turns >= MANY:
        with suppress(long_work.Cancelled, DatabaseError):  # it is stored, whatever becomes of this
            _tell_planner()
    log.info("imported", extra={"threads": len(stored.threads), "turns": turns, "memories": stored.memories})
    return stored


def batches(records: Iterable[Record]) -> Iterator[list[Any]]:
    """Neighbours of one kind, as many as may be in memory at once."""
    for _, some in groupby(records, type):
        yield from weighed(some, _weight)


def _weight(record: Record) -> int:
    """In turns, of which a long one counts as several. What lies in a file is stored alone."""
    match record:
        case ThreadRecord():
            if isinstance(record.turns, Spool) or isinstance(record.artifacts, Spool):
                return BATCH
            chars = sum(size_of(turn.content) for turn in record.turns) + sum(map(_chars, record.artifacts))
            return 1 + len(record.turns) + chars // CHARS_OF_TURN
        case MemoryRecord():
            return 1 + (len(record.content) + sum(map(len, record.tags))) // CHARS_OF_TURN
    return 1


def _chars(artifact: ArtifactRecord) -> int:
    if isinstance(artifact.versions, Spool):
        return BATCH * CHARS_OF_TURN
    return sum(len(version.content) for version in artifact.versions)


def _insert_batch(user: User, batch: Sequence[Any], stored: ImportCounts, read_later: Callable[[File], object]) -> None:
    match batch[0]:
        case ThreadRecord():
            _insert_threads(user, batch, stored)
            _insert_files(user, batch, stored, read_later)
        case MemoryRecord():
            _insert(Memory, (row_of(Memory, memory, user_id=user.pk) for memory in batch))
            stored.memories += len(batch)
        case TopicRecord():
            _insert(Topic, (row_of(Topic, topic, user_id=user.pk) for topic in batch))
            stored.topics += len(batch)
        case PreferencesRecord() as preferences:  # what a person has decided here stands
            Preferences.objects.bulk_create([row_of(Preferences, preferences, user=user)], ignore_conflicts=True)


def _insert_threads(user: User, batch: Sequence[ThreadRecord], stored: ImportCounts) -> None:
    for thread in batch:
        if thread.assistant not in stored.assistants:
            stored.assistants[thread.assistant] = _assistant(thread.assistant, thread.place)
    rows = [thread_row(thread, user_id=user.pk, assistant=stored.assistants[thread.assistant]) for thread in batch]

    def artifacts() -> Iterator[tuple[ArtifactRecord, uuid.UUID]]:
        return ((artifact, thread.id) for thread in batch for artifact in thread.artifacts)

    # PostgreSQL checks foreign keys at the end of the transaction.
    _insert(Thread, rows)
    _copy_turns(row for thread in batch for row in turn_rows(thread, user_id=user.pk))
    _insert(Artifact, (artifact_row(artifact, thread_id, user_id=user.pk) for artifact, thread_id in artifacts()))
    _insert(
        ArtifactVersion,
        (row for artifact, thread_id in artifacts() for row in version_rows(artifact, thread_id, user_id=user.pk)),
        weight=lambda row: 1 + len(row.content) // CHARS_OF_TURN,
    )
    summaries = ((summary, thread.id) for thread in batch for summary in thread.summaries)
    _insert(ThreadSummary, (row_of(ThreadSummary, each, thread_id=id, user_id=user.pk) for each, id in summaries))
    word_index.store(user.pk, (turn for thread in batch for turn in said_turns(thread)))
    stored.threads += [(row.id, row.message_count) for row in rows]
    stored.days |= {summary.started_at.date() + day for thread in batch for summary in thread.summaries for day in NEAR}


def _insert_files(
    user: User, batch: Sequence[ThreadRecord], stored: ImportCounts, read_later: Callable[[File], object]
) -> None:
    for thread in batch:
        for files in weighed(
            (row_of(File, file, user=user, thread_id=thread.id) for file in thread.files), lambda row: 1
        ):
            File.objects.bulk_create(files)
            storage.claim([file.place for file in files])
            for file in files:
                long_work.check()
                read_later(file)
            stored.files += len(files)
    _insert(TurnFile, (row for thread in batch if thread.files for row in turn_file_rows(thread, user_id=user.pk)))


def _complete(user: User, stored: ImportCounts) -> None:
    """What rests on all of it. A day of any time zone may be the one before or after that of UTC."""
    if stored.files:
        refuse_what_is_stored_unless_room(user)
    if stored.days:
        remake_days(user.pk, stored.days, zone_of(preferences_of(user)), clock.now())
    catch_up(user.pk, recount=bool(stored.threads))
    consolidation_state.request(user.pk)


def _insert[M: Model](model: type[M], rows: Iterable[M], *, weight: Callable[[M], int] = lambda row: 1) -> None:
    for batch in weighed(rows, weight):
        model._default_manager.bulk_create(batch)


def weighed[T](values: Iterable[T], weight: Callable[[T], int]) -> Iterator[list[T]]:
    """Neighbours, as many as may be in memory at once."""
    batch: list[T] = []
    total = 0
    for value in values:
        long_work.check()
        batch.append(value)
        total += weight(value)
        if total >= BATCH:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _copy_turns(rows: Iterable[tuple[Any, ...]]) -> None:
    # Threads may be long: through the ORM it takes three times as long.
    command = f"COPY {Message._meta.db_table} ({', '.join(TURN_COLUMNS)}) FROM STDIN"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(command) as copy:
        for row in rows:
            long_work.check()
            copy.write_row(row)


def _tell_planner() -> None:
    # Until PostgreSQL does so itself, a minute later, it plans as for the small table that there was.
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {Message._meta.db_table}")


def _assistant(slug: str | None, place: str) -> Assistant:
    try:
        return threads.assistant_named(slug)
    except InvalidMessage as error:
        refuse(f"{place}.assistant", f"can't be kept. {error.message}")


def _existing_id(error: IntegrityError) -> AlreadyExists | None:
    """Which id was there before. Asking first would not be enough: two imports may come at once."""
    cause = error.__cause__
    if not isinstance(cause, UniqueViolation) or not (cause.diag.constraint_name or "").endswith("_pkey"):
        return None
    kind = (cause.diag.table_name or "").rpartition("_")[2]
    match = UUID.search(cause.diag.message_detail or "")
    id = match.group() if match else ""
    return AlreadyExists(
        f"Nothing was imported: the {kind} {id} exists here already. To import copies with new ids, add `?ids=new`.",
        kind=kind,
        id=id,
    )
