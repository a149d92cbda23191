"""Records as the rows that would be there if their turns had been sent one after another. Pure."""

import json
import uuid
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.db.models import Model

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.sessions import Session, session_at
from conversations.context.tokens.estimate import text_of, turn_tokens
from conversations.import_export.records import ArtifactRecord, ThreadRecord, TurnRecord
from conversations.import_export.turn_tree import PlacedTurn, StoredTurn
from conversations.models import Assistant, Message, Thread, TurnFile, more_than_text
from memory.index.word_index import SaidTurn

TURN_COLUMNS = (
    *("id", "thread_id", "user_id", "parent_id", "position", "depth", "role", "content", "text", "status"),
    *("offline", "token_count", "token_total", "created_at", "is_active", "citations", "model"),
)


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
        updated_at=thread.active_at or min(_newest(thread), now),
        session_started_at=session.started_at if session else None,
        away_since=session.away_since if session else None,
        message_count=len(thread.turns),
        last_position=len(thread.turns) + len(thread.branches),
    )


def _newest(thread: ThreadRecord) -> datetime:
    """When the last turn of it was said."""
    last = [thread.turns[-1].created_at] if thread.turns else []
    last += [thread.branches[-1].turn.created_at] if thread.branches else []
    return max(last, default=thread.created_at)


def turn_rows(
    turns: Iterable[PlacedTurn], thread_id: uuid.UUID, *, user_id: int, before: Mapping[int, StoredTurn] | None = None
) -> Iterator[tuple[Any, ...]]:
    """The turns as ``TURN_COLUMNS``. ``before`` are those that were stored before, by position; these come behind."""
    parents = _Parents(before or {})
    for placed in turns:
        turn, (parent, total) = placed.turn, parents.of(placed)
        text, tokens = text_of(turn.content), turn_tokens(turn.content)
        content = more_than_text(turn.content, text)
        parents.add(turn.id, total + tokens)
        yield (
            *(turn.id, thread_id, user_id, parent, placed.position, placed.depth, turn.role),
            *(content and json.dumps(content), text, turn.status, turn.offline, tokens, total + tokens),
            *(turn.created_at, placed.is_active, json.dumps(turn.citations) if turn.citations else None, turn.model),
        )


class _Parents:
    """The id and the tokens up to and with each turn, in little memory."""

    def __init__(self, before: Mapping[int, StoredTurn]) -> None:
        self._before, self._first = before, 0
        self._ids, self._totals = bytearray(), array("Q")

    def of(self, turn: PlacedTurn) -> tuple[uuid.UUID | None, int]:
        self._first = self._first or turn.position
        if not turn.parent:
            return None, 0
        if stored := self._before.get(turn.parent):
            return stored.id, stored.token_total
        place = turn.parent - self._first
        return uuid.UUID(bytes=bytes(self._ids[16 * place : 16 * place + 16])), self._totals[place]

    def add(self, id: uuid.UUID, total: int) -> None:
        self._ids += id.bytes
        self._totals.append(total)


def turn_file_rows(turns: Iterable[PlacedTurn], thread_id: uuid.UUID, *, user_id: int) -> Iterator[TurnFile]:
    """What of files stands in the turns."""
    for placed in turns:
        for place, file in enumerate(placed.turn.files):
            yield row_of(TurnFile, file, thread_id=thread_id, user_id=user_id, position=placed.position, place=place)


def said_turns(turns: Iterable[PlacedTurn], thread_id: uuid.UUID) -> Iterator[SaidTurn]:
    """Those on the active path as the index of recall takes them: of the others nothing is recalled."""
    for placed in turns:
        if placed.is_active:
            turn = placed.turn
            yield SaidTurn(
                thread=thread_id,
                depth=placed.depth,
                position=placed.position,
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
