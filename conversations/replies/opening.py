"""Opening replies: the user turn, its reply and its first request are stored in one statement, or nothing is (T4, S1).

What is written rests on the thread as it was looked at; where somebody else was faster, nothing is stored and it is looked at
again.
"""

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from artifacts.sources.preset import instruction
from conversations import threads
from conversations.accounts import allowances, budgets
from conversations.accounts.budgets import Charge
from conversations.accounts.limits import by_default
from conversations.context.built_context import Context
from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.files.thread_files import named_files, names_of_files
from conversations.context.record import snapshots
from conversations.context.sessions import Session
from conversations.context.tokens.estimate import text_of
from conversations.errors import (
    CannotContinue,
    CannotRetry,
    NothingToWorkFrom,
    ReplyInProgress,
    ThreadNotFound,
)
from conversations.files.store import attachable, file_block
from conversations.models import ApiToken, ContextSnapshot, File, Message, Reply
from conversations.replies import events as eventlog
from conversations.replies import fallbacks, retries
from conversations.replies.closing import interrupt
from conversations.replies.cursor import (
    ThreadCursor,
    next_turn,
    place_in,
    place_of,
    session_after,
    session_of,
    to_answer_again,
    to_edit,
)
from conversations.replies.events import LEASE, OWNER
from conversations.replies.model_requests import OpenedReply, TurnToAnswer, build_if_possible, parameters, with_choice
from conversations.replies.rows import as_json, columns, fetch
from conversations.replies.user_content import NewMessage
from conversations.runtime import clock
from conversations.runtime.request_ids import current_request_id
from conversations.runtime.sql_files import read_statements
from conversations.threads import paths, titles

OPEN = read_statements(__file__, budgets.PARTS)["open"]
LOOKS = 5
"""How often a thread is looked at before a sender hears that others are writing to it."""
LIMITS = ("allowance_running", "allowance_tokens")
"""Constraints that refuse a reply for which a limit leaves no room."""
RACES = ("one_running_reply_per_thread", "thread_opened_once", "allowance_forgettings")
"""Constraints that stop a step of which the statement can't see that somebody else was faster."""


def open_turn(
    message: NewMessage, *, options: CallerOptions = NO_OPTIONS, token: ApiToken | None = None
) -> OpenedReply:
    """Store the user turn, its reply and its first request.

    A ``client_message_id`` that is known answers with what it made then. ``token`` is the one that asked, if it was not a
    page; its own limits count too. Raises ``ThreadNotFound``, ``ReplyInProgress``, ``RateLimited``, ``ModelNotOffered``.
    """
    user, client_id = message.user, message.client_message_id

    def attempt() -> OpenedReply | None:
        text = text_of(message.blocks)
        cursor = place_of(
            user, message.thread_id, message.assistant, text, client_id, message.thread_model, message.project
        )
        if cursor.is_new and message.temporary:
            threads.make_temporary(cursor.thread)
        if cursor.duplicate:
            turn = Message.objects.get(user=user, id=cursor.duplicate)
            reply = Reply.objects.filter(user=user, thread=cursor.thread, user_message=turn).latest("created_at")
            return OpenedReply(thread=cursor.thread, message=turn, reply=reply, saved=None, repeated=True)
        if not _is_free(cursor):
            return None
        if message.edits is not None:
            cursor = to_edit(cursor, message.edits)
        brought = attachable(user, message.files, cursor.thread.id)
        turn = next_turn(cursor, [*map(file_block, brought), *message.blocks], client_id)
        session = session_after(cursor, turn.created_at)
        asked = with_choice(options, cursor, message.model)
        is_read = all(file.state != File.State.READING for file in brought)
        # What was learnt of turns that are left is known until they are: then the request is built once that is stored.
        context = (
            build_if_possible(TurnToAnswer.of(turn, cursor, session), asked) if is_read and cursor.end is None else None
        )
        return store_turn(cursor, turn, session, context, token, options=asked, model=asked.model)

    return _open(attempt)


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
    before = _with_its_thread(user, reply_id)
    options = retries.after(before, options, model)
    if before.user_message_id is None:
        return open_preset(
            user=user, thread_id=before.thread_id, slug=before.preset, click=None, options=options, token=token
        )

    def attempt() -> OpenedReply | None:
        cursor = place_in(user, before.thread_id)
        if _is_free(cursor) and cursor.question != before.user_message_id:
            cursor = to_answer_again(cursor, _question_of(before))
        return _answer_again(cursor, before, retries.turn_to_go_on_with(before), options, token)

    return _open(attempt)


def _question_of(reply: Reply) -> Message:
    """Raises ``CannotRetry`` where it is there no more."""
    assert reply.user_message_id
    question = Message.objects.filter(user=reply.user_id, id=reply.user_message_id).first()
    if question is None:
        raise CannotRetry
    return question


def open_continuation(
    *, user: User, reply_id: uuid.UUID | str, options: CallerOptions = NO_OPTIONS, token: ApiToken | None = None
) -> OpenedReply:
    """A reply that goes on where this one was cut short. Raises ``ReplyNotFound``, ``ReplyInProgress``, ``CannotContinue``."""
    before = _with_its_thread(user, reply_id)
    options = retries.after(before, options)
    cut_short = Message.objects.filter(user=user, reply=before, is_active=True, status=Message.Status.INCOMPLETE)
    if before.user_message_id is None or not cut_short.exists():
        raise CannotContinue

    def attempt() -> OpenedReply | None:
        cursor = place_in(user, before.thread_id)
        turn = cut_short.first()
        if _is_free(cursor) and (turn is None or cursor.before != turn.id):
            raise CannotContinue
        return _answer_again(cursor, before, turn, options, token)

    return _open(attempt)


def _with_its_thread(user: User, reply_id: uuid.UUID | str) -> Reply:
    reply = threads.reply_of(user, reply_id)
    reply.thread = threads.get(user, reply.thread_id)
    return reply


def _answer_again(
    cursor: ThreadCursor, before: Reply, continues: Message | None, options: CallerOptions, token: ApiToken | None
) -> OpenedReply | None:
    """Another reply to a turn that is stored, which goes on with ``continues``. All that it is built of must have been read
    after the cursor: what was forgotten by then is in none of it, and what is forgotten later stops the step."""
    if cursor.running:
        return None
    if continues:
        options = replace(options, rounds=retries.so_far(continues))
    assert before.user_message_id
    message = Message.objects.get(user=cursor.thread.user_id, id=before.user_message_id)
    session = session_of(cursor.thread)
    context = build_if_possible(TurnToAnswer.of(message, cursor, session), options) if cursor.end is None else None
    asked_for = {"model": options.model, "continues_id": continues.reply_id if continues else None}
    opened = store_turn(cursor, message, session, context, token, is_stored=True, options=options, **asked_for)
    return opened and replace(opened, continues=continues)


def open_preset(
    *,
    user: User,
    thread_id: uuid.UUID | str,
    slug: str,
    click: str | None,
    options: CallerOptions | None = None,
    token: ApiToken | None = None,
) -> OpenedReply:
    """A reply that makes the preset's artifact of the thread, asked of the thread's model unless ``options`` say whom. Raises
    ``ThreadNotFound``, ``PresetNotFound``, ``NothingToWorkFrom``, ``ReplyInProgress``."""
    known_id = threads.identifier(thread_id, ThreadNotFound)

    def attempt() -> OpenedReply | None:
        cursor = place_in(user, known_id)
        thread, session = cursor.thread, session_of(cursor.thread)
        if click and (reply := Reply.objects.filter(user=user, thread=thread, client_id=click).first()):
            return OpenedReply(thread=thread, message=None, reply=reply, saved=None, repeated=True)
        preset = threads.preset_of(thread, slug)
        if not cursor.before:
            raise NothingToWorkFrom
        running = Reply.objects.get(user=user, id=cursor.running) if cursor.running else None
        if running and running.preset == slug:  # the same button once more
            return OpenedReply(thread=thread, message=None, reply=running, saved=None, repeated=True)
        if not _is_free(cursor):
            return None
        asked = with_choice(NO_OPTIONS, cursor) if options is None else options
        reply = _new_reply(cursor, token, preset=preset.slug, client_id=click, model=asked.model)
        silent = TurnToAnswer(turn=instruction(thread, preset), cursor=cursor, session=session, silent=True)
        context = build_if_possible(silent, asked)
        opened = _store(cursor, reply, context, options=asked)
        return opened and replace(opened, preset=preset, saved=eventlog.requested(reply))

    return _open(attempt)


def _open(attempt: Callable[[], OpenedReply | None]) -> OpenedReply:
    """What comes of an attempt; it is made again where others were faster."""
    for _ in range(LOOKS):
        if opened := attempt():
            return opened
    raise ReplyInProgress


def _is_free(cursor: ThreadCursor) -> bool:
    """At most one reply runs in a thread. One that a dead process left behind is ended here, and the thread looked at again."""
    if cursor.running and not interrupt(cursor.running, user_id=cursor.thread.user_id):
        raise ReplyInProgress(reply=str(cursor.running))
    return not cursor.running


def store_turn(
    cursor: ThreadCursor,
    message: Message,
    session: Session,
    context: Context | None,
    token: ApiToken | None = None,
    *,
    is_stored: bool = False,
    options: CallerOptions = NO_OPTIONS,
    **asked_for: Any,
) -> OpenedReply | None:
    """Store the turn, unless it is, with its reply and its first request; ``None`` where others were faster. ``asked_for``
    are columns of the reply."""
    thread, last_position = cursor.thread, cursor.thread.last_position
    if not is_stored:
        thread.last_position, thread.message_count = message.position, message.depth
        thread.title = thread.title or (
            titles.title_from(message.text or names_of_files(message.blocks)) if message.depth == 1 else ""
        )
        thread.updated_at = message.created_at
        thread.session_started_at, thread.away_since = session.started_at, session.away_since
    reply = _new_reply(cursor, token, user_message=message, **asked_for)
    if is_stored:
        reply.created_at = max(reply.created_at, _after_others(message))
    turn = None if is_stored else message
    opened = _store(cursor, reply, context, turn=turn, last_position=last_position, options=options)
    return opened and replace(opened, message=message, saved=eventlog.saved_event(reply, message, thread))


def _new_reply(cursor: ThreadCursor, token: ApiToken | None, **values: Any) -> Reply:
    request_id = current_request_id.get() or None
    return Reply(
        thread=cursor.thread,
        user_id=cursor.thread.user_id,
        token=token,
        owner=OWNER,
        request_id=request_id,
        created_at=clock.now(),
        **values,
    )


def _after_others(message: Message) -> datetime:
    """Later than each reply to the message began, though the clock of another server may be ahead: the newest one is shown."""
    of_it = Reply.objects.filter(user=message.user_id, user_message=message).order_by("-created_at")
    return of_it.values_list("created_at", flat=True)[0] + timedelta(microseconds=1)


def _store(
    cursor: ThreadCursor,
    reply: Reply,
    context: Context | None,
    *,
    turn: Message | None = None,
    last_position: int | None = None,
    options: CallerOptions,
) -> OpenedReply | None:
    """Store a reply with its user turn (``None``: it is stored) and its first request (``None``: not built yet), and reserve
    what it may take. ``last_position`` is where the thread ended when it was looked at, if not where it ends now.

    ``None``, and nothing stored, where others were faster. Raises ``RateLimited``.
    """
    thread, limits = cursor.thread, by_default()
    charge = _to_reserve(cursor, context, options)
    reply.reserved = charge.tokens
    snapshot = snapshots.of_reply(context, reply) if context else None
    values = {
        "is_new": cursor.is_new,
        "thread": as_json(columns(thread)),
        "last_position": thread.last_position if last_position is None else last_position,
        "messages": as_json([columns(turn)] if turn else []),
        "reply": as_json(columns(reply)),
        "lease": LEASE,
        "user": thread.user_id,
        "token": reply.token_id,
        **charge.parameters(),
        "forgettings": cursor.forgettings,
        "most_running": limits.running_replies,
        "most_tokens": limits.tokens_day,
        "files": named_files(turn.blocks) if turn else [],
    }
    try:
        row = _open_in_place(cursor, values | parameters(snapshot, context))
    except IntegrityError as error:
        constraint = allowances.constraint_of(error)
        if constraint in LIMITS:
            allowances.refuse_unless_room(thread.user_id, reply.token_id, reply.reserved)
        elif constraint in budgets.CONSTRAINTS:
            budgets.refuse_unless_room(thread.user_id, charge)
        elif constraint not in RACES:
            raise
        return None
    if row is None:
        return None
    # An allowance that there was not yet knows of no earlier reply: the user's (``None``), or the token's, by its id.
    for token_id in row["new_allowances"] or ():
        allowances.recounted(thread.user_id, token_id)
    return OpenedReply(
        thread=thread,
        message=turn,
        reply=reply,
        saved=None,
        recorded=(snapshot, context) if snapshot and context else None,
        options=options,
        created_thread=cursor.is_new,
    )


def _open_in_place(cursor: ThreadCursor, values: dict[str, Any]) -> dict[str, Any] | None:
    """Run the statement, after the path was moved to where the turn goes, if it has to be: both are done, or neither is."""
    if cursor.end is None:
        return fetch(OPEN, values)
    with transaction.atomic():
        thread = threads.locked(cursor.thread.user, cursor.thread.id, moves_path=True)
        if thread.path_version != cursor.thread.path_version:
            return None
        paths.end_at(thread, cursor.end.turn)
        cursor.thread.path_version = thread.path_version
        row = fetch(OPEN, values | {"thread": as_json(columns(cursor.thread))})
        if row is None:
            transaction.set_rollback(True)
        return row


def _to_reserve(cursor: ThreadCursor, context: Context | None, options: CallerOptions) -> Charge:
    """What the first request may take; where that is a help or not built yet, the one that is answered as well."""
    if context and context.purpose is not ContextSnapshot.Purpose.REWRITE:
        return allowances.charge_of(context)
    assistant = cursor.thread.assistant
    place = fallbacks.named_place(assistant, options)
    answer = budgets.charge(
        place.provider,
        place.model,
        input_tokens=assistant.total_tokens,
        output_tokens=assistant.max_output_tokens + assistant.thinking_tokens,
    )
    return answer.beside(allowances.charge_of(context)) if context else answer
