"""Rows of an import on their way into the database, as many at once as may be in memory, and what there is by then."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model

from conversations.files import storage
from conversations.import_export.records import LeftOut, ThreadRecord
from conversations.import_export.rows import TURN_COLUMNS, row_of, turn_file_rows
from conversations.import_export.turn_tree import PlacedTurn, placed_turns
from conversations.models import Assistant, File, Message, TurnFile
from conversations.runtime import long_work

BATCH = 1_000


class LongerThread(NamedTuple):
    """One that was here and has more turns now; ``message_count`` is how many it has."""

    id: uuid.UUID
    message_count: int
    added: int


@dataclass(kw_only=True)
class ImportCounts:
    """What an import has stored: each new thread's id and how many turns it has, and how many there are of the rest; and
    what was here already."""

    threads: list[tuple[uuid.UUID, int]] = field(default_factory=list)
    longer: list[LongerThread] = field(default_factory=list)
    known: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    branches: int = 0
    """New ends beside the active paths."""
    memories: int = 0
    topics: int = 0
    files: int = 0
    days: set[date] = field(default_factory=set)
    assistants: dict[str | None, Assistant] = field(default_factory=dict)


def insert[M: Model](model: type[M], rows: Iterable[M], *, weight: Callable[[M], int] = lambda row: 1) -> None:
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


def copy_turns(rows: Iterable[tuple[Any, ...]]) -> None:
    # Threads may be long: through the ORM it takes three times as long.
    command = f"COPY {Message._meta.db_table} ({', '.join(TURN_COLUMNS)}) FROM STDIN"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(command) as copy:
        for row in rows:
            long_work.check()
            copy.write_row(row)


def keep_files(rows: Iterable[File], stored: ImportCounts, read_later: Callable[[File], object]) -> None:
    for files in weighed(rows, lambda row: 1):
        File.objects.bulk_create(files)
        storage.claim([file.place for file in files])
        for file in files:
            long_work.check()
            read_later(file)
        stored.files += len(files)


def insert_files(
    user: User,
    thread: ThreadRecord,
    turns: Iterable[PlacedTurn],
    stored: ImportCounts,
    read_later: Callable[[File], object],
) -> None:
    """Those of the thread that are not here yet, and what of files stands in these turns of it."""
    if not (thread.files or thread.project_id):
        return
    here = set(File.objects.filter(user=user, thread=thread.id).values_list("id", flat=True)) if thread.known else set()
    new = (row_of(File, file, user=user, thread_id=thread.id) for file in thread.files if file.id not in here)
    keep_files(new, stored, read_later)
    insert(TurnFile, turn_file_rows(turns, thread.id, user_id=user.pk))


def placed(thread: ThreadRecord) -> Iterator[PlacedTurn]:
    return placed_turns(thread.turns, thread.branches)
