"""The database step of an import: all of it, or nothing."""

import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import groupby
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Model
from psycopg.errors import UniqueViolation

from artifacts.models import Artifact, ArtifactVersion
from conversations import audit, threads
from conversations.errors import AlreadyExists, InvalidMessage
from conversations.files.uploads import refuse_what_is_stored_unless_room
from conversations.import_export.blocks import size_of
from conversations.import_export.disk_lists import Spool
from conversations.import_export.insertion import (
    BATCH,
    ImportCounts,
    copy_turns,
    insert,
    insert_files,
    keep_files,
    placed,
    weighed,
)
from conversations.import_export.records import (
    ArtifactRecord,
    InstructionsRecord,
    MemoryRecord,
    PreferencesRecord,
    ProjectRecord,
    PromptRecord,
    Record,
    ScheduleRecord,
    Successor,
    ThreadRecord,
    TopicRecord,
)
from conversations.import_export.rows import (
    artifact_row,
    row_of,
    said_turns,
    thread_row,
    turn_rows,
    version_rows,
)
from conversations.import_export.thread_extension import extend_thread
from conversations.import_export.turn_feedback import feedback_rows
from conversations.import_export.turn_tree import branch_count
from conversations.import_export.values import refuse
from conversations.models import (
    Assistant,
    Feedback,
    File,
    Instructions,
    Message,
    Project,
    Prompt,
    Schedule,
    Thread,
)
from conversations.runtime import clock, long_work
from conversations.runtime.wording import worded
from conversations.schedules import schedules
from conversations.threads import prompts
from memory.consolidation import consolidation_state, fact_rows
from memory.consolidation.store import remake_days
from memory.index import word_index
from memory.index.index_turns import catch_up
from memory.models import Memory, Preferences, ThreadSummary, Topic
from memory.services import preferences_of, zone_of

log = logging.getLogger("openbook.exchange")

CHARS_OF_TURN = 4_000
NEAR = [timedelta(days=days) for days in (-1, 0, 1)]
MANY = 1_000
"""Turns from which the planner is told."""

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def store(
    *,
    user: User,
    records: Iterable[Record],
    read_later: Callable[[File], object],
    report: Callable[[ImportCounts], None] = lambda stored: None,
    assistants: Mapping[str | None, Assistant] | None = None,
) -> ImportCounts:
    """Store records as they are read, all of them or none. Raises ``InvalidImport``, ``AlreadyExists`` and, where other files
    have come meanwhile, ``FilesFull``.

    ``read_later`` sees to it that a file is read, in the same transaction. ``report`` is called after each batch with what
    there is by then; what it raises ends the import, and nothing is stored. ``assistants`` may be named though they are
    offered no longer.
    """
    stored = ImportCounts(assistants={**(assistants or {})})
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
    turns = sum(count for _, count in stored.threads) + sum(thread.added for thread in stored.longer)
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
            if any(isinstance(some, Spool) for some in (record.turns, record.branches, record.artifacts)):
                return BATCH
            turns = [*record.turns, *(branch.turn for branch in record.branches)]
            chars = sum(size_of(turn.content) for turn in turns) + sum(map(_chars, record.artifacts))
            return 1 + len(turns) + chars // CHARS_OF_TURN
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
            _insert_or_extend(user, batch, stored, read_later)
        case MemoryRecord() | Successor() | TopicRecord():
            _insert_remembered(user, batch, stored)
        case PromptRecord():
            _insert_new(Prompt, user, batch, stored)
            prompts.refuse_too_many(user)
        case ScheduleRecord():
            _insert_new(Schedule, user, batch, stored)
            schedules.refuse_too_many(user)
        case PreferencesRecord() as preferences:  # what a person has decided here stands
            Preferences.objects.bulk_create([row_of(Preferences, preferences, user=user)], ignore_conflicts=True)
        case InstructionsRecord() as instructions:
            own = row_of(Instructions, instructions, user=user, updated_at=clock.now())
            Instructions.objects.bulk_create([own], ignore_conflicts=True)
        case ProjectRecord():
            _insert_projects(user, [project for project in batch if not project.known], stored, read_later)


def _insert_remembered(user: User, batch: Sequence[Any], stored: ImportCounts) -> None:
    match batch[0]:
        case MemoryRecord():
            stored.memories += _insert_new(Memory, user, batch, stored)
            fact_rows.place(user.pk, [record.id for record in batch if not record.known])
        case Successor():
            for successor in batch:
                ended = Memory.objects.filter(user=user, id=successor.memory_id, ended_at__isnull=False)
                ended.update(superseded_by_id=successor.superseded_by_id)
        case TopicRecord():
            stored.topics += _insert_new(Topic, user, batch, stored)


def _insert_or_extend(
    user: User, batch: Sequence[ThreadRecord], stored: ImportCounts, read_later: Callable[[File], object]
) -> None:
    new = [thread for thread in batch if not thread.known]
    _insert_threads(user, new, stored)
    for thread in new:
        insert_files(user, thread, placed(thread), stored, read_later)
    for thread in batch:
        if thread.known:
            extend_thread(user, thread, stored, read_later)


def _insert_new(model: type[Model], user: User, batch: Sequence[Any], stored: ImportCounts) -> int:
    """Returns how many."""
    new = [record for record in batch if not record.known]
    insert(model, (row_of(model, record, user_id=user.pk) for record in new))
    stored.known[str(model._meta.verbose_name_plural)] += len(batch) - len(new)
    return len(new)


def _insert_threads(user: User, batch: Sequence[ThreadRecord], stored: ImportCounts) -> None:
    for thread in batch:
        if thread.assistant not in stored.assistants:
            stored.assistants[thread.assistant] = _assistant(thread.assistant, thread.place)
    now = clock.now()
    rows = [
        thread_row(thread, user_id=user.pk, assistant=stored.assistants[thread.assistant], now=now) for thread in batch
    ]

    def artifacts() -> Iterator[tuple[ArtifactRecord, uuid.UUID]]:
        return ((artifact, thread.id) for thread in batch for artifact in thread.artifacts)

    # PostgreSQL checks foreign keys at the end of the transaction.
    insert(Thread, rows)
    copy_turns(row for thread in batch for row in turn_rows(placed(thread), thread.id, user_id=user.pk))
    for thread, row in zip(batch, rows, strict=True):
        insert(Feedback, feedback_rows(placed(thread), thread.id, user_id=user.pk, assistant_id=row.assistant_id))
        stored.branches += branch_count(placed(thread)) if thread.branches else 0
    insert(Artifact, (artifact_row(artifact, thread_id, user_id=user.pk) for artifact, thread_id in artifacts()))
    insert(
        ArtifactVersion,
        (row for artifact, thread_id in artifacts() for row in version_rows(artifact, thread_id, user_id=user.pk)),
        weight=lambda row: 1 + len(row.content) // CHARS_OF_TURN,
    )
    summaries = ((summary, thread.id) for thread in batch for summary in thread.summaries)
    insert(ThreadSummary, (row_of(ThreadSummary, each, thread_id=id, user_id=user.pk) for each, id in summaries))
    word_index.store(user.pk, (turn for thread in batch for turn in said_turns(placed(thread), thread.id)))
    stored.threads += [(row.id, row.message_count) for row in rows]
    stored.days |= {summary.started_at.date() + day for thread in batch for summary in thread.summaries for day in NEAR}


def _insert_projects(
    user: User, batch: Sequence[ProjectRecord], stored: ImportCounts, read_later: Callable[[File], object]
) -> None:
    """An assistant that is not here is left out; so is a preset that nobody has."""
    assistants = {each.slug: each for each in Assistant.objects.filter(slug__in={each.assistant for each in batch})}
    for project in batch:
        assistant, now = assistants.get(project.assistant), clock.now()
        row_of(Project, project, user=user, assistant=assistant, updated_at=now).save(force_insert=True)
        keep_files((row_of(File, file, user=user, project_id=project.id) for file in project.files), stored, read_later)


def _complete(user: User, stored: ImportCounts) -> None:
    """What rests on all of it. A day of any time zone may be the one before or after that of UTC."""
    if stored.files:
        refuse_what_is_stored_unless_room(user)
    if stored.days:
        remake_days(user.pk, stored.days, zone_of(preferences_of(user)), clock.now())
    catch_up(user.pk, recount=bool(stored.threads or stored.longer))
    consolidation_state.request(user.pk)
    counts = {"threads": len(stored.threads), "memories": stored.memories, "files": stored.files}
    audit.record(audit.AuditKind.IMPORTED, target=user, details=counts)


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
        worded(
            "Nothing was imported: the {kind} {id} came here in this moment. Send the import again.", kind=kind, id=id
        ),
        kind=kind,
        id=id,
    )
