"""Records as the rows that would be there if their turns had been sent one after another. Pure."""

import json
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.sessions import Session, session_at
from conversations.context.token_estimate import text_of, turn_tokens
from conversations.import_export.records import ArtifactRecord, MemoryRecord, ThreadRecord, TopicRecord, TurnRecord
from conversations.models import Assistant, Message, Thread, more_than_text
from memory.index.word_index import SaidTurn
from memory.models import Memory, ThreadSummary, Topic

TURN_COLUMNS = (
    *("id", "thread_id", "parent_id", "position", "depth", "role", "content", "text", "status", "offline"),
    *("token_count", "token_total", "created_at", "is_active"),
)


def thread_row(thread: ThreadRecord, *, user_id: int, assistant: Assistant) -> Thread:
    session = last_session(thread.turns)
    return Thread(
        id=thread.id,
        user_id=user_id,
        assistant=assistant,
        title=thread.title,
        created_at=thread.created_at,
        updated_at=thread.turns[-1].created_at if thread.turns else thread.created_at,
        session_started_at=session.started_at if session else None,
        away_since=session.away_since if session else None,
        message_count=len(thread.turns),
        last_position=len(thread.turns),
        remembers=thread.remembers,
    )


def turn_rows(thread: ThreadRecord) -> Iterator[tuple[Any, ...]]:
    """The thread's turns as ``TURN_COLUMNS``: each follows the one before."""
    parent: uuid.UUID | None = None
    total = 0
    for position, turn in enumerate(thread.turns, 1):
        text, tokens = text_of(turn.content), turn_tokens(turn.content)
        content = more_than_text(turn.content, text)
        total += tokens
        yield (
            *(turn.id, thread.id, parent, position, position, turn.role, content and json.dumps(content), text),
            *(turn.status, turn.offline, tokens, total, turn.created_at, True),
        )
        parent = turn.id


def said_turns(thread: ThreadRecord) -> Iterator[SaidTurn]:
    """The thread's turns as the index of recall takes them."""
    for position, turn in enumerate(thread.turns, 1):
        yield SaidTurn(
            thread=thread.id,
            depth=position,
            position=position,
            role=turn.role,
            text="" if turn.status == Message.Status.FORGOTTEN else text_of(turn.content),
            at=turn.created_at,
        )


def artifact_row(artifact: ArtifactRecord, thread_id: uuid.UUID) -> Artifact:
    return Artifact(
        id=artifact.id,
        thread_id=thread_id,
        title=artifact.title,
        kind=artifact.kind,
        language=artifact.language,
        preset=artifact.preset,
        after_position=artifact.after_position,
        version=len(artifact.versions),
        created_at=artifact.created_at,
        updated_at=artifact.versions[-1].created_at,
    )


def version_rows(artifact: ArtifactRecord, thread_id: uuid.UUID) -> Iterator[ArtifactVersion]:
    for number, version in enumerate(artifact.versions, 1):
        yield ArtifactVersion(
            artifact_id=artifact.id,
            thread_id=thread_id,
            number=number,
            content=version.content,
            origin=version.origin,
            message_id=version.message,
            created_at=version.created_at,
        )


def memory_row(memory: MemoryRecord, user_id: int) -> Memory:
    return Memory(
        id=memory.id,
        user_id=user_id,
        content=memory.content,
        tags=list(memory.tags),
        origin=memory.origin,
        sources=list(memory.sources),
        created_at=memory.created_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        ended_at=memory.ended_at,
    )


def topic_row(topic: TopicRecord, user_id: int) -> Topic:
    return Topic(
        id=topic.id,
        user_id=user_id,
        thread_id=topic.thread,
        title=topic.title,
        sources=list(topic.sources),
        opened_at=topic.opened_at,
        resolved_at=topic.resolved_at,
    )


def summary_rows(thread: ThreadRecord, user_id: int) -> Iterator[ThreadSummary]:
    for summary in thread.summaries:
        yield ThreadSummary(
            id=summary.id,
            thread_id=thread.id,
            user_id=user_id,
            first_position=summary.first,
            last_position=summary.last,
            text=summary.text,
            key_moments=list(summary.key_moments),
            sources=list(summary.sources),
            started_at=summary.started_at,
            ended_at=summary.ended_at,
            made_by=summary.made_by,
            made_at=summary.made_at,
            stale_since=summary.stale_since,
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
