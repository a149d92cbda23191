"""The model requests of a reply: their contexts built, and recorded before the model is called (S1). Nothing is locked while a
context is built."""

import logging
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError

from artifacts.models import Preset
from artifacts.sources.preset import instruction
from conversations.accounts import allowances
from conversations.accounts.limits import TOKENS, USER, by_default
from conversations.context.builder import build_context, continue_context
from conversations.context.built_context import Context
from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.query.rewriting import NOT_ASKED, Rewriting
from conversations.context.query.rewriting_request import rewriting_context
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.snapshot_shapes import SnapshotAnswer
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
from conversations.replies.cursor import ThreadCursor, next_turn, place_of, session_after, session_of
from conversations.replies.events import LEASE, Event
from conversations.replies.outcomes import Outcome
from conversations.replies.rows import as_json, columns, fetch
from conversations.runtime import clock, telemetry
from conversations.runtime.db import read_only
from conversations.runtime.sql_files import read_statements
from conversations.threads import model_choices
from conversations.threads.model_choices import ModelChoice
from conversations.tools import tools_for
from memory.sources import backend_ranking

log = logging.getLogger("openbook.replies")

RECORD = read_statements(__file__)["record"]

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


def question_of(opened: OpenedReply) -> backend_ranking.Question | None:
    """What another memory service has to be asked before the next request of a reply can be built."""
    about = opened.message.text if opened.message else ""
    return still_to_ask(opened.thread, session_of(opened.thread), about)


def first_request(opened: OpenedReply, *, query: Rewriting | None = None, round: int = 1) -> ModelRequest:
    """The next request of a reply, to be recorded before the model is called (S1): the one that asks for a contextualised query
    where a model has to be asked first, else the one that is to be answered, with the ``query`` that came of the former."""
    thread = Thread.objects.select_related("assistant").get(id=opened.thread.id)
    newest = Turn.of(opened.message) if opened.message else instruction(thread, opened.preset)
    context = next_request(
        ThreadCursor(thread=thread),
        newest,
        session=session_of(thread),
        query=query,
        silent=opened.message is None,
        options=opened.options,
    )
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
    spent: int = 0,
    forgettings: int | None = None,
) -> ModelRequest:
    """Store a request, set aside what it may take, and store how the one ``before`` it ended. ``spent`` are the tokens that
    those before it took, ``forgettings`` how often something of the person's was forgotten before it was built. To do it
    again, where nobody knows whether it was done, is no harm.

    Raises ``Forgotten`` where something was forgotten meanwhile, and ``RateLimited`` where a limit leaves no room for it: then
    nothing of it is stored. Raises ``Reply.DoesNotExist`` where the reply has ended: the task that asked for this may have been
    stopped meanwhile, while this thread went on.
    """
    values = {
        "user": snapshot.user_id,
        "reply": snapshot.reply_id,
        "lease": LEASE,
        "before": before and before.id,
        "status": ended and ended.status.value,
        "response": as_json(ended.response) if ended else None,
        "now": snapshot.created_at,
        "reserved": spent + allowances.needed(context),
        "spent": spent,
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
            if constraint != "allowance_tokens":
                raise
            assert snapshot.reply_id
            reply = Reply.objects.get(user=snapshot.user_id, id=snapshot.reply_id)
            more = spent + allowances.needed(context) - reply.reserved
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
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    blocks: list[dict[str, Any]],
    files: Sequence[uuid.UUID] = (),
    brings_files: bool = False,
    options: CallerOptions = NO_OPTIONS,
    for_another_model: bool = False,
    chosen: str = "",
    thread_model: str = "",
) -> PreparedContext:
    """What a message would be answered from. Calls no model and writes nothing. ``brings_files``: some that are not stored."""
    cursor = place_of(user, thread_id, assistant, text_of(blocks), thread_model=thread_model)
    options = with_choice(options, cursor, chosen)
    brought = [file_block(file) for file in attachable(user, files, cursor.thread.id)]
    message = next_turn(cursor, [*brought, *blocks], None)
    session = session_after(cursor, message.created_at)
    question = still_to_ask(cursor.thread, session, message.text)
    if question and backend_ranking.may_be_asked(question):
        backend_ranking.ask_and_wait(question)
    with suppress(ProviderError):  # told by the build
        place = fallbacks.place_of(cursor.thread.assistant, options)
        if provider := fallbacks.without_list(place):
            learn_list_and_wait(provider, place.model)
    return PreparedContext(
        context=build(
            cursor,
            replace(Turn.of(message), id=None),
            session=session,
            options=options,
            for_another_model=for_another_model,
            brings_files=brings_files,
        ),
        thread_id=None if cursor.is_new else cursor.thread.id,
        begins_session=session.started_at == message.created_at,
    )


def preview_context(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    assistant: str | None,
    blocks: list[dict[str, Any]],
    files: Sequence[uuid.UUID] = (),
    model: str = "",
    thread_model: str = "",
) -> SnapshotAnswer:
    """The snapshot that a message would get, of a model that can be chosen where one is named. Calls no model and writes
    nothing. Raises ``ModelNotOffered``."""
    prepared = upcoming(
        user=user,
        thread_id=thread_id,
        assistant=assistant,
        blocks=blocks,
        files=files,
        chosen=model,
        thread_model=thread_model,
    )
    return snapshot_api.preview(prepared.context, prepared.thread_id, user_id=user.pk)


def build_if_possible(cursor: ThreadCursor, newest: Turn, *, about: str = "", **values: Any) -> Context | None:
    """The next request, where no service has to be asked for something first and nothing is wrong with it; else ``None``: the
    reply is stored without, tries again in a task of its own, and tells what is wrong. ``values`` are those of
    ``next_request``."""
    thread = cursor.thread
    try:
        place = fallbacks.place_of(thread.assistant, values["options"])
        if still_to_ask(thread, values["session"], about) or fallbacks.without_list(place):
            return None
        return next_request(cursor, newest, **values)
    except ProviderError:
        return None
    except Exception:
        log.exception("can't build the context yet", extra={"thread_id": str(thread.id)})
        return None


def next_request(
    cursor: ThreadCursor,
    newest: Turn,
    *,
    session: Session,
    query: Rewriting | None = None,
    silent: bool = False,
    options: CallerOptions = NO_OPTIONS,
) -> Context:
    with telemetry.listener.context() as step:
        context = build(cursor, newest, session=session, query=query, silent=silent, options=options)
        step.record_context(context)
    if context.rewriting != NOT_ASKED:
        return context
    return rewriting_context(context, assistant=cursor.thread.assistant, provider=provider_of(cursor, options))


def build(
    cursor: ThreadCursor,
    newest: Turn,
    *,
    session: Session,
    query: Rewriting | None = None,
    silent: bool = False,
    options: CallerOptions = NO_OPTIONS,
    for_another_model: bool = False,
    brings_files: bool = False,
) -> Context:
    thread, provider = cursor.thread, provider_of(cursor, options)
    tools = tools_for(thread.assistant, provider, options.model)
    question = backend_ranking.question_of(thread, session, "")
    with read_only():
        return build_context(
            assistant=thread.assistant,
            provider=provider,
            user_id=thread.user_id,
            thread_id=None if cursor.is_new else thread.id,
            last_reply=cursor.last_reply,
            newest=newest,
            session=session,
            at=clock.now(),
            query=query,
            prepared=backend_ranking.prepared(question),
            tools=tools,
            silent=silent,
            remembers=thread.remembers,
            options=options,
            for_another_model=for_another_model,
            brings_files=brings_files,
            begins_after=thread.cleared_through,
        )


def with_choice(options: CallerOptions, cursor: ThreadCursor, id: str = "") -> CallerOptions:
    """Asked of the model that a person chose for this message, else of the thread's as long as that is offered. Raises
    ``ModelNotOffered``."""
    thread = cursor.thread
    assistant = thread.assistant
    choice: ModelChoice | None = None
    if id:
        choice = model_choices.chosen(assistant, id)
    elif thread.model and cursor.is_new:
        choice = model_choices.of_thread(thread, model_choices.choices_of(assistant))
    elif thread.model:
        choice = model_choices.of_thread(thread, model_choices.choices_among(assistant, cursor.offered))
    return replace(options, model=choice.name, provider=choice.provider) if choice else options


def still_to_ask(thread: Thread, session: Session, about: str = "") -> backend_ranking.Question | None:
    question = backend_ranking.question_of(thread, session, about)
    return question if question and backend_ranking.KNOWN.get(question) is None else None


def provider_of(cursor: ThreadCursor, options: CallerOptions) -> Provider:
    return get_provider(fallbacks.place_of(cursor.thread.assistant, options).provider)
