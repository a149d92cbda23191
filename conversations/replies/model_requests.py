"""The model requests of a reply: their contexts built, and recorded before the model is called (S1). Nothing is locked while a
context is built, but for a preview of an edit."""

import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from django.db import IntegrityError, transaction

from artifacts.models import Preset
from artifacts.sources.preset import instruction
from conversations import threads
from conversations.accounts import allowances, budgets
from conversations.accounts.group_access import ALL, access_of
from conversations.accounts.limits import TOKENS, USER, by_default
from conversations.accounts.spending import NOTHING_SPENT, Spent
from conversations.context.builder import build_context, continue_context
from conversations.context.built_context import Context
from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.gather.live import LiveReader
from conversations.context.gather.material import BuildRequest, ThreadScope
from conversations.context.query.rewriting import NOT_ASKED, Rewriting
from conversations.context.query.rewriting_request import rewriting_context
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.context.render.tool_sections import NO_TOOLS
from conversations.context.rules.fitting import Section
from conversations.context.sessions import Session
from conversations.context.tokens.estimate import text_of
from conversations.context.turns.turn import Turn
from conversations.errors import RateLimited
from conversations.files.store import attachable, file_block
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.providers import ProviderError, get_provider, learn_list_and_wait
from conversations.providers.base import Provider
from conversations.replies import fallbacks
from conversations.replies.cursor import ThreadCursor, next_turn, place_of, session_after, session_of, to_edit
from conversations.replies.events import LEASE, Event
from conversations.replies.outcomes import Outcome
from conversations.replies.rows import as_json, columns, fetch
from conversations.replies.user_content import NewMessage
from conversations.runtime import clock, telemetry
from conversations.runtime.db import read_only
from conversations.runtime.sql_files import read_statements
from conversations.threads import model_choices, paths
from conversations.threads.model_choices import ModelChoice
from conversations.tools import tools_for
from memory.scope import scope_of
from memory.sources import backend_ranking

log = logging.getLogger("openbook.replies")

RECORD = read_statements(__file__, budgets.PARTS)["record"]

ModelRequest = tuple[ContextSnapshot, Context]


class Forgotten(Exception):
    """Something of the person's was forgotten while a request was built: it may hold that, and is built anew."""


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
    recorded: ModelRequest | None = None
    options: CallerOptions = NO_OPTIONS
    continues: Message | None = None
    created_thread: bool = False
    repeated: bool = False

    @property
    def question(self) -> Message:
        """The user turn, of a reply that answers one."""
        assert self.message
        return self.message


@dataclass(frozen=True, kw_only=True)
class TurnToAnswer:
    """What a request is to answer at a place in a thread: a user turn, which says what it is ``about``, or the instruction of a
    preset, of which a reply is ``silent``."""

    turn: Turn
    cursor: ThreadCursor
    session: Session
    about: str = ""
    silent: bool = False

    @classmethod
    def of(cls, message: Message, cursor: ThreadCursor, session: Session) -> "TurnToAnswer":
        return cls(turn=Turn.of(message), cursor=cursor, session=session, about=message.text)


def question_of(opened: OpenedReply) -> backend_ranking.Question | None:
    """What another memory service has to be asked before the next request of a reply can be built."""
    about = opened.message.text if opened.message else ""
    return still_to_ask(opened.thread, session_of(opened.thread), about)


def first_request(opened: OpenedReply, *, query: Rewriting | None = None, round: int = 1) -> ModelRequest:
    """The next request of a reply, to be recorded before the model is called (S1): the one that asks for a contextualised query
    where a model has to be asked first, else the one that is to be answered, with the ``query`` that came of the former."""
    thread = Thread.objects.select_related("assistant").get(id=opened.thread.id)
    to_answer = TurnToAnswer(
        turn=Turn.of(opened.message) if opened.message else instruction(thread, opened.preset),
        cursor=ThreadCursor(
            thread=thread, memory=scope_of(thread.user_id, thread.project_id), access=access_of(thread.user_id)
        ),
        session=session_of(thread),
        silent=opened.message is None,
    )
    context = next_request(to_answer, opened.options, query=query)
    return snapshots.of_reply(context, opened.reply, round=round), context


def further_request(before: ContextSnapshot, context: Context, sections: Sequence[Section]) -> ModelRequest:
    """The one after a request of which this came to be said and done."""
    further = continue_context(context, sections, at=clock.now())
    reply = Reply(
        id=before.reply_id,
        thread_id=before.thread_id,
        user_id=before.user_id,
        user_message_id=before.message_id,
    )
    return snapshots.of_reply(further, reply, round=before.round + 1), further


def record(
    snapshot: ContextSnapshot,
    context: Context,
    *,
    before: ContextSnapshot | None = None,
    ended: Outcome | None = None,
    spent: Spent = NOTHING_SPENT,
    forgettings: int | None = None,
) -> ModelRequest:
    """Store a request, set aside what it may take, and store how the one ``before`` it ended. ``spent`` is what those before it
    took, ``forgettings`` how often something of the person's was forgotten before it was built. To do it
    again, where nobody knows whether it was done, is no harm.

    Raises ``Forgotten`` where something was forgotten meanwhile, and ``RateLimited`` where a limit leaves no room for it: then
    nothing of it is stored. Raises ``Reply.DoesNotExist`` where the reply has ended: the task that asked for this may have been
    stopped meanwhile, while this thread went on.
    """
    charge = allowances.charge_of(context)
    values = {
        "user": snapshot.user_id,
        "reply": snapshot.reply_id,
        "lease": LEASE,
        "before": before and before.id,
        "status": ended and ended.status.value,
        "response": as_json(ended.response) if ended else None,
        "now": snapshot.created_at,
        **charge.parameters(spent_tokens=spent.tokens, spent_money=spent.money),
        "spent": spent.tokens,
        "spent_money": spent.money,
        "most_tokens": by_default().tokens_day,
        "forgettings": forgettings,
    }
    for _ in range(allowances.LOOKS):
        try:
            if not fetch(RECORD, values | parameters(snapshot, context)):
                raise Reply.DoesNotExist
        except IntegrityError as error:
            constraint = allowances.constraint_of(error)
            if constraint == "allowance_forgettings":
                raise Forgotten from None
            if constraint in budgets.CONSTRAINTS:
                budgets.refuse_more_unless_room(
                    snapshot.user_id, snapshot.reply_id, charge, spent, ending=allowances.GOES_ON_LATER
                )
                continue
            if constraint != "allowance_tokens":
                raise
            assert snapshot.reply_id
            reply = Reply.objects.get(user=snapshot.user_id, id=snapshot.reply_id)
            more = spent.tokens + charge.tokens - reply.reserved
            allowances.refuse_tokens(snapshot.user_id, reply.token_id, more)
        else:
            return snapshot, context
    raise RateLimited("Others take the day's tokens at the same moment. Try again.", limit=TOKENS, whose=USER)


def parameters(snapshot: ContextSnapshot | None, context: Context | None) -> dict[str, Any]:
    """A request as the statements that store one take it."""
    blocks = snapshots.blocks(context, snapshot) if snapshot and context else []
    return {
        "snapshots": as_json([columns(snapshot)] if snapshot else []),
        "blocks": as_json([columns(block) for block in blocks]),
        "turn_files": as_json(_turn_files(snapshot, context) if snapshot and context else []),
    }


def _turn_files(snapshot: ContextSnapshot, context: Context) -> list[dict[str, Any]]:
    """What of files was chosen for the turn that is answered. Where it was chosen before, that stays."""
    newest = context.newest
    return [
        {
            "thread_id": snapshot.thread_id,
            "user_id": snapshot.user_id,
            "position": newest.position,
            "place": place,
            "file_id": excerpt.file.id,
            "numbers": excerpt.numbers,
            "outlined": excerpt.outlined,
        }
        for place, excerpt in enumerate(newest.files)
    ]


@dataclass(frozen=True, kw_only=True)
class PreparedContext:
    """The context of a message that is not stored, and what is known of the place where it would go."""

    context: Context
    thread_id: uuid.UUID | None
    begins_session: bool


def upcoming(
    message: NewMessage,
    *,
    options: CallerOptions = NO_OPTIONS,
    brings_files: bool = False,
    for_another_model: bool = False,
) -> PreparedContext:
    """What a message would be answered from. Calls no model and writes nothing. ``brings_files``: some that are not stored.
    Raises ``ThreadNotFound``, ``ModelNotOffered``."""
    text = text_of(message.blocks)
    cursor = place_of(
        message.user,
        message.thread_id,
        message.assistant,
        text,
        thread_model=message.thread_model,
        project=message.project,
    )
    if message.edits is not None:
        cursor = to_edit(cursor, message.edits)
    if cursor.is_new and message.temporary:
        threads.make_temporary(cursor.thread)
    options = with_choice(options, cursor, message.model)
    brought = [file_block(file) for file in attachable(message.user, message.files, cursor.thread.id)]
    turn = next_turn(cursor, [*brought, *message.blocks], None)
    session = session_after(cursor, turn.created_at)
    question = still_to_ask(cursor.thread, session, turn.text)
    if question and backend_ranking.may_be_asked(question):
        backend_ranking.ask_and_wait(question)
    with suppress(ProviderError):  # told by the build
        place = fallbacks.place_of(cursor.thread.assistant, options)
        if provider := fallbacks.without_list(place):
            learn_list_and_wait(provider, place.model)
    with _path_as_moved(cursor):
        context = build(
            TurnToAnswer(turn=replace(Turn.of(turn), id=None), cursor=cursor, session=session),
            options,
            for_another_model=for_another_model,
            brings_files=brings_files,
        )
    return PreparedContext(
        context=context,
        thread_id=None if cursor.is_new else cursor.thread.id,
        begins_session=session.started_at == turn.created_at,
    )


@contextmanager
def _path_as_moved(cursor: ThreadCursor) -> Iterator[None]:
    """The path ends where the turn would go, and what was learnt of the turns that it leaves is known no more, until this is
    left: then all is as it was."""
    if cursor.end is None:
        yield
        return
    with transaction.atomic():
        thread = threads.locked(cursor.thread.user, cursor.thread.id, moves_path=True)
        paths.end_at(thread, cursor.end.turn)
        yield
        transaction.set_rollback(True)


def preview_context(message: NewMessage) -> SnapshotAnswer:
    """The snapshot that a message would get. As ``upcoming``."""
    prepared = upcoming(message)
    return snapshot_api.preview(prepared.context, prepared.thread_id, user_id=message.user.pk)


def build_if_possible(to_answer: TurnToAnswer, options: CallerOptions) -> Context | None:
    """The next request, where no service has to be asked for something first and nothing is wrong with it; else ``None``: the
    reply is stored without, tries again in a task of its own, and tells what is wrong."""
    thread = to_answer.cursor.thread
    try:
        place = fallbacks.place_of(thread.assistant, options)
        if still_to_ask(thread, to_answer.session, to_answer.about) or fallbacks.without_list(place):
            return None
        return next_request(to_answer, options)
    except ProviderError:
        return None
    except Exception:
        log.exception("can't build the context yet", extra={"thread_id": str(thread.id)})
        return None


def next_request(to_answer: TurnToAnswer, options: CallerOptions, *, query: Rewriting | None = None) -> Context:
    with telemetry.listener.context() as step:
        context = build(to_answer, options, query=query)
        step.record_context(context)
    if context.rewriting != NOT_ASKED:
        return context
    cursor = to_answer.cursor
    return rewriting_context(context, assistant=cursor.thread.assistant, provider=provider_of(cursor, options))


def build(
    to_answer: TurnToAnswer,
    options: CallerOptions,
    *,
    query: Rewriting | None = None,
    for_another_model: bool = False,
    brings_files: bool = False,
) -> Context:
    cursor, session = to_answer.cursor, to_answer.session
    thread, provider = cursor.thread, provider_of(cursor, options)
    question = backend_ranking.question_of(thread, session, "")
    scope = ThreadScope(
        user_id=thread.user_id,
        thread_id=None if cursor.is_new else thread.id,
        session=session,
        end=cursor.history,
        last_reply=cursor.last_reply,
        remembers=thread.remembers,
        withholds=thread.temporary and not thread.remembers,
        cleared_through=thread.cleared_through,
        memory=cursor.memory,
    )
    request = BuildRequest(
        scope=scope,
        assistant=thread.assistant,
        provider=provider,
        newest=to_answer.turn,
        at=clock.now(),
        # A program that says which tool is to be called means one of its own.
        tools=NO_TOOLS
        if options.fields.choice
        else tools_for(thread.assistant, provider, options.model, cursor.access),
        options=options,
        query=query,
        silent=to_answer.silent,
        for_another_model=for_another_model,
        brings_files=brings_files,
    )
    with read_only():
        return build_context(request, LiveReader(backend_ranking.prepared(question)))


def with_choice(options: CallerOptions, cursor: ThreadCursor, id: str = "") -> CallerOptions:
    """Asked of the model that a person chose for this message, else of the thread's as long as that is offered. Raises
    ``ModelNotOffered``, and ``AssistantNotAllowed`` where the person's groups don't allow the thread's."""
    thread = cursor.thread
    assistant, access = thread.assistant, cursor.access
    choice: ModelChoice | None = None
    if id:
        choice = model_choices.chosen(assistant, id, access)
    elif thread.model and cursor.is_new:
        choice = model_choices.of_thread(thread, model_choices.choices_of(assistant, access))
    elif thread.model:
        choice = model_choices.of_thread(thread, model_choices.choices_among(assistant, cursor.offered, access))
    if choice:
        options = replace(options, model=choice.name, provider=choice.provider)
    if access != ALL:
        place = fallbacks.named_place(assistant, options)
        model_choices.refuse_unless_allowed(assistant, place.provider, place.model, access)
    return options


def still_to_ask(thread: Thread, session: Session, about: str = "") -> backend_ranking.Question | None:
    question = backend_ranking.question_of(thread, session, about)
    return question if question and backend_ranking.KNOWN.get(question) is None else None


def provider_of(cursor: ThreadCursor, options: CallerOptions) -> Provider:
    return get_provider(fallbacks.place_of(cursor.thread.assistant, options).provider)
