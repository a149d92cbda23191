"""Records as the rows that would be there if their turns had been sent one after another. Pure."""

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Model

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.sessions import Session, session_at
from conversations.context.tokens.estimate import text_of, turn_tokens
from conversations.import_export.records import ArtifactRecord, ThreadRecord, TurnRecord
from conversations.models import Assistant, Message, Thread, TurnFile, more_than_text
from memory.index.word_index import SaidTurn

TURN_COLUMNS = (
    *("id", "thread_id", "user_id", "parent_id", "position", "depth", "role", "content", "text", "status"),
    *("offline", "token_count", "token_total", "created_at", "is_active", "citations", "model"),
)


@dataclass(frozen=True, kw_only=True)
class Tail:
    """What imported turns follow: the last turn of the thread, or nothing."""

    id: uuid.UUID | None = None
    position: int = 0
    depth: int = 0
    token_total: int = 0


BEGINNING = Tail()


def row_of[M: Model](model: type[M], record: Any, /, **columns: Any) -> M:
    """A row of the fields of a record that are columns of the model, and of these columns."""
    shared = {field.name for field in fields(record)} & {field.attname for field in model._meta.concrete_fields}
    return model(**{name: getattr(record, name) for name in shared}, **columns)


def thread_row(thread: ThreadRecord, *, user_id: int, assistant: Assistant, now: datetime) -> Thread:
    """``now``: a time that is yet to come would stay on top of the list."""
    session = last_session(thread.turns)
    return row_of(
        Thread,
        thread,
        user_id=user_id,
        assistant=assistant,
        updated_at=thread.active_at or min(thread.turns[-1].created_at if thread.turns else thread.created_at, now),
        session_started_at=session.started_at if session else None,
        away_since=session.away_since if session else None,
        message_count=len(thread.turns),
        last_position=len(thread.turns),
    )


def turn_rows(
    turns: Iterable[TurnRecord], thread_id: uuid.UUID, *, user_id: int, after: Tail = BEGINNING
) -> Iterator[tuple[Any, ...]]:
    """The turns as ``TURN_COLUMNS``: each follows the one before."""
    parent, total = after.id, after.token_total
    for number, turn in enumerate(turns, 1):
        text, tokens = text_of(turn.content), turn_tokens(turn.content)
        content = more_than_text(turn.content, text)
        total += tokens
        yield (
            *(turn.id, thread_id, user_id, parent, after.position + number, after.depth + number, turn.role),
            *(content and json.dumps(content), text, turn.status, turn.offline, tokens, total, turn.created_at, True),
            *(json.dumps(turn.citations) if turn.citations else None, turn.model),
        )
        parent = turn.id


def turn_file_rows(
    turns: Iterable[TurnRecord], thread_id: uuid.UUID, *, user_id: int, after: Tail = BEGINNING
) -> Iterator[TurnFile]:
    """What of files stands in the turns."""
    for position, turn in enumerate(turns, after.position + 1):
        for place, file in enumerate(turn.files):
            yield row_of(TurnFile, file, thread_id=thread_id, user_id=user_id, position=position, place=place)


def said_turns(turns: Iterable[TurnRecord], thread_id: uuid.UUID, *, after: Tail = BEGINNING) -> Iterator[SaidTurn]:
    """The turns as the index of recall takes them."""
    for number, turn in enumerate(turns, 1):
        yield SaidTurn(
            thread=thread_id,
            depth=after.depth + number,
            position=after.position + number,
            role=turn.role,
            text="" if turn.status == Message.Status.FORGOTTEN else text_of(turn.content),
            at=turn.created_at,
        )


def artifact_row(artifact: ArtifactRecord, thread_id: uuid.UUID, *, user_id: int) -> Artifact:
    return row_of(
        Artifact,
        artifact,
        thread_id=thread_id,
        user_id=user_id,
        version=len(artifact.versions),
        updated_at=artifact.versions[-1].created_at,
    )


def version_rows(artifact: ArtifactRecord, thread_id: uuid.UUID, *, user_id: int) -> Iterator[ArtifactVersion]:
    for number, version in enumerate(artifact.versions, 1):
        yield row_of(
            ArtifactVersion, version, artifact_id=artifact.id, thread_id=thread_id, user_id=user_id, number=number
        )


def last_session(turns: Sequence[TurnRecord]) -> Session | None:
    """The session of the thread's last user turn, as far as this thread tells."""
    session: Session | None = None
    last_active: datetime | None = None
    for turn in turns:
        if turn.role == Message.Role.USER:
            session = session_at(turn.created_at, last_active=last_active, last_session=session)
        last_active = turn.created_at
    return session
