"""The database steps of a reply, one statement each, on Django's own connection and in no transaction of ours."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import psycopg
from django.db import IntegrityError, connection
from django.db.backends.postgresql.psycopg_any import Jsonb
from django.db.models import Model

from conversations.accounts.limits import Limits
from conversations.context.sessions import Session
from conversations.models import Assistant, ContextBlock, ContextSnapshot, Message, Reply, Thread
from conversations.replies.events import LONGEST_LEASE, Event
from conversations.replies.sql import CLOSE, FURTHER_REQUEST, LOOK, TURN_IN_NEW_THREAD, TURN_IN_THREAD

LIMITS = ("allowance_running", "allowance_tokens")
"""Constraints that refuse a reply for which a limit leaves no room."""
RACES = ("one_running_reply_per_thread", "thread_opened_once")
"""Constraints that stop a step of which the statement can't see that somebody else was faster."""


class NoAllowance(Exception):
    """A limit of the user's or the token's leaves no room for a reply, as far as its allowance knows."""


@dataclass(frozen=True, kw_only=True)
class ThreadCursor:
    """Where a turn goes: after ``before``, the last turn of the path, in a thread that may not be stored yet.

    ``question`` is the newest user turn of the path, ``known`` the turn that has this ``client_message_id`` already.
    """

    thread: Thread
    is_new: bool = False
    running: uuid.UUID | None = None
    duplicate: uuid.UUID | None = None
    before: uuid.UUID | None = None
    question: uuid.UUID | None = None
    token_total: int = 0
    last_active: datetime | None = None
    last_session: Session | None = None


@dataclass(frozen=True, kw_only=True)
class StoredReply:
    """That a reply is stored. An allowance that there was not yet knows of no earlier reply: the user's (``None``), or the
    token's, by its id."""

    new_allowances: Sequence[int | None]


@dataclass(frozen=True, kw_only=True)
class ClosedReply:
    """What the database knows of a reply that was just ended. ``position`` is that of its assistant turn, if it left one."""

    thread: uuid.UUID
    user_message: uuid.UUID | None
    position: int | None
    seq: int
    request: ContextSnapshot | None
    question_status: str | None
    fallback_model: str


def look(*, user_id: int, thread_id: uuid.UUID, client_message_id: str | None = None) -> ThreadCursor | None:
    """The place of the next turn in a thread of the user's, ``None`` where there is no such thread."""
    with connection.cursor() as cursor:
        cursor.execute(LOOK, {"user": user_id, "thread": thread_id, "sent": client_message_id})
        row = cursor.fetchone()
    if row is None:
        return None
    values = iter(row)
    thread = _instance(Thread, values)
    thread.assistant = _instance(Assistant, values)
    running, known, before, question, token_total, last_active, started_at, away_since = values
    return ThreadCursor(
        thread=thread,
        running=running,
        duplicate=known,
        before=before,
        question=question,
        token_total=token_total or 0,
        last_active=last_active,
        last_session=Session(started_at=started_at or last_active, away_since=away_since) if last_active else None,
    )


def open_reply(
    *,
    cursor: ThreadCursor,
    last_position: int,
    message: Message | None,
    reply: Reply,
    lease: timedelta,
    snapshot: ContextSnapshot | None,
    blocks: Iterable[ContextBlock],
    limits: Limits,
) -> StoredReply | None:
    """Store a reply with its user turn (``None``: it is stored) and its first request (``None``: not built yet), and reserve
    what it may take.

    ``last_position`` is where the thread ended when it was looked at. ``None``, and nothing stored, where others were faster.
    Raises ``NoAllowance``.
    """
    values = {
        "thread": _json(_row(cursor.thread)),
        "last_position": last_position,
        "messages": _json([_row(message)] if message else []),
        "reply": _json(_row(reply)),
        "lease": lease,
        "user": cursor.thread.user_id,
        "token": reply.token_id,
        "reserved": reply.reserved,
        "most_running": limits.running_replies,
        "most_tokens": limits.tokens_day,
    }
    try:
        row = _step(TURN_IN_NEW_THREAD if cursor.is_new else TURN_IN_THREAD, values | _request(snapshot, blocks))
    except IntegrityError as error:
        if _constraint(error) in LIMITS:
            raise NoAllowance from error
        if _constraint(error) in RACES:
            return None
        raise
    return StoredReply(new_allowances=row[0] or ()) if row else None


def record(*, snapshot: ContextSnapshot, blocks: Iterable[ContextBlock], lease: timedelta) -> bool:
    """Store a further request of a reply; false, and nothing stored, where the reply has ended."""
    values = {"reply": snapshot.reply_id, "lease": lease}
    return _step(FURTHER_REQUEST, values | _request(snapshot, blocks)) is not None


def close(
    *,
    reply: Reply,
    owner: str | None,
    answer: Message | None,
    events: Sequence[Event],
    response: Mapping[str, Any],
    question_status: str | None,
    spent: int | None,
) -> ClosedReply | None:
    """End a reply that runs and is the owner's; for ``None``, one whose lease has run out. ``None`` where it isn't so.

    ``response`` is how the last request ended and what the provider told beside the answer, by column of the snapshot.
    ``question_status`` is what becomes of the turn that was answered; ``None`` leaves it as it is. ``spent`` are the tokens
    that it took of the user's day, ``None`` for those that were set aside for it.
    """
    values = {
        "reply": reply.id,
        "owner": owner,
        "longest_lease": LONGEST_LEASE,
        "status": reply.status,
        "stop_reason": reply.stop_reason,
        "usage": _json(reply.usage),
        "request_usage": _json(response["usage"]),
        "error": _json(reply.error) if reply.error else None,
        "request_error": _json(response["error"]) if response["error"] else None,
        "question_status": question_status,
        "now": reply.ended_at,
        "provider_request_id": response["provider_request_id"],
        "provider_message_id": response["provider_message_id"],
        "diagnostics": _json(response["diagnostics"]) if response["diagnostics"] else None,
        "stop_details": _json(response["stop_details"]) if response["stop_details"] else None,
        "thinking_ms": response["thinking_ms"],
        "first_token_ms": response["first_token_ms"],
        "answer": _json(_row(answer)) if answer else None,
        "events": _json(
            [
                {"reply_id": event.reply, "seq": event.seq, "type": event.type, "data": event.data, "at": event.at}
                for event in events
            ]
        ),
        "last_seq": events[-1].seq if events else 0,
        "spent": spent,
    }
    ended = False
    while not ended:
        with connection.cursor() as cursor:
            cursor.execute(CLOSE, values)
            row = cursor.fetchone()
        if row is None:
            return None
        thread, user_message, question, fallback, ended, position, seq, *newest = row
    names = ("id", "message_history_count", "total_tokens", "model", "fallback_for")
    known = dict(zip(names, newest, strict=True))
    return ClosedReply(
        thread=thread,
        user_message=user_message,
        position=position,
        seq=seq,
        request=ContextSnapshot(**known, stop_details=response["stop_details"]) if known["id"] else None,
        question_status=question,
        fallback_model=fallback,
    )


def _constraint(error: IntegrityError) -> str | None:
    violation = error.__cause__
    return violation.diag.constraint_name if isinstance(violation, psycopg.Error) else None


def _step(statement: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def _request(snapshot: ContextSnapshot | None, blocks: Iterable[ContextBlock]) -> dict[str, Any]:
    return {
        "snapshots": _json([_row(snapshot)] if snapshot else []),
        "blocks": _json([_row(block) for block in blocks]),
    }


def _instance[M: Model](model: type[M], values: Iterator[Any]) -> M:
    """An instance of the next columns of a row."""
    names = [field.attname for field in model._meta.concrete_fields]
    return model.from_db(connection.alias, names, list(islice(values, len(names))))


def _row(instance: Model) -> dict[str, Any]:
    """The columns that have a value; PostgreSQL takes the others as absent."""
    values = ((str(field.column), getattr(instance, field.attname)) for field in instance._meta.concrete_fields)
    return {column: value for column, value in values if value is not None}


def _json(value: Any) -> Jsonb:
    return Jsonb(value, dumps=_dumps)


def _plain(value: Any) -> str:
    match value:
        case bytes():
            return f"\\x{value.hex()}"
        case datetime():
            return value.isoformat()
        case uuid.UUID():
            return str(value)
    raise TypeError(f"{type(value).__name__} has no column")


_dumps = json.JSONEncoder(default=_plain, ensure_ascii=False, separators=(",", ":")).encode
