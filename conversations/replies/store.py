"""The database steps of a reply: what is stored when, and by whom. The model is called between them, never within.

Nothing is locked while a context is built. What is written rests on the thread as it was looked at; where somebody else was
faster, nothing is stored and it is looked at again. Rows are locked in one order: the thread's, then the reply's.
"""

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.db.models import Q, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from artifacts import services
from artifacts.models import Preset
from artifacts.sources.preset import instruction
from conversations import threads
from conversations.accounts import allowances
from conversations.accounts.limits import by_default
from conversations.context import snapshot_api, snapshots
from conversations.context.builder import Context, build_context, continue_context, rewriting_context
from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.fitting import Section
from conversations.context.rewriting import NOT_ASKED, Rewriting
from conversations.context.sessions import Session, session_at
from conversations.context.token_estimate import text_of, turn_tokens
from conversations.context.windowing import Turn
from conversations.errors import (
    CannotContinue,
    CannotRetry,
    NothingToWorkFrom,
    ReplyInProgress,
    ThreadNotFound,
    error_object,
)
from conversations.models import ApiToken, ContextSnapshot, Message, Reply, Thread, more_than_text
from conversations.providers import get_provider, refusals
from conversations.providers.base import ModelCall, Provider, Usage
from conversations.replies import events as eventlog
from conversations.replies import retries, steps
from conversations.replies.events import LEASE, LONGEST_LEASE, OWNER, Event
from conversations.replies.steps import ThreadCursor
from conversations.replies.transcript import ReplyTranscript, saved_blocks
from conversations.runtime import telemetry
from conversations.runtime.db import read_only
from conversations.runtime.request_ids import current_request_id
from conversations.tools import tools_for
from memory.consolidation import invalidation
from memory.sources import backend_ranking

log = logging.getLogger("openbook.replies")

LOOKS = 5
"""How often a thread is looked at before a sender hears that others are writing to it."""

Recorded = tuple[ContextSnapshot, Context]


@dataclass(frozen=True, kw_only=True)
class OpenedReply:
    """A user turn that is stored – or a preset that is to be carried out silently –, and the reply that it gets.

    ``recorded`` is its first request, ``None`` where that is still to be built. ``continues`` is the turn that it goes on with.
    """

    thread: Thread
    message: Message | None
    reply: Reply
    saved: Event | None
    preset: Preset | None = None
    recorded: Recorded | None = None
    terms: CallerOptions = NO_OPTIONS
    continues: Message | None = None
    created_thread: bool = False
    repeated: bool = False

    @property
    def question(self) -> Message:
        """The user turn, of a reply that answers one."""
        assert self.message
        return self.message


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a reply ended. ``request_error`` is what its last request is told to have failed with where the reply has not."""

    status: Reply.Status
    message_status: Message.Status = Message.Status.COMPLETE
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    error: dict[str, Any] | None = None
    request_error: dict[str, Any] | None = None
    provider_request_id: str = ""
    provider_message_id: str = ""
    diagnostics: Mapping[str, Any] | None = None
    stop_details: Mapping[str, Any] | None = None
    thinking_ms: int | None = None
    first_token_ms: int | None = None

    def after(self, call: ModelCall) -> "Outcome":
        """With all that the provider told in the call, be it whole or not."""
        thought = call.thinking_seconds
        outcome = replace(
            self,
            usage=call.usage,
            provider_request_id=call.so_far.request_id,
            provider_message_id=call.so_far.message_id,
            thinking_ms=None if thought is None else round(thought * 1000),
            first_token_ms=call.first_token_ms,
        )
        if call.finished is None:
            return outcome
        return replace(
            outcome,
            stop_reason=call.finished.stop_reason,
            provider_request_id=call.finished.request_id,
            provider_message_id=call.finished.message_id,
            diagnostics=call.finished.diagnostics,
            stop_details=call.finished.stop_details,
        )

    @property
    def question_status(self) -> Message.Status | None:
        """What becomes of the turn that was answered: one that was refused leaves later contexts, until it is answered."""
        if self.stop_reason == refusals.STOP_REASON:
            return Message.Status.REFUSED
        return Message.Status.COMPLETE if self.status is Reply.Status.COMPLETED else None

    @property
    def response(self) -> dict[str, Any]:
        """How the request ended and what the provider told beside the answer, by column of the snapshot."""
        return {
            "stop_reason": self.stop_reason,
            "usage": _nonzero(self.usage),
            "error": self.request_error or self.error,
            "provider_request_id": self.provider_request_id,
            "provider_message_id": self.provider_message_id,
            "diagnostics": self.diagnostics,
            "stop_details": self.stop_details,
            "thinking_ms": self.thinking_ms,
            "first_token_ms": self.first_token_ms,
        }


def open_turn(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    blocks: list[dict[str, Any]],
    client_message_id: str | None,
    options: CallerOptions = NO_OPTIONS,
    token: ApiToken | None = None,
) -> OpenedReply:
    """Store the user turn, its reply and its first request (T4, S1). ``None`` creates a thread; no other id ever does (T5).

    A ``client_message_id`` that is known answers with what it made then. ``token`` is the one that asked, if it was not a
    page; its own limits count too. Raises ``ThreadNotFound``, ``ReplyInProgress``, ``RateLimited``.
    """
    for _ in range(LOOKS):
        cursor = place_of(user, thread_id, assistant, text_of(blocks), client_message_id)
        if cursor.duplicate:
            return _repeated(cursor, cursor.duplicate)
        if cursor.running:
            _end_left_behind(cursor.running)
        elif opened := _open(cursor, next_turn(cursor, blocks, client_message_id), options, token):
            return opened
    raise ReplyInProgress


def open_retry(
    *,
    user: User,
    reply_id: uuid.UUID | str,
    model: str = "",
    options: CallerOptions = NO_OPTIONS,
    token: ApiToken | None = None,
) -> OpenedReply:
    """Another reply for the same user turn, or another attempt to go on with one. ``model`` is asked in place of the
    assistant's. Raises ``ReplyNotFound``, ``ReplyInProgress``, ``CannotRetry``, ``ModelNotOffered``."""
    before = threads.reply_of(user, reply_id)
    options = retries.after(before, options, model)
    if before.user_message_id is None:
        return open_preset(
            user=user, thread_id=before.thread_id, slug=before.preset, click=None, options=options, token=token
        )
    turn = retries.turn_to_go_on_with(before)
    for _ in range(LOOKS):
        cursor = _place_in(user, before.thread_id)
        if cursor.running:
            _end_left_behind(cursor.running)
        elif cursor.question != before.user_message_id:
            raise CannotRetry
        elif opened := _open_again(cursor, before.user_message_id, options, token, continues=turn):
            return opened
    raise ReplyInProgress


def open_continuation(
    *, user: User, reply_id: uuid.UUID | str, options: CallerOptions = NO_OPTIONS, token: ApiToken | None = None
) -> OpenedReply:
    """A reply that goes on where this one was cut short. Raises ``ReplyNotFound``, ``ReplyInProgress``, ``CannotContinue``."""
    before = threads.reply_of(user, reply_id)
    turn = Message.objects.filter(reply=before, is_active=True, status=Message.Status.INCOMPLETE).first()
    if turn is None or before.user_message_id is None:
        raise CannotContinue
    options = retries.after(before, options)
    for _ in range(LOOKS):
        cursor = _place_in(user, before.thread_id)
        if cursor.running:
            _end_left_behind(cursor.running)
        elif cursor.before != turn.id:
            raise CannotContinue
        elif opened := _open_again(cursor, before.user_message_id, options, token, continues=turn):
            return opened
    raise ReplyInProgress


def open_preset(
    *,
    user: User,
    thread_id: uuid.UUID | str,
    slug: str,
    click: str | None,
    options: CallerOptions = NO_OPTIONS,
    token: ApiToken | None = None,
) -> OpenedReply:
    """A reply that makes the preset's artifact of the thread. Raises ``ThreadNotFound``, ``PresetNotFound``,
    ``NothingToWorkFrom``, ``ReplyInProgress``."""
    thread_id = threads.identifier(thread_id, ThreadNotFound)
    for _ in range(LOOKS):
        cursor = _place_in(user, thread_id)
        if click and (reply := Reply.objects.filter(thread=cursor.thread, client_id=click).first()):
            return OpenedReply(thread=cursor.thread, message=None, reply=reply, saved=None, repeated=True)
        preset = threads.preset_of(cursor.thread, slug)
        if not cursor.before:
            raise NothingToWorkFrom
        if cursor.running:
            running = Reply.objects.get(id=cursor.running)
            if running.preset == slug:  # the same button once more
                return OpenedReply(thread=cursor.thread, message=None, reply=running, saved=None, repeated=True)
            _end_left_behind(cursor.running)
        elif opened := _open_preset(cursor, preset, click, options, token):
            return opened
    raise ReplyInProgress


def question_of(opened: OpenedReply) -> backend_ranking.Question | None:
    """What another memory service has to be asked before the next request of a reply can be built."""
    about = opened.message.text if opened.message else ""
    return _still_to_ask(opened.thread, _session_of(opened.thread), about)


def build_anew(
    before: ContextSnapshot, ended: Outcome, opened: OpenedReply, context: Context, options: CallerOptions
) -> Recorded:
    """Store how a request ended whose reply asks anew, on other terms, and record the request that it asks with.

    Raises ``Reply.DoesNotExist`` where the reply has ended.
    """
    end_request(before, ended)
    return build_and_record(replace(opened, terms=options), query=context.rewriting, round=before.round + 1)


def build_and_record(opened: OpenedReply, *, query: Rewriting | None = None, round: int = 1) -> Recorded:
    """The next request of a reply, recorded before the model is called (S1): the one that asks for a contextualised query
    where a model has to be asked first, else the one that is to be answered, with the ``query`` that came of the former.

    Raises ``Reply.DoesNotExist`` where the reply has ended.
    """
    thread = Thread.objects.select_related("assistant").get(id=opened.thread.id)
    newest = Turn.of(opened.message) if opened.message else instruction(thread, opened.preset)
    context = _next_request(
        ThreadCursor(thread=thread),
        newest,
        session=_session_of(thread),
        query=query,
        silent=opened.message is None,
        options=opened.terms,
    )
    return _record(snapshots.of_reply(context, opened.reply, round=round), context)


def next_round(before: ContextSnapshot, ended: Outcome, context: Context, sections: Sequence[Section]) -> Recorded:
    """Store how a request ended whose reply goes on, and record the next one, after this was said and done.

    Raises ``Reply.DoesNotExist`` where the reply has ended.
    """
    end_request(before, ended)
    further = continue_context(context, sections, at=timezone.now())
    reply = Reply(id=before.reply_id, thread_id=before.thread_id, user_message_id=before.message_id)
    return _record(snapshots.of_reply(further, reply, round=before.round + 1), further)


def _record(snapshot: ContextSnapshot, context: Context) -> Recorded:
    # The task that asked for this may have been stopped meanwhile, while this thread went on: no snapshot after the end.
    if not steps.record(snapshot=snapshot, blocks=snapshots.blocks(context, snapshot.thread_id), lease=LEASE):
        raise Reply.DoesNotExist
    return snapshot, context


@dataclass(frozen=True, kw_only=True)
class PreparedContext:
    """The context of a message that is not stored, and what is known of the place where it would go."""

    context: Context
    thread_id: uuid.UUID | None
    begins_session: bool


def upcoming(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    blocks: list[dict[str, Any]],
    options: CallerOptions = NO_OPTIONS,
    for_another_model: bool = False,
) -> PreparedContext:
    """What a message would be answered from. Calls no model and writes nothing."""
    cursor = place_of(user, thread_id, assistant, text_of(blocks))
    message = next_turn(cursor, blocks, None)
    session = session_after(cursor, message.created_at)
    question = _still_to_ask(cursor.thread, session, message.text)
    if question and backend_ranking.may_be_asked(question):
        backend_ranking.ask_and_wait(question)
    return PreparedContext(
        context=_build(
            cursor,
            replace(Turn.of(message), id=None),
            session=session,
            options=options,
            for_another_model=for_another_model,
        ),
        thread_id=None if cursor.is_new else cursor.thread.id,
        begins_session=session.started_at == message.created_at,
    )


def preview_context(
    *, user: User, thread_id: uuid.UUID | str | None, assistant: str | None, blocks: list[dict[str, Any]]
) -> dict[str, Any]:
    """The snapshot that a message would get. Calls no model and writes nothing."""
    prepared = upcoming(user=user, thread_id=thread_id, assistant=assistant, blocks=blocks)
    return snapshot_api.preview(prepared.context, prepared.thread_id)


def end_request(snapshot: ContextSnapshot, outcome: Outcome) -> None:
    """Store how a request ended whose reply goes on, or that is of no reply."""
    ContextSnapshot.objects.filter(id=snapshot.id, status=ContextSnapshot.Status.PENDING).update(
        status=outcome.status.value,
        ended_at=timezone.now(),
        **outcome.response,
    )


def close(
    *,
    reply_id: uuid.UUID,
    owner: str | None,
    outcome: Outcome,
    transcript: ReplyTranscript | None = None,
    spent: Usage | None = None,
    events: list[Event] = [],  # noqa: B006
) -> list[Event]:
    """End a reply: its last events, the assistant turn, the snapshot and the reply itself, all or nothing.

    ``owner`` is the process that runs it, or ``None`` for whoever finds it left behind; what it said is read from the event
    log where it isn't given. ``spent`` is what its earlier rounds used. Returns the events that were appended, the ending
    last; none when the reply had ended already or belongs to somebody else.
    """
    now = timezone.now()
    blocks, going_on = _blocks_of(reply_id, transcript, outcome)
    answer = turn_of(Message.Role.ASSISTANT, blocks, now) if blocks else None
    reply = Reply(
        id=reply_id,
        status=outcome.status.value,
        stop_reason=outcome.stop_reason,
        usage=_nonzero(outcome.usage + spent if spent else outcome.usage),
        error=outcome.error,
        ended_at=now,
    )
    if answer:
        answer.reply, answer.status = reply, (going_on or outcome.message_status).value
    closed = steps.close(
        reply=reply,
        owner=owner,
        answer=answer,
        events=events,
        response=outcome.response,
        question_status=outcome.question_status,
        spent=allowances.spent(
            reply.status,
            reply.usage,
            stop_reason=reply.stop_reason,
            written=answer.token_count if answer else 0,
        ),
    )
    if closed is None:
        return []
    reply.thread_id, reply.user_message_id = closed.thread, closed.user_message
    if answer and closed.position:
        answer.position = closed.position
    question = outcome.question_status or closed.question_status
    if closed.user_message and (question != closed.question_status or (answer and _has_called(answer))):
        _amend(closed.thread, closed.user_message)
    ending = eventlog.ending(
        reply,
        answer,
        closed.request,
        seq=closed.seq,
        question_status=question,
        fallback_model=closed.fallback_model,
    )
    return [*events, ending]


def _has_called(answer: Message) -> bool:
    return any(block["type"] == "tool_use" for block in answer.blocks)


def _amend(thread_id: uuid.UUID, question_id: uuid.UUID) -> None:
    """What was noted of the turn while it had another answer, or none. The reply has ended, whatever becomes of this."""
    try:
        invalidation.answered_anew(thread_id, question_id)
    except DatabaseError:
        log.exception("can't amend the notes", extra={"thread_id": str(thread_id)})


def _blocks_of(
    reply_id: uuid.UUID, transcript: ReplyTranscript | None, outcome: Outcome
) -> tuple[list[dict[str, Any]], Message.Status | None]:
    """The content of the assistant turn that a reply leaves, nothing where it said and did nothing, or was silent. With its
    status, where it adds nothing to what it was to go on with: then that is as cut short as it was.

    What it saved is told by the turn whatever happened in between: else it would be asked for and made again (F4).
    """
    if transcript is not None and outcome.status is Reply.Status.COMPLETED and not transcript.artifacts:
        return transcript.content, None
    reply = Reply.objects.get(id=reply_id)
    if reply.preset:
        return [], None
    if transcript is None:
        before = Message.objects.filter(reply=reply.continues_id).first() if reply.continues_id else None
        text = eventlog.text_of(reply_id)
        transcript = (
            ReplyTranscript.of(text.removeprefix(before.text), before=before.blocks)
            if before
            else ReplyTranscript.of(text)
        )
    known_versions = {(artifact["id"], artifact["version"]) for artifact in transcript.artifacts}
    versions = services.made_by(reply_id, reply.thread_id)
    lost = (version for version in versions if (str(version.artifact_id), version.number) not in known_versions)
    blocks = [*transcript.content, *saved_blocks(lost)]
    adds_nothing = reply.continues_id is not None and not transcript.is_new and blocks == transcript.before
    return blocks, Message.Status.INCOMPLETE if adds_nothing else None


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


def left_behind() -> set[tuple[uuid.UUID, datetime]]:
    """Running replies whose lease has run out, and the lease."""
    is_out = Q(lease_until__lte=Now()) | Q(lease_until__gt=Now() + LONGEST_LEASE)
    return set(Reply.objects.filter(is_out, status=Reply.Status.RUNNING).values_list("id", "lease_until"))


def request_stop(*, user: User, reply_id: uuid.UUID | str) -> Reply:
    """Ask whichever process runs the reply to stop it. A reply that has ended stays as it is."""
    reply = threads.reply_of(user, reply_id)
    Reply.objects.filter(id=reply.id, status=Reply.Status.RUNNING).update(stop_requested_at=timezone.now())
    return reply


def has_ended(reply_id: uuid.UUID) -> bool:
    return not Reply.objects.filter(id=reply_id, status=Reply.Status.RUNNING).exists()


def newest_reply(thread_id: uuid.UUID) -> tuple[uuid.UUID, bool] | None:
    """Id of the reply that runs in the thread, else of the newest one to its newest question, and whether it is running."""
    if running := Reply.objects.filter(thread_id=thread_id, status=Reply.Status.RUNNING).values_list("id").first():
        return running[0], True
    turns = Message.objects.filter(thread_id=thread_id, is_active=True, role=Message.Role.USER).order_by("-position")
    replies = Reply.objects.filter(thread_id=thread_id, user_message=Subquery(turns.values("id")[:1]))
    found = replies.order_by("-created_at").values_list("id", "status").first()
    # It may have begun between the two questions.
    return (found[0], found[1] == Reply.Status.RUNNING) if found else None


def place_of(
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    text: str,
    client_message_id: str | None = None,
) -> ThreadCursor:
    """Where the next turn goes. Raises ``ThreadNotFound``."""
    if thread_id is not None:
        return _place_in(user, threads.identifier(thread_id, ThreadNotFound), client_message_id)
    if client_message_id and (known := threads.of(user).filter(opened_by=client_message_id).first()):
        return _place_in(user, known.id, client_message_id)
    thread = threads.unsaved(
        user=user,
        assistant=threads.assistant_named(assistant),
        title=threads.title_from(text),
        opened_by=client_message_id,
    )
    last = threads.of(user).filter(message_count__gt=0).order_by("-updated_at", "-id").first()
    if last is None:
        return ThreadCursor(thread=thread, is_new=True)
    return ThreadCursor(thread=thread, is_new=True, last_active=last.updated_at, last_session=_session_of(last))


def _place_in(user: User, thread_id: uuid.UUID, client_message_id: str | None = None) -> ThreadCursor:
    cursor = steps.look(user_id=user.id, thread_id=thread_id, client_message_id=client_message_id)
    if cursor is None:
        raise ThreadNotFound
    return cursor


def _repeated(cursor: ThreadCursor, message_id: uuid.UUID) -> OpenedReply:
    """What the same message made when it came first."""
    message = Message.objects.get(id=message_id)
    reply = Reply.objects.filter(thread=cursor.thread, user_message=message).latest("created_at")
    return OpenedReply(thread=cursor.thread, message=message, reply=reply, saved=None, repeated=True)


def _end_left_behind(reply_id: uuid.UUID) -> None:
    """At most one reply runs in a thread. One that a dead process left behind is ended here."""
    if not interrupt(reply_id):
        raise ReplyInProgress(reply=str(reply_id))


def _open(cursor: ThreadCursor, message: Message, options: CallerOptions, token: ApiToken | None) -> OpenedReply | None:
    """The turn with a reply and, where it can be built at once, the first request; ``None`` where others were faster."""
    session = session_after(cursor, message.created_at)
    context = _built_if_possible(cursor, message, session, options)
    opened = store_turn(cursor, message, session, context, token)
    return opened and replace(opened, terms=options)


def _open_again(
    cursor: ThreadCursor,
    question: uuid.UUID,
    options: CallerOptions,
    token: ApiToken | None,
    *,
    continues: Message | None,
) -> OpenedReply | None:
    """The same for a turn that is stored."""
    message, session = Message.objects.get(id=question), _session_of(cursor.thread)
    if continues:
        options = replace(options, rounds=retries.so_far(continues))
    context = _built_if_possible(cursor, message, session, options)
    asked_for = {"model": options.model, "continues_id": continues.reply_id if continues else None}
    opened = store_turn(cursor, message, session, context, token, is_stored=True, **asked_for)
    return opened and replace(opened, terms=options, continues=continues)


def _open_preset(
    cursor: ThreadCursor, preset: Preset, click: str | None, options: CallerOptions, token: ApiToken | None
) -> OpenedReply | None:
    thread, session = cursor.thread, _session_of(cursor.thread)
    reply = _new_reply(thread, token=token, preset=preset.slug, client_id=click, model=options.model)
    context = None
    if not _still_to_ask(thread, session):
        context = _next_request(cursor, instruction(thread, preset), session=session, silent=True, options=options)
    stored = _store_opening(cursor, reply, context, turn=None, last_position=thread.last_position)
    return stored and replace(stored, preset=preset, terms=options, saved=eventlog.requested(reply))


def store_turn(
    cursor: ThreadCursor,
    message: Message,
    session: Session,
    context: Context | None,
    token: ApiToken | None = None,
    *,
    is_stored: bool = False,
    **asked_for: Any,
) -> OpenedReply | None:
    """One statement for the turn, its reply and its first request; ``None`` where others were faster. ``asked_for`` are
    columns of the reply."""
    thread, last_position = cursor.thread, cursor.thread.last_position
    if not is_stored:
        thread.last_position, thread.message_count = message.position, message.depth
        thread.updated_at, thread.title = message.created_at, thread.title or _first_title(message)
        thread.session_started_at, thread.away_since = session.started_at, session.away_since
    reply = _new_reply(thread, token=token, user_message=message, **asked_for)
    stored = _store_opening(cursor, reply, context, turn=None if is_stored else message, last_position=last_position)
    return stored and replace(stored, message=message, saved=eventlog.saved_event(reply, message, thread))


def _first_title(message: Message) -> str:
    """Of a thread that has none, where this is its first turn."""
    return threads.title_from(message.text) if message.depth == 1 else ""


def _new_reply(thread: Thread, **values: Any) -> Reply:
    request_id = current_request_id.get() or None
    return Reply(thread=thread, owner=OWNER, request_id=request_id, created_at=timezone.now(), **values)


def _store_opening(
    cursor: ThreadCursor, reply: Reply, context: Context | None, *, turn: Message | None, last_position: int
) -> OpenedReply | None:
    snapshot = snapshots.of_reply(context, reply) if context else None
    reply.reserved = _to_reserve(cursor.thread, context)
    try:
        stored = steps.open_reply(
            cursor=cursor,
            last_position=last_position,
            message=turn,
            reply=reply,
            lease=LEASE,
            snapshot=snapshot,
            blocks=snapshots.blocks(context, cursor.thread.id) if context else [],
            limits=by_default(),
        )
    except steps.NoAllowance:
        allowances.refuse_unless_room(cursor.thread.user_id, reply.token_id, reply.reserved)
        return None
    if not stored:
        return None
    for token_id in stored.new_allowances:
        allowances.recounted(cursor.thread.user_id, token_id)
    return OpenedReply(
        thread=cursor.thread,
        message=turn,
        reply=reply,
        saved=None,
        recorded=(snapshot, context) if snapshot and context else None,
        created_thread=cursor.is_new,
    )


def _to_reserve(thread: Thread, context: Context | None) -> int:
    """What the request that is answered may read, and write and think, in tokens."""
    if context and context.purpose is not ContextSnapshot.Purpose.REWRITE:
        return context.model_tokens + context.max_tokens
    assistant = thread.assistant
    return assistant.total_tokens + assistant.max_output_tokens + assistant.thinking_tokens


def next_turn(cursor: ThreadCursor, blocks: list[dict[str, Any]], client_message_id: str | None) -> Message:
    """The user turn at the end of the thread, not stored yet."""
    message = turn_of(Message.Role.USER, blocks, timezone.now())
    message.thread, message.parent_id, message.client_message_id = cursor.thread, cursor.before, client_message_id
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


def _built_if_possible(
    cursor: ThreadCursor, message: Message, session: Session, options: CallerOptions
) -> Context | None:
    """Whatever is wrong with its context, the user turn is stored. ``build_and_record`` tries again, and tells of it.

    Nor is a memory service asked before the turn is stored.
    """
    if _still_to_ask(cursor.thread, session, message.text):
        return None
    try:
        return _next_request(cursor, Turn.of(message), session=session, options=options)
    except Exception:
        log.exception("can't build the context yet", extra={"thread_id": str(cursor.thread.id)})
        return None


def _next_request(
    cursor: ThreadCursor,
    newest: Turn,
    *,
    session: Session,
    query: Rewriting | None = None,
    silent: bool = False,
    options: CallerOptions = NO_OPTIONS,
) -> Context:
    with telemetry.listener.context() as step:
        context = _build(cursor, newest, session=session, query=query, silent=silent, options=options)
        step.record_context(context)
    if context.rewriting != NOT_ASKED:
        return context
    return rewriting_context(context, assistant=cursor.thread.assistant, provider=_provider_of(cursor))


def _build(
    cursor: ThreadCursor,
    newest: Turn,
    *,
    session: Session,
    query: Rewriting | None = None,
    silent: bool = False,
    options: CallerOptions = NO_OPTIONS,
    for_another_model: bool = False,
) -> Context:
    thread, provider = cursor.thread, _provider_of(cursor)
    tools = tools_for(thread.assistant, provider)
    question = backend_ranking.question_of(thread, session, "")
    with read_only():
        return build_context(
            assistant=thread.assistant,
            provider=provider,
            user_id=thread.user_id,
            thread_id=None if cursor.is_new else thread.id,
            newest=newest,
            session=session,
            at=timezone.now(),
            query=query,
            ranking=(backend_ranking.KNOWN.get(question) or backend_ranking.NOT_ASKED) if question else None,
            tools=tools,
            silent=silent,
            remembers=thread.remembers,
            options=options,
            for_another_model=for_another_model,
            begins_after=thread.cleared_through,
        )


def _still_to_ask(thread: Thread, session: Session, about: str = "") -> backend_ranking.Question | None:
    question = backend_ranking.question_of(thread, session, about)
    return question if question and backend_ranking.KNOWN.get(question) is None else None


def _provider_of(cursor: ThreadCursor) -> Provider:
    return get_provider(cursor.thread.assistant.provider or settings.OPENBOOK_PROVIDER)


def _nonzero(usage: Usage) -> dict[str, int]:
    """What is not there takes no room."""
    return {name: tokens for name, tokens in asdict(usage).items() if tokens}


def _session_of(thread: Thread) -> Session:
    """The session of the thread's newest user turn."""
    return Session(started_at=thread.session_started_at or thread.updated_at, away_since=thread.away_since)


def session_after(cursor: ThreadCursor, now: datetime) -> Session:
    """The session that a turn of the user at ``now`` belongs to."""
    return session_at(now, last_active=cursor.last_active, last_session=cursor.last_session)
