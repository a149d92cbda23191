"""The database step of an import: all of it, or nothing."""

import logging
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Model
from psycopg.errors import UniqueViolation

from artifacts.models import Artifact, ArtifactVersion
from conversations import threads
from conversations.context.tokens.estimate import text_of
from conversations.errors import AlreadyExists, InvalidMessage
from conversations.files import storage
from conversations.files.uploads import refuse_what_is_stored_unless_room
from conversations.import_export.blocks import size_of
from conversations.import_export.disk_lists import Spool
from conversations.import_export.records import (
    ArtifactRecord,
    InstructionsRecord,
    LeftOut,
    MemoryRecord,
    PreferencesRecord,
    ProjectRecord,
    PromptRecord,
    Record,
    ThreadRecord,
    TopicRecord,
    TurnRecord,
)
from conversations.import_export.rows import (
    BEGINNING,
    TURN_COLUMNS,
    Tail,
    artifact_row,
    last_session,
    row_of,
    said_turns,
    thread_row,
    turn_file_rows,
    turn_rows,
    version_rows,
)
from conversations.import_export.turn_feedback import feedback_rows
from conversations.import_export.values import refuse
from conversations.models import (
    Assistant,
    Feedback,
    File,
    Instructions,
    Message,
    Project,
    Prompt,
    Reply,
    Thread,
    TurnFile,
)
from conversations.runtime import clock, long_work
from conversations.threads import prompts
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
            _insert_or_extend(user, batch, stored, read_later)
        case MemoryRecord():
            stored.memories += _insert_new(Memory, user, batch, stored)
        case TopicRecord():
            stored.topics += _insert_new(Topic, user, batch, stored)
        case PromptRecord():
            _insert_new(Prompt, user, batch, stored)
            prompts.refuse_too_many(user)
        case PreferencesRecord() as preferences:  # what a person has decided here stands
            Preferences.objects.bulk_create([row_of(Preferences, preferences, user=user)], ignore_conflicts=True)
        case InstructionsRecord() as instructions:
            own = row_of(Instructions, instructions, user=user, updated_at=clock.now())
            Instructions.objects.bulk_create([own], ignore_conflicts=True)
        case ProjectRecord():
            _insert_projects(user, [project for project in batch if not project.known], stored, read_later)


def _insert_or_extend(
    user: User, batch: Sequence[ThreadRecord], stored: ImportCounts, read_later: Callable[[File], object]
) -> None:
    new = [thread for thread in batch if not thread.known]
    _insert_threads(user, new, stored)
    for thread in new:
        _insert_files(user, thread, thread.turns, stored, read_later)
    for thread in batch:
        if thread.known:
            _extend_thread(user, thread, stored, read_later)


def _insert_new(model: type[Model], user: User, batch: Sequence[Any], stored: ImportCounts) -> int:
    """Returns how many."""
    new = [record for record in batch if not record.known]
    _insert(model, (row_of(model, record, user_id=user.pk) for record in new))
    stored.known[str(model._meta.verbose_name_plural)] += len(batch) - len(new)
    return len(new)


def _extend_thread(
    user: User, record: ThreadRecord, stored: ImportCounts, read_later: Callable[[File], object]
) -> None:
    """Append the turns that are new, where the thread has not gone on here or taken another branch."""
    thread = Thread.objects.select_for_update().filter(id=record.id, user=user).first()
    here = Message.objects.filter(user=user, thread=record.id, is_active=True).order_by("position")
    new = new_turns(list(here.values_list("id", "role", "text")), record.turns)
    if thread is None or new is None or Reply.objects.filter(thread=record.id, status=Reply.Status.RUNNING).exists():
        words = "a conversation that has gone on here, or has taken another branch"
        stored.left_out.append(LeftOut(place=record.place, what=words))
        return
    if not new:
        stored.known["threads"] += 1
        return
    last = here.last()
    after = BEGINNING
    if last:
        after = Tail(id=last.id, position=thread.last_position, depth=last.depth, token_total=last.token_total)
    _copy_turns(turn_rows(new, thread.id, user_id=user.pk, after=after))
    _insert(Feedback, feedback_rows(new, thread.id, user_id=user.pk, assistant_id=thread.assistant_id))
    word_index.store(user.pk, said_turns(new, thread.id, after=after))
    _insert_files(user, record, new, stored, read_later, after=after)
    session = last_session(record.turns)
    thread.last_position += len(new)
    thread.message_count += len(new)
    thread.updated_at = max(thread.updated_at, min(new[-1].created_at, clock.now()))
    if session:
        thread.session_started_at, thread.away_since = session.started_at, session.away_since
    thread.save(update_fields=["last_position", "message_count", "updated_at", "session_started_at", "away_since"])
    stored.longer.append(LongerThread(thread.id, thread.message_count, len(new)))


def new_turns(here: Sequence[tuple[uuid.UUID, str, str]], turns: Sequence[TurnRecord]) -> Sequence[TurnRecord] | None:
    """What follows the turns that are here, each its id, role and text; ``None`` where it does not follow the last of them.
    Turns without ids of their own are known by what they say. Pure."""
    ids = {id for id, _, _ in here}
    count = sum(1 for _ in takewhile(lambda turn: turn.id in ids, turns))
    if not count and here:
        count = sum(1 for _ in takewhile(lambda pair: _says_the_same(*pair), zip(here, turns, strict=False)))
        last_matches = count == len(here)
    else:
        last_matches = not here or turns[count - 1].id == here[-1][0]
    rest = [turn for place, turn in enumerate(turns) if place >= count]
    if not rest:
        return []
    return rest if last_matches and not any(turn.id in ids for turn in rest) else None


def _says_the_same(here: tuple[uuid.UUID, str, str], turn: TurnRecord) -> bool:
    return here[1:] == (turn.role, text_of(turn.content))


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
    _insert(Thread, rows)
    _copy_turns(row for thread in batch for row in turn_rows(thread.turns, thread.id, user_id=user.pk))
    for thread, row in zip(batch, rows, strict=True):
        said = feedback_rows(thread.turns, thread.id, user_id=user.pk, assistant_id=row.assistant_id)
        _insert(Feedback, said)
    _insert(Artifact, (artifact_row(artifact, thread_id, user_id=user.pk) for artifact, thread_id in artifacts()))
    _insert(
        ArtifactVersion,
        (row for artifact, thread_id in artifacts() for row in version_rows(artifact, thread_id, user_id=user.pk)),
        weight=lambda row: 1 + len(row.content) // CHARS_OF_TURN,
    )
    summaries = ((summary, thread.id) for thread in batch for summary in thread.summaries)
    _insert(ThreadSummary, (row_of(ThreadSummary, each, thread_id=id, user_id=user.pk) for each, id in summaries))
    word_index.store(user.pk, (turn for thread in batch for turn in said_turns(thread.turns, thread.id)))
    stored.threads += [(row.id, row.message_count) for row in rows]
    stored.days |= {summary.started_at.date() + day for thread in batch for summary in thread.summaries for day in NEAR}


def _insert_files(
    user: User,
    thread: ThreadRecord,
    turns: Sequence[TurnRecord],
    stored: ImportCounts,
    read_later: Callable[[File], object],
    *,
    after: Tail = BEGINNING,
) -> None:
    """Those of the thread that are not here yet, and what of files stands in these turns of it."""
    if not thread.files:
        return
    here = set(File.objects.filter(user=user, thread=thread.id).values_list("id", flat=True)) if thread.known else set()
    new = (row_of(File, file, user=user, thread_id=thread.id) for file in thread.files if file.id not in here)
    _keep_files(new, stored, read_later)
    _insert(TurnFile, turn_file_rows(turns, thread.id, user_id=user.pk, after=after))


def _insert_projects(
    user: User, batch: Sequence[ProjectRecord], stored: ImportCounts, read_later: Callable[[File], object]
) -> None:
    """An assistant that is not here is left out; so is a preset that nobody has."""
    assistants = {each.slug: each for each in Assistant.objects.filter(slug__in={each.assistant for each in batch})}
    for project in batch:
        assistant, now = assistants.get(project.assistant), clock.now()
        row_of(Project, project, user=user, assistant=assistant, updated_at=now).save(force_insert=True)
        _keep_files(
            (row_of(File, file, user=user, project_id=project.id) for file in project.files), stored, read_later
        )


def _keep_files(rows: Iterable[File], stored: ImportCounts, read_later: Callable[[File], object]) -> None:
    for files in weighed(rows, lambda row: 1):
        File.objects.bulk_create(files)
        storage.claim([file.place for file in files])
        for file in files:
            long_work.check()
            read_later(file)
        stored.files += len(files)


def _complete(user: User, stored: ImportCounts) -> None:
    """What rests on all of it. A day of any time zone may be the one before or after that of UTC."""
    if stored.files:
        refuse_what_is_stored_unless_room(user)
    if stored.days:
        remake_days(user.pk, stored.days, zone_of(preferences_of(user)), clock.now())
    catch_up(user.pk, recount=bool(stored.threads or stored.longer))
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
        f"Nothing was imported: the {kind} {id} came here in this moment. Send the import again.",
        kind=kind,
        id=id,
    )
