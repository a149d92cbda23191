"""*Continue from this*: what a link shows, in a thread of the reader's own, stored as an import is.

The thread takes no part in memory until its reader says so: what is said in it is said of somebody else. Files stay where they
are: a turn that brought some says that it did.
"""

from uuid import UUID

from django.contrib.auth.models import User

from conversations.errors import ShareNotFound
from conversations.import_export.records import ArtifactRecord, ThreadRecord, TurnRecord, VersionRecord
from conversations.import_export.store import store
from conversations.models import Message, Share, text_blocks
from conversations.runtime import clock
from conversations.runtime.ids import uuid7
from conversations.sharing.page import A_FILE, artifact_of, title_of, without_files
from conversations.sharing.path import turn_ids, turns
from conversations.threads.titles import title_from


def copy_for(reader: User, share: Share) -> UUID:
    """Returns the id of the new thread. Raises ``ShareNotFound`` where there is nothing left to copy."""
    record = _thread_of_artifact(share) if share.artifact_id else _thread_of_turns(share)
    store(user=reader, records=[record], read_later=lambda file: None)
    return record.id


def _thread_of_turns(share: Share) -> ThreadRecord:
    records = [_turn(share, turn) for turn in turns(share, turn_ids(share))]
    if not records:
        raise ShareNotFound
    title = title_of(share) or title_from(records[0].content[0]["text"])
    return _thread(title, turns=records, artifacts=[])


def _turn(share: Share, turn: Message) -> TurnRecord:
    text = turn.text if share.shows_files else without_files(turn)
    return TurnRecord(
        id=uuid7(),
        role=turn.role,
        content=text_blocks(text or A_FILE),
        created_at=turn.created_at,
        status=turn.status,
        offline=turn.offline,
    )


def _thread_of_artifact(share: Share) -> ThreadRecord:
    shown = artifact_of(share)
    now = clock.now()
    version = VersionRecord(content=shown.version.content, created_at=now, origin="program", message_id=None)
    copied = ArtifactRecord(
        id=uuid7(),
        title=shown.artifact.title,
        kind=shown.artifact.kind,
        language=shown.artifact.language,
        preset="",
        after_position=0,
        created_at=now,
        versions=[version],
    )
    return _thread(shown.artifact.title, turns=[], artifacts=[copied])


def _thread(title: str, *, turns: list[TurnRecord], artifacts: list[ArtifactRecord]) -> ThreadRecord:
    return ThreadRecord(
        id=uuid7(),
        place="the link",
        title=title,
        assistant=None,
        created_at=clock.now(),
        turns=turns,
        artifacts=artifacts,
        remembers=False,
    )
