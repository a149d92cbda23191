"""*Fork from here*: the path to a turn of a thread, copied into a thread of its own, stored as an import is.

Nothing of the copy is learnt a second time: what is remembered of its turns rests on those of the thread that they come from.
"""

import logging
import uuid
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from itertools import batched
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from artifacts.models import Artifact, ArtifactVersion
from conversations import threads
from conversations.accounts.allowances import forgettings_of
from conversations.context.turns.groups import FILE
from conversations.errors import Conflict, FilesFull, TemporaryThread
from conversations.files import storage
from conversations.import_export.disk_lists import FEW, Scratch, gathered
from conversations.import_export.file_intake import FileIntake
from conversations.import_export.records import (
    ArtifactRecord,
    FileRecord,
    GivenFile,
    SummaryRecord,
    ThreadRecord,
    TurnRecord,
    VersionRecord,
)
from conversations.import_export.store import store
from conversations.models import Assistant, File, Message, Reply, Thread, TurnFile
from conversations.runtime import clock, long_work
from conversations.runtime.ids import uuid7
from conversations.threads import paths
from conversations.wire import models_of
from memory.models import ThreadSummary

log = logging.getLogger("openbook.threads")

PAGE = 100
"""Turns that are read at once."""
VERSIONS, LARGE = 5, 1_000_000
"""Versions of an artifact that are read at once; characters from which its versions are not kept in memory."""

type NewIds = Mapping[uuid.UUID, uuid.UUID]
"""The id of each copy by that of what it is a copy of."""


class ForgottenMeanwhile(Conflict):
    code = "forgotten_meanwhile"
    message = "Something of yours was forgotten at this moment, and nothing was copied. Try again."


def fork(
    user: User, thread_id: str | uuid.UUID, message_id: str | uuid.UUID, *, read_later: Callable[[File], object]
) -> Thread:
    """The new thread. Raises ``ThreadNotFound``, ``MessageNotFound``, ``TemporaryThread``, ``FilesFull`` and
    ``ForgottenMeanwhile``."""
    forgettings = forgettings_of(user.pk)
    thread = threads.get(user, thread_id)
    if thread.temporary:
        raise TemporaryThread
    turn = threads.message_in(thread, message_id)
    with closing(Scratch()) as scratch, closing(FileIntake(user)) as intake:
        record = copy_of(thread, turn, scratch, intake)
        intake.renew()
        with transaction.atomic():
            threads.locked(user, thread.id)  # as whoever forgets or deletes anything does
            if forgettings_of(user.pk) != forgettings:
                raise ForgottenMeanwhile
            assistants: dict[str | None, Assistant] = {thread.assistant.slug: thread.assistant}
            store(user=user, records=[record], read_later=read_later, assistants=assistants)
        intake.is_stored = True
    log.info("thread forked", extra={"thread_id": str(record.id), "forked_from": str(thread.id)})
    return threads.get(user, record.id)


def copy_of(thread: Thread, turn: Message, scratch: Scratch, intake: FileIntake) -> ThreadRecord:
    """The path to a turn as a thread of its own, with copies of its files in the storage."""
    path, now = paths.ids_to(turn.id, thread_id=thread.id, user_id=thread.user_id), clock.now()
    ids = {id: uuid7() for id in path}
    files = _files(thread, path, intake)
    kept = {old: file.id for old, file in files.items()} | {id: id for id in _of_project(thread)}
    source = SourcePath(thread=thread, ids=ids, files=kept, until=_until(turn))
    turns = gathered(_turns(source), scratch, few=len(path) <= FEW)
    return ThreadRecord(
        id=uuid7(),
        place="the conversation",
        title=thread.title,
        assistant=thread.assistant.slug,
        created_at=now,
        active_at=now,
        turns=turns,
        artifacts=list(_artifacts(source, scratch)),
        remembers=thread.remembers,
        tags=thread.tags,
        model=thread.model,
        summaries=[_consolidated(turns, now)],
        files=list(files.values()),
        project_id=thread.project_id,
        instructions=thread.instructions,
        uses_account_instructions=thread.uses_account_instructions,
        forked_from_id=thread.id,
        forked_at=turn.id,
    )


@dataclass(frozen=True, kw_only=True)
class SourcePath:
    """The turns that are copied, in their order, and what of them is copied beside them. What was made without a turn is
    theirs if it was made before ``until``."""

    thread: Thread
    ids: NewIds
    files: NewIds
    until: datetime | None
    positions: list[int] = field(default_factory=list)
    """Of the turns that were read so far."""

    @cached_property
    def copied(self) -> Mapping[Any, str]:
        """The id of the copy of each file, as blocks name them."""
        return {str(old): str(new) for old, new in self.files.items()}


def _until(turn: Message) -> datetime | None:
    """When the conversation went on from a turn for the first time."""
    following = Message.objects.filter(user=turn.user_id, thread=turn.thread_id, parent=turn.id)
    return following.order_by("created_at").values_list("created_at", flat=True).first()


def _pages(thread: Thread, path: Sequence[uuid.UUID]) -> Iterator[list[Message]]:
    for ids in batched(path, PAGE):
        long_work.check()
        yield list(Message.objects.filter(user=thread.user_id, thread=thread, id__in=ids).order_by("depth"))


def _turns(source: SourcePath) -> Iterator[TurnRecord]:
    for page in _pages(source.thread, list(source.ids)):
        given, models = _given(page), models_of(page)
        for turn in page:
            source.positions.append(turn.position)
            yield TurnRecord(
                id=source.ids[turn.id],
                role=turn.role,
                content=[_block(block, source.copied) for block in turn.blocks],
                created_at=turn.created_at,
                status=turn.status,
                offline=turn.offline,
                model=turn.model or models.get(turn.reply_id, ""),
                files=[
                    _given_file(row, source.files)
                    for row in given.get(turn.position, ())
                    if row.file_id in source.files
                ],
                citations=[_cited(citation, source.copied) for citation in turn.citations or ()],
            )


def _given(page: Sequence[Message]) -> dict[int, list[TurnFile]]:
    """What of files stands in these turns, by their positions."""
    thread, positions = page[0].thread_id, [turn.position for turn in page]
    rows = TurnFile.objects.filter(user=page[0].user_id, thread=thread, position__in=positions)
    by_position: dict[int, list[TurnFile]] = {}
    for row in rows.order_by("position", "place"):
        by_position.setdefault(row.position, []).append(row)
    return by_position


def _given_file(row: TurnFile, files: NewIds) -> GivenFile:
    return GivenFile(file_id=files[row.file_id], numbers=row.numbers, outlined=row.outlined)


def _block(block: dict[str, Any], copied: Mapping[Any, str]) -> dict[str, Any]:
    """With the file's copy; one that is not there any more keeps its own."""
    id = block.get("file")
    return block | {"file": copied.get(id, id)} if block["type"] == FILE else block


def _cited(citation: Any, copied: Mapping[Any, str]) -> Any:
    return citation | {"file": copied.get(citation["file"], citation["file"])}


def _files(thread: Thread, path: Sequence[uuid.UUID], intake: FileIntake) -> dict[uuid.UUID, FileRecord]:
    """Copies of the files of the thread that its turns name, by the id of the file. Raises ``FilesFull``."""
    named: set[str] = set()
    for ids in batched(path, PAGE):
        turns = Message.objects.filter(user=thread.user_id, thread=thread, id__in=ids)
        for content in turns.filter(content__contains=[{"type": FILE}]).values_list("content", flat=True):
            named |= {block["file"] for block in content or () if block["type"] == FILE}
    copies: dict[uuid.UUID, FileRecord] = {}
    for file in File.objects.filter(user=thread.user_id, thread=thread).order_by("id"):
        if str(file.id) in named and (copy := _copied(file, intake)):
            copies[file.id] = copy
    return copies


def _of_project(thread: Thread) -> list[uuid.UUID]:
    """The files of the thread's project that stand in its turns: the copy is in the same project, and so they stay."""
    if thread.project_id is None:
        return []
    files = File.objects.filter(user=thread.user_id, project=thread.project_id)
    return list(files.filter(turns__thread=thread, turns__user=thread.user_id).values_list("id", flat=True).distinct())


def _copied(file: File, intake: FileIntake) -> FileRecord | None:
    """``None`` where its bytes are gone."""
    kept = intake.take(partial(storage.open_bytes, file.place), name=file.name, place=str(file.id))
    if kept is None:
        if any(refused.code == "files_full" for refused in intake.refused):
            raise FilesFull(
                "Your files would take more room than you have: a fork has copies of the files in its messages. Nothing was "
                "copied. Delete some of your files, or fork from a message before them."
            )
        return None
    return FileRecord(
        id=uuid7(),
        name=file.name,
        kind=kept.kind,
        media_type=kept.media_type,
        size=kept.size,
        sha256=kept.sha256,
        place=kept.place,
        created_at=file.created_at,
    )


def _artifacts(source: SourcePath, scratch: Scratch) -> Iterator[ArtifactRecord]:
    """Each with those of its versions that belong to the path."""
    thread = source.thread
    for artifact in Artifact.objects.filter(user=thread.user_id, thread=thread, deleted_at=None).order_by(
        "created_at", "id"
    ):
        makers = _makers(source, artifact)
        if makers:
            sizes = ArtifactVersion.objects.filter(user=thread.user_id, artifact=artifact, number__in=makers)
            is_small = sum(sizes.values_list("size", flat=True)) <= LARGE
            versions = gathered(_versions(source, artifact, makers), scratch, few=is_small)
            yield ArtifactRecord(
                id=uuid.uuid4(),
                title=artifact.title,
                kind=artifact.kind,
                language=artifact.language,
                preset=artifact.preset,
                after_position=bisect_right(source.positions, artifact.after_position),
                created_at=versions[0].created_at,
                versions=versions,
            )


def _makers(source: SourcePath, artifact: Artifact) -> dict[int, uuid.UUID | None]:
    """The numbers of the versions that belong to the path, each with the turn that made it.

    One that no turn made belongs where the one before it does.
    """
    columns = ("number", "message_id", "reply_id", "created_at")
    rows = ArtifactVersion.objects.filter(user=artifact.user_id, artifact=artifact).order_by("number")
    versions = list(rows.values_list(*columns))
    turns = _turns_of_replies(artifact, [reply for _, _, reply, _ in versions if reply])
    makers: dict[int, uuid.UUID | None] = {}
    before_belongs = True
    for number, message, reply, created_at in versions:
        maker, asked = (message, None) if message else turns.get(reply, (None, None))
        if maker or asked:
            before_belongs = (maker or asked) in source.ids
        belongs = before_belongs and bool(maker or asked or source.until is None or created_at < source.until)
        if belongs:
            makers[number] = source.ids[maker] if maker else None
    return makers


def _turns_of_replies(
    artifact: Artifact, replies: Sequence[uuid.UUID]
) -> dict[uuid.UUID, tuple[uuid.UUID | None, uuid.UUID | None]]:
    """The turn that each of the replies wrote, and the one that it answered."""
    mine = Q(user=artifact.user_id, thread=artifact.thread_id)
    wrote = dict(Message.objects.filter(mine, reply__in=replies).values_list("reply_id", "id"))
    asked = Reply.objects.filter(mine, id__in=replies).values_list("id", "user_message_id")
    return {reply: (wrote.get(reply), question) for reply, question in asked}


def _versions(
    source: SourcePath, artifact: Artifact, makers: Mapping[int, uuid.UUID | None]
) -> Iterator[VersionRecord]:
    for numbers in batched(makers, VERSIONS):
        long_work.check()
        rows = ArtifactVersion.objects.filter(user=artifact.user_id, artifact=artifact, number__in=numbers)
        for row in rows.order_by("number"):
            yield VersionRecord(
                content=row.content, created_at=row.created_at, origin=row.origin, message_id=makers[row.number]
            )


def _consolidated(turns: Sequence[TurnRecord], now: datetime) -> SummaryRecord:
    """A part without a text, which covers all turns: they are not read again."""
    times = [turn.created_at for turn in turns]
    return SummaryRecord(
        id=uuid.uuid4(),
        first_position=1,
        last_position=len(turns),
        text="",
        key_moments=(),
        sources=(),
        started_at=min(times),
        ended_at=max(times),
        made_by=ThreadSummary.COPIED,
        made_at=now,
        stale_since=None,
    )
