"""The database step of an import: all of it, or nothing."""

import logging
import re
from collections.abc import Iterable
from itertools import batched
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from psycopg.errors import UniqueViolation

from artifacts.models import Artifact, ArtifactVersion
from conversations import attempts, embedding, threads
from conversations.errors import AlreadyExists, InvalidMessage
from conversations.exchange.records import Book
from conversations.exchange.rows import (
    TURN_COLUMNS,
    artifact_row,
    memory_row,
    said_turns,
    thread_row,
    turn_rows,
    version_rows,
)
from conversations.exchange.values import refuse
from conversations.indexing import catch_up
from conversations.models import Assistant, Message, Thread
from memory import indexing
from memory.models import Memory

log = logging.getLogger("openbook.exchange")

BATCH = 1_000
MANY = 1_000
"""Turns from which the planner is told."""

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def store(*, user: User, book: Book) -> list[Thread]:
    """The threads of a book, stored with all that it holds. Raises ``InvalidImport`` and ``AlreadyExists``."""
    try:
        with transaction.atomic():
            stored = _insert_all(user, book)
    except IntegrityError as error:
        if taken := _taken(error):
            raise taken from None
        raise
    embedding.catch_up_if_possible(user.pk)
    turns = sum(thread.message_count for thread in stored)
    if turns >= MANY:
        _tell_planner()
    log.info("imported", extra={"threads": len(stored), "turns": turns, "memories": len(book.memories)})
    return stored


def _insert_all(user: User, book: Book) -> list[Thread]:
    offered: dict[str | None, Assistant] = {}
    for thread in book.threads:
        if thread.assistant not in offered:
            offered[thread.assistant] = _assistant(thread.assistant, thread.place)
    stored = [thread_row(thread, user_id=user.id, assistant=offered[thread.assistant]) for thread in book.threads]
    artifacts = [(artifact, thread.id) for thread in book.threads for artifact in thread.artifacts]
    # PostgreSQL checks foreign keys at the end of the transaction.
    _insert(Thread, stored)
    _copy_turns(row for thread in book.threads for row in turn_rows(thread))
    _insert(Artifact, (artifact_row(artifact, thread_id) for artifact, thread_id in artifacts))
    _insert(ArtifactVersion, (row for artifact, thread_id in artifacts for row in version_rows(artifact, thread_id)))
    _insert(Memory, (memory_row(memory, user.id) for memory in book.memories))
    indexing.store(user.pk, (turn for thread in book.threads for turn in said_turns(thread)))
    catch_up(user.pk)
    attempts.wanted(user.pk)
    return stored


def _insert[M: Model](model: type[M], rows: Iterable[M]) -> None:
    for batch in batched(rows, BATCH):
        model._default_manager.bulk_create(batch)


def _copy_turns(rows: Iterable[tuple[Any, ...]]) -> None:
    # Threads may be long: through the ORM it takes three times as long.
    command = f"COPY {Message._meta.db_table} ({', '.join(TURN_COLUMNS)}) FROM STDIN"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(command) as copy:
        for row in rows:
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


def _taken(error: IntegrityError) -> AlreadyExists | None:
    """Which id was there before. Asking first would not be enough: two imports may come at once."""
    cause = error.__cause__
    if not isinstance(cause, UniqueViolation) or not (cause.diag.constraint_name or "").endswith("_pkey"):
        return None
    kind = (cause.diag.table_name or "").rpartition("_")[2]
    found = UUID.search(cause.diag.message_detail or "")
    id = found.group() if found else ""
    return AlreadyExists(
        f"Nothing was imported: the {kind} {id} exists here already. To import copies with new ids, add `?ids=new`.",
        kind=kind,
        id=id,
    )
