"""Turns that came about elsewhere, stored at the end of a thread as if they had been said here."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from conversations import threads
from conversations.context.tokens.estimate import text_of
from conversations.errors import InvalidMessage, ReplyInProgress
from conversations.models import Message, Thread
from conversations.replies.cursor import ThreadCursor, place_of, session_after, turn_of
from conversations.runtime import clock, long_work
from conversations.runtime.text import clean_deep
from memory.index.index_turns import catch_up_if_possible

AT_ONCE = 500
MOVED = ("last_position", "message_count", "updated_at", "session_started_at", "away_since")
"""What a turn at its end changes of a thread."""
AppendedTurn = tuple[str, list[dict[str, Any]]]
"""Role and content blocks."""


def append(
    *, user: User, thread_id: uuid.UUID | str | None, turns: Sequence[AppendedTurn], assistant: str | None = None
) -> uuid.UUID:
    """Store turns at the end of a thread, all or none; ``None`` opens one. Returns the thread's id.

    Raises ``ThreadNotFound``, ``InvalidMessage``, and ``ReplyInProgress`` while a reply runs in the thread.
    """
    turns_blocks = [
        (Message.Role(role), clean_deep(blocks)) for role, blocks in turns
    ]  # texts that are clean are not copied
    if not turns_blocks:
        raise InvalidMessage("There is nothing to store: these messages hold no prompt and no answer.")
    with transaction.atomic():
        thread = _store(user, thread_id, assistant, text_of(turns_blocks[0][1]), turns_blocks)
    catch_up_if_possible(user.pk)
    return thread.id


def _store(
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    text: str,
    turns_blocks: Sequence[tuple[Message.Role, list[dict[str, Any]]]],
) -> Thread:
    cursor = _locked(place_of(user, thread_id, assistant, text), user, thread_id)
    thread, now = cursor.thread, clock.now()
    session = session_after(cursor, now)
    before, total = cursor.before, cursor.token_total
    rows: list[Message] = []
    for role, blocks in turns_blocks:
        long_work.check()
        row = turn_of(role, blocks, now)
        thread.last_position, thread.message_count = thread.last_position + 1, thread.message_count + 1
        total += row.token_count
        row.thread, row.user_id = thread, thread.user_id
        row.parent_id, row.token_total = before, total
        row.position, row.depth = thread.last_position, thread.message_count
        before = row.id
        rows.append(row)
    thread.updated_at, thread.session_started_at, thread.away_since = now, session.started_at, session.away_since
    if cursor.is_new:
        thread.save(force_insert=True)
    else:
        threads.of(user).filter(id=thread.id).update(**{name: getattr(thread, name) for name in MOVED})
    Message.objects.bulk_create(rows, batch_size=AT_ONCE)
    return thread


def _locked(cursor: ThreadCursor, user: User, thread_id: uuid.UUID | str | None) -> ThreadCursor:
    """The same place, looked at again once nobody else can write to the thread."""
    if cursor.is_new:
        return cursor
    Thread.objects.select_for_update(no_key=True).get(user=user, id=cursor.thread.id)
    cursor = place_of(user, thread_id, None, "")
    if cursor.running:
        raise ReplyInProgress(reply=str(cursor.running))
    return cursor
