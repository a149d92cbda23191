"""*Continue from this*: what a link shows, in a thread of the reader's own, stored as an import is.

The thread takes no part in memory until its reader says so: what is said in it is said of somebody else. Files stay where they
are: a turn that brought some says that it did. Where a link is handed over, they are copied before.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from conversations.context.turns.groups import FILE
from conversations.errors import ShareNotFound
from conversations.import_export.records import (
    ArtifactRecord,
    FileRecord,
    GivenFile,
    ThreadRecord,
    TurnRecord,
    VersionRecord,
)
from conversations.import_export.store import store
from conversations.models import Message, Share, text_blocks
from conversations.runtime import clock
from conversations.runtime.ids import uuid7
from conversations.sharing.page import A_FILE, artifact_of, file_ids, title_of, without_files
from conversations.sharing.path import turn_ids, turns
from conversations.threads.titles import title_from

NO_FILES: Mapping[UUID, FileRecord] = {}


def copy_for(reader: User, share: Share) -> UUID:
    """Returns the id of the new thread. Raises ``ShareNotFound`` where there is nothing left to copy."""
    record = record_of(share)
    store(user=reader, records=[record], read_later=lambda file: None)
    return record.id


def record_of(share: Share, files: Mapping[UUID, FileRecord] = NO_FILES) -> ThreadRecord:
    """What the link shows, as a thread that is to be stored: its last turn, or its only artifact, is the one that is shared.
    ``files`` are copies, by the id of what they were made of; a turn says of others that it brought one. Raises
    ``ShareNotFound``."""
    return _thread_of_artifact(share) if share.artifact_id else _thread_of_turns(share, files)


def _thread_of_turns(share: Share, files: Mapping[UUID, FileRecord]) -> ThreadRecord:
    shown = turns(share, turn_ids(share))
    if not shown:
        raise ShareNotFound
    records = [_turn(share, turn, files) for turn in shown]
    title = title_of(share) or title_from(_text(share, shown[0]))
    return _thread(title, turns=records, artifacts=[], files=list(files.values()))


def _turn(share: Share, turn: Message, files: Mapping[UUID, FileRecord]) -> TurnRecord:
    copies = [files[id] for id in file_ids(turn) if id in files]
    text = turn.text if copies and not turn.text else _text(share, turn)
    return TurnRecord(
        id=uuid7(),
        role=turn.role,
        content=[*map(_block, copies), *(text_blocks(text) if text else [])],
        created_at=turn.created_at,
        status=turn.status,
        offline=turn.offline,
        files=[GivenFile(file_id=copy.id, numbers=[], outlined=True) for copy in copies],
    )


def _text(share: Share, turn: Message) -> str:
    return (turn.text if share.shows_files else without_files(turn)) or A_FILE


def _block(file: FileRecord) -> dict[str, Any]:
    return {"type": FILE, "file": str(file.id), "name": file.name}


def _thread_of_artifact(share: Share) -> ThreadRecord:
    shown = artifact_of(share)
    now = clock.now()
    version = VersionRecord(content=shown.version.content, created_at=now, origin="program", message_id=None)
    title = title_of(share) or title_from(shown.version.content) or shown.artifact.get_kind_display()
    copied = ArtifactRecord(
        id=uuid7(),
        title=title,
        kind=shown.artifact.kind,
        language=shown.artifact.language,
        preset="",
        after_position=0,
        created_at=now,
        versions=[version],
    )
    return _thread(title, turns=[], artifacts=[copied], files=[])


def _thread(
    title: str, *, turns: list[TurnRecord], artifacts: list[ArtifactRecord], files: list[FileRecord]
) -> ThreadRecord:
    return ThreadRecord(
        id=uuid7(),
        place="the link",
        title=title,
        assistant=None,
        created_at=clock.now(),
        turns=turns,
        artifacts=artifacts,
        files=files,
        remembers=False,
    )
