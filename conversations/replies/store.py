"""The database steps of a reply. Each is one short transaction; the model is called between them, never within.

Locks are taken in one order everywhere: the thread's row, then the reply's.
"""

import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from conversations import threads, wire
from conversations.context import snapshots
from conversations.context.builder import Context, build_context
from conversations.context.tokens import text_of, turn_tokens
from conversations.context.windowing import Turn
from conversations.db import read_only
from conversations.errors import CannotRetry, ReplyInProgress, ThreadNotFound, error_object
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread, text_blocks
from conversations.providers import get_provider
from conversations.providers.base import Provider, Usage
from conversations.replies import events as eventlog
from conversations.replies.events import LEASE, OWNER, Event
from conversations.sessions import Session, session_at


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A user turn that is stored, and the reply that it gets."""

    thread: Thread
    message: Message
    reply: Reply
    saved: Event | None
    created_thread: bool = False
    repeated: bool = False


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a reply ended."""

    status: Reply.Status
    message_status: Message.Status = Message.Status.COMPLETE
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    error: dict[str, Any] | None = None
    provider_request_id: str = ""
    first_token_ms: int | None = None


@transaction.atomic
def open_turn(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    blocks: list[dict[str, Any]],
    client_message_id: str | None,
) -> Opened:
    """Store the user turn and its reply (T4). ``None`` creates a thread; no other id ever does (T5).

    A ``client_message_id`` that is known answers with what it made then. Raises ``ThreadNotFound``, ``ReplyInProgress``.
    """
    created = False
    if thread_id is None:
        thread, created = _new_thread(user, assistant, text_of(blocks), client_message_id)
    else:
        thread = threads.get(user, thread_id)
    thread = _locked(thread.id)
    if client_message_id and (
        known := Message.objects.filter(thread=thread, client_message_id=client_message_id).first()
    ):
        reply = Reply.objects.filter(user_message=known).latest("created_at")
        return Opened(thread=thread, message=known, reply=reply, saved=None, repeated=True)
    refuse_while_running(thread)
    message = _append(
        thread, role=Message.Role.USER, blocks=blocks, parent=_last_turn(thread), client_message_id=client_message_id
    )
    reply, saved = _open_reply(thread, message)
    return Opened(thread=thread, message=message, reply=reply, saved=saved, created_thread=created)


@transaction.atomic
def open_retry(*, user: User, reply_id: uuid.UUID | str) -> Opened:
    """Another reply for the same user turn. Raises ``ReplyNotFound``, ``ReplyInProgress``, ``CannotRetry``."""
    before = threads.reply_of(user, reply_id)
    thread = _locked(before.thread_id)
    refuse_while_running(thread)
    message = Message.objects.get(id=before.user_message_id)
    last = _last_turn(thread)
    if last is None or message.id not in (last.id, last.parent_id):
        raise CannotRetry
    reply, saved = _open_reply(thread, message)
    return Opened(thread=thread, message=message, reply=reply, saved=saved)


def refuse_while_running(thread: Thread) -> None:
    """At most one reply runs in a thread, which must be locked. One that a dead process left behind is ended here."""
    running = Reply.objects.filter(thread=thread, status=Reply.Status.RUNNING).first()
    if running is None:
        return
    if not interrupt(running.id):
        raise ReplyInProgress(reply=str(running.id))
    thread.refresh_from_db(fields=["last_position", "message_count"])


def build_and_record(*, message_id: uuid.UUID, reply_id: uuid.UUID) -> tuple[ContextSnapshot, Context]:
    """The context of the reply's request, recorded before the model is called (S1).

    Raises ``Reply.DoesNotExist`` where the reply has ended.
    """
    message = Message.objects.select_related("thread__assistant").get(id=message_id)
    assistant = message.thread.assistant
    with read_only():
        context = build_context(
            assistant=assistant,
            provider=_provider_of(assistant),
            user_id=message.thread.user_id,
            thread_id=message.thread_id,
            newest=Turn.of(message),
            session=_session_of(message.thread),
            at=timezone.now(),
        )
    # The task that asked for this may have been stopped meanwhile, while this thread went on: no snapshot after the end.
    with transaction.atomic():
        _locked(message.thread_id)
        reply = Reply.objects.get(id=reply_id, status=Reply.Status.RUNNING)
        return snapshots.record(context, reply), context


def preview_context(
    *, user: User, thread_id: uuid.UUID | str | None, assistant: str | None, blocks: list[dict[str, Any]]
) -> dict[str, Any]:
    """The snapshot that a message would get. Calls no model and writes nothing."""
    with read_only():
        thread = threads.get(user, thread_id) if thread_id else None
        chosen = thread.assistant if thread else threads.assistant_named(assistant)
        now = timezone.now()
        newest = Turn(
            position=thread.last_position + 1 if thread else 1,
            depth=thread.message_count + 1 if thread else 1,
            role=Message.Role.USER.value,
            content=blocks,
            token_count=turn_tokens(blocks),
            created_at=now,
        )
        context = build_context(
            assistant=chosen,
            provider=_provider_of(chosen),
            user_id=user.id,
            thread_id=thread.id if thread else None,
            newest=newest,
            session=_next_session(user.id, now),
            at=now,
        )
        return snapshots.preview(context, thread.id if thread else None)


@transaction.atomic
def close(
    *,
    reply_id: uuid.UUID,
    owner: str | None,
    outcome: Outcome,
    text: str | None = None,
    events: list[Event] = [],  # noqa: B006
) -> list[Event]:
    """End a reply: its last events, the assistant turn, the snapshot and the reply itself, all or nothing.

    ``owner`` is the process that runs it, or ``None`` for whoever finds it left behind; ``text`` is read from the event log
    where it isn't given. Returns the events that were appended, the ending last; none when the reply had ended already or
    belongs to somebody else.
    """
    thread = _locked(Reply.objects.values_list("thread_id", flat=True).get(id=reply_id))
    now = timezone.now()
    mine = Reply.objects.select_for_update().filter(id=reply_id, status=Reply.Status.RUNNING)
    reply = (mine.filter(owner=owner) if owner else mine.filter(lease_until__lte=Now())).first()
    if reply is None:
        return []
    reply.status, reply.stop_reason, reply.ended_at = outcome.status, outcome.stop_reason, now
    reply.usage, reply.error = asdict(outcome.usage), outcome.error
    said = eventlog.text_of(reply_id) if text is None else text
    message = _store_answer(thread, reply, said, outcome) if said else None
    last = events[-1].seq if events else eventlog.last_seq(reply_id)
    ending = eventlog.ending(reply, message, seq=last + 1)
    eventlog.append([*events, ending])
    reply.save(update_fields=["status", "stop_reason", "ended_at", "usage", "error"])
    ContextSnapshot.objects.filter(reply=reply, status=ContextSnapshot.Status.PENDING).update(
        status=outcome.status.value,
        stop_reason=outcome.stop_reason,
        usage=reply.usage,
        error=outcome.error,
        ended_at=now,
        provider_request_id=outcome.provider_request_id,
        first_token_ms=outcome.first_token_ms,
    )
    return [*events, ending]


def interrupt(reply_id: uuid.UUID) -> list[Event]:
    """End a reply whose process is gone. The text so far is kept and a retry is offered."""
    return close(reply_id=reply_id, owner=None, outcome=interruption())


def stopped() -> Outcome:
    return Outcome(status=Reply.Status.STOPPED, message_status=Message.Status.STOPPED)


def interruption() -> Outcome:
    error = error_object(
        type="model",
        code="interrupted",
        message="The server was restarted while it replied. What came so far is kept; retry for a whole answer.",
        details={"retryable": True},
    )
    return Outcome(status=Reply.Status.INTERRUPTED, message_status=Message.Status.INTERRUPTED, error=error)


def left_behind() -> list[uuid.UUID]:
    """Running replies whose lease has run out."""
    running = Reply.objects.filter(status=Reply.Status.RUNNING, lease_until__lte=Now())
    return list(running.values_list("id", flat=True))


def request_stop(*, user: User, reply_id: uuid.UUID | str) -> Reply:
    """Ask whichever process runs the reply to stop it. A reply that has ended stays as it is."""
    reply = threads.reply_of(user, reply_id)
    Reply.objects.filter(id=reply.id, status=Reply.Status.RUNNING).update(stop_requested_at=timezone.now())
    return reply


def has_ended(reply_id: uuid.UUID) -> bool:
    return not Reply.objects.filter(id=reply_id, status=Reply.Status.RUNNING).exists()


def newest_reply(thread_id: uuid.UUID) -> tuple[uuid.UUID, bool] | None:
    """Id of the thread's newest reply, and whether it is running."""
    found = Reply.objects.filter(thread_id=thread_id).order_by("-created_at").values_list("id", "status").first()
    return (found[0], found[1] == Reply.Status.RUNNING) if found else None


def _provider_of(assistant: Assistant) -> Provider:
    return get_provider(assistant.provider or settings.OPENBOOK_PROVIDER)


def _session_of(thread: Thread) -> Session:
    """The session of the thread's newest user turn."""
    return Session(started_at=thread.session_started_at or thread.updated_at, away_since=thread.away_since)


def _next_session(user_id: int, now: datetime) -> Session:
    """The session that a turn of the user at ``now`` belongs to."""
    last = Thread.objects.filter(user_id=user_id, message_count__gt=0).order_by("-updated_at", "-id").first()
    if last is None:
        return session_at(now, last_active=None, last_session=None)
    return session_at(now, last_active=last.updated_at, last_session=_session_of(last))


def _new_thread(user: User, assistant: str | None, text: str, opened_by: str | None) -> tuple[Thread, bool]:
    if opened_by and (known := threads.of(user).filter(opened_by=opened_by).first()):
        return known, False
    chosen = threads.assistant_named(assistant)
    try:
        with transaction.atomic():
            title = threads.title_from(text)
            return threads.create(user=user, assistant=chosen, title=title, opened_by=opened_by), True
    except IntegrityError:
        # The same message was sent twice at the same time; the other one was first.
        return threads.of(user).get(opened_by=opened_by), False


def _locked(thread_id: uuid.UUID) -> Thread:
    """The thread, locked: one writer at a time, so that order is total (T2)."""
    found = Thread.objects.select_for_update(of=("self",)).select_related("assistant").filter(id=thread_id).first()
    if found is None:
        raise ThreadNotFound
    return found


def _last_turn(thread: Thread) -> Message | None:
    return Message.objects.filter(thread=thread, is_active=True).order_by("-position").first()


def _append(
    thread: Thread,
    *,
    role: Message.Role,
    blocks: list[dict[str, Any]],
    parent: Message | None,
    status: Message.Status = Message.Status.COMPLETE,
    client_message_id: str | None = None,
    reply: Reply | None = None,
) -> Message:
    """One row at the end of the thread, which must be locked."""
    now = timezone.now()
    tokens = turn_tokens(blocks)
    message = Message.objects.create(
        thread=thread,
        position=thread.last_position + 1,
        depth=parent.depth + 1 if parent else 1,
        role=role,
        content=blocks,
        text=text_of(blocks),
        status=status,
        token_count=tokens,
        token_total=tokens + (parent.token_total if parent else 0),
        created_at=now,
        client_message_id=client_message_id,
        parent=parent,
        reply=reply,
    )
    if role == Message.Role.USER:
        session = _next_session(thread.user_id, now)
        thread.session_started_at, thread.away_since = session.started_at, session.away_since
    thread.last_position = message.position
    thread.message_count = message.depth
    thread.updated_at = now
    thread.save(update_fields=["last_position", "message_count", "updated_at", "session_started_at", "away_since"])
    return message


def _open_reply(thread: Thread, message: Message) -> tuple[Reply, Event]:
    now = timezone.now()
    reply = Reply.objects.create(
        thread=thread, user_message=message, owner=OWNER, lease_until=Now() + LEASE, created_at=now
    )
    data = {
        "thread": str(thread.id),
        "title": thread.title,
        "message": wire.message_object(message, wire.reply_object(reply)),
    }
    saved = Event(reply=reply.id, seq=1, type="message.saved", data=data, at=now)
    eventlog.append([saved])
    return reply, saved


def _store_answer(thread: Thread, reply: Reply, text: str, outcome: Outcome) -> Message:
    """The assistant turn. It takes the place of what an earlier attempt left."""
    question = Message.objects.get(id=reply.user_message_id)
    Message.objects.filter(parent=question, is_active=True).update(is_active=False)
    return _append(
        thread,
        role=Message.Role.ASSISTANT,
        blocks=text_blocks(text),
        parent=question,
        status=outcome.message_status,
        reply=reply,
    )
