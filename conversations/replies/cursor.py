"""Where the next turn of a thread goes: looked at in one statement, and nothing is locked."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from conversations import threads
from conversations.accounts.group_access import ALL, Access, access_by, installation
from conversations.context.gather.history import PathEnd
from conversations.context.sessions import Session, session_at
from conversations.context.tokens.estimate import text_of, turn_tokens
from conversations.errors import InvalidMessage, ThreadNotFound
from conversations.models import Assistant, Message, Thread, more_than_text
from conversations.runtime import clock
from conversations.runtime.db import columns_of, instance_of, run
from conversations.runtime.sql_files import read_statements
from conversations.threads import projects, titles
from memory.scope import MemoryScope, scope_in, scope_of

COLUMNS = f"{columns_of('thread', Thread)}, {columns_of('assistant', Assistant)}"
SQL = read_statements(__file__)
LOOK = f"SELECT {COLUMNS}, {SQL['place']}"


@dataclass(frozen=True, kw_only=True)
class ThreadCursor:
    """Where a turn goes: after ``before``, the last turn of the path, in a thread that may not be stored yet.

    ``last_reply`` made that turn. ``question`` is the newest user turn of the path, ``duplicate`` the turn that has this
    ``client_message_id`` already. ``forgettings`` is how often something of the user's was forgotten by then. ``offered`` are
    the models that staff ticked for the assistant, as ``provider/name``, where the thread has one of its own. ``end`` is
    where the path is to end first, where that is not where it ends now; ``history`` ends what is told before the turn then.
    ``memory``: whose is open to the thread. ``access``: what the server and the person's groups allow.
    """

    thread: Thread
    is_new: bool = False
    running: uuid.UUID | None = None
    duplicate: uuid.UUID | None = None
    before: uuid.UUID | None = None
    question: uuid.UUID | None = None
    last_reply: uuid.UUID | None = None
    token_total: int = 0
    last_active: datetime | None = None
    last_session: Session | None = None
    forgettings: int = 0
    offered: Sequence[str] = ()
    end: PathEnd | None = None
    history: PathEnd | None = None
    memory: MemoryScope
    access: Access = ALL


def place_of(
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    text: str,
    client_message_id: str | None = None,
    thread_model: str = "",
    project: uuid.UUID | str | None = None,
) -> ThreadCursor:
    """Where the next turn goes; ``None`` as the thread's id opens one, with ``thread_model`` and in a project. Raises
    ``ThreadNotFound``, ``ProjectNotFound``, ``ModelNotOffered``."""
    if thread_id is not None:
        return place_in(user, threads.identifier(thread_id, ThreadNotFound), client_message_id)
    if client_message_id and (known := threads.of(user).filter(opened_by=client_message_id).first()):
        return place_in(user, known.id, client_message_id)
    [(forgettings, access_lists)] = run(SQL["opening"], user=user.pk)
    forgettings, access = forgettings or 0, _access(access_lists)
    thread = threads.unsaved(
        user=user,
        assistant=threads.assistant_named(assistant, access),
        title=titles.title_from(text),
        opened_by=client_message_id,
    )
    projects.opened_in(
        projects.project_of(user, project), thread, assistant=assistant, model=thread_model, access=access
    )
    memory = scope_of(user.pk, thread.project_id)
    last = threads.of(user).filter(message_count__gt=0).order_by("-updated_at", "-id").first()
    if last is None:
        return ThreadCursor(thread=thread, is_new=True, forgettings=forgettings, memory=memory, access=access)
    return ThreadCursor(
        thread=thread,
        is_new=True,
        last_active=last.updated_at,
        last_session=session_of(last),
        forgettings=forgettings,
        memory=memory,
        access=access,
    )


def place_in(user: User, thread_id: uuid.UUID, client_message_id: str | None = None) -> ThreadCursor:
    """The same in a thread that there is. Raises ``ThreadNotFound``."""
    with connection.cursor() as cursor:
        cursor.execute(LOOK, {"user": user.pk, "thread": thread_id, "sent": client_message_id})
        row = cursor.fetchone()
    if row is None:
        raise ThreadNotFound
    values = iter(row)
    thread, assistant = instance_of(Thread, values), instance_of(Assistant, values)
    assert thread and assistant
    thread.assistant = assistant
    (
        running,
        duplicate,
        before,
        question,
        token_total,
        last_reply,
        *recent,
        forgettings,
        offered,
        own_projects,
        access_lists,
    ) = values
    last_active, started_at, away_since = recent
    return ThreadCursor(
        thread=thread,
        running=running,
        duplicate=duplicate,
        before=before,
        question=question,
        last_reply=last_reply,
        token_total=token_total or 0,
        last_active=last_active,
        last_session=Session(started_at=started_at or last_active, away_since=away_since) if last_active else None,
        forgettings=forgettings or 0,
        offered=offered or (),
        memory=scope_in(
            thread.project_id, ((uuid.UUID(id), *switches) for id, *switches in json.loads(own_projects or "[]"))
        ),
        access=_access(access_lists),
    )


def _access(lists: str | None) -> Access:
    return access_by(json.loads(lists or "[]"), installation())


def to_edit(cursor: ThreadCursor, message_id: Any) -> ThreadCursor:
    """Where another version of a message goes: after the turn that the message follows. Raises ``InvalidMessage``,
    ``MessageNotFound``."""
    if cursor.is_new or not isinstance(message_id, str | uuid.UUID):
        raise InvalidMessage("`edits` must be the id of a message of this thread.", field="edits")
    edited = threads.message_in(cursor.thread, message_id)
    if edited.role != Message.Role.USER:
        raise InvalidMessage("Only a message of yours can be edited. An answer can be asked for again.", field="edits")
    parent = threads.turn_before(edited)
    return _ending_with(cursor, parent, history=parent)


def to_answer_again(cursor: ThreadCursor, question: Message) -> ThreadCursor:
    """Where another answer goes, to a message that is not the newest of the path."""
    return _ending_with(cursor, question, history=threads.turn_before(question))


def _ending_with(cursor: ThreadCursor, end: Message | None, *, history: Message | None) -> ThreadCursor:
    cursor.thread.message_count = end.depth if end else 0
    return replace(
        cursor,
        before=end.id if end else None,
        token_total=end.token_total if end else 0,
        last_reply=history.reply_id if history else None,
        end=PathEnd(turn=end.id if end else None),
        history=PathEnd(turn=history.id if history else None),
    )


def next_turn(cursor: ThreadCursor, blocks: list[dict[str, Any]], client_message_id: str | None) -> Message:
    """The user turn at the end of the thread, not stored yet."""
    message = turn_of(Message.Role.USER, blocks, clock.now())
    message.thread, message.parent_id, message.client_message_id = cursor.thread, cursor.before, client_message_id
    message.user_id = cursor.thread.user_id
    message.position, message.depth = cursor.thread.last_position + 1, cursor.thread.message_count + 1
    message.token_total = cursor.token_total + message.token_count
    return message


def turn_of(role: Message.Role, blocks: list[dict[str, Any]], at: datetime) -> Message:
    """A turn that has no place yet."""
    text = text_of(blocks)
    return Message(
        role=role.value,
        content=more_than_text(blocks, text),
        text=text,
        token_count=turn_tokens(blocks),
        created_at=at,
    )


def session_of(thread: Thread) -> Session:
    """The session of the thread's newest user turn."""
    return Session(started_at=thread.session_started_at or thread.updated_at, away_since=thread.away_since)


def session_after(cursor: ThreadCursor, now: datetime) -> Session:
    """The session that a turn of the user at ``now`` belongs to."""
    return session_at(now, last_active=cursor.last_active, last_session=cursor.last_session)
