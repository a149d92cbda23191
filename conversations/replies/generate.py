"""One turn from question to stored answer, and the only ways to set it going: ``start``, ``start_preset`` and ``retry``."""

import asyncio
import logging
import math
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError

from artifacts.models import Preset
from conversations.context import token_calibration
from conversations.context.builder import Context
from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.fitting import GO_ON_WORDS, Section, resumed, round_section
from conversations.context.invariants import BrokenInvariant, check
from conversations.context.rendering import GO_ON, MOST_ROUNDS, round_text
from conversations.context.rewriting import Rewriting, ask_model
from conversations.context.token_estimate import text_of
from conversations.errors import ErrorObject, Unavailable, error_object
from conversations.models import ApiToken, Assistant, ContextSnapshot, Message, Reply
from conversations.providers import ProviderError, get_provider, refusals
from conversations.providers.base import WHOLE, Finished, ModelCall, ToolCalled
from conversations.providers.errors import provider_error
from conversations.replies import closing, model_requests, opening, retries
from conversations.replies.closing import Outcome
from conversations.replies.doorbell import owner_key
from conversations.replies.journal import Journal, LiveReply, journal
from conversations.replies.model_requests import OpenedReply, Recorded
from conversations.replies.rounds import TEXT, ask, run_tools
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import client_id, user_blocks
from conversations.runtime import telemetry
from conversations.runtime.db import in_database
from conversations.runtime.telemetry import ReplyStep
from conversations.runtime.text import clean
from conversations.tools.base import ToolContext
from conversations.wire.events import ContextBuiltData, ReplyStartedData
from memory.index.index_turns import catch_up_if_possible
from memory.sources import backend_ranking

log = logging.getLogger("openbook.replies")

CALLING = frozenset({"tool_use", "max_tokens", "model_context_window_exceeded"})
"""Stop reasons after which the whole tool calls of an answer are run; one that was cut off gets an error to go on with."""
NOTHING_SAID = {"max_tokens": retries.OUT_OF_ROOM, retries.WINDOW_EXCEEDED: retries.TOO_LARGE}
"""What an answer without a word is told as, by its stop reason."""
PAUSED = "pause_turn"
MOST_PAUSES = 5
"""How often a model may pause in a reply, to be asked to go on."""
SAVE = "save_artifact"


async def start(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    content: Any,
    client_message_id: Any = None,
    assistant: str | None = None,
    options: CallerOptions = NO_OPTIONS,
    token: ApiToken | None = None,
) -> OpenedReply:
    """Store a user turn and let the model answer it. The only way in, for socket, REST and commands.

    ``thread_id`` ``None`` opens a thread; ``token`` is what the caller came with, if any. Returns as soon as the turn is
    committed; the reply runs on by itself: ``follow`` it. Raises an ``OpenbookError`` that says what to do; then nothing is
    stored.
    """
    blocks, message_id = user_blocks(content), client_id(client_message_id)
    values = {"thread_id": thread_id, "assistant": assistant, "blocks": blocks, "client_message_id": message_id}
    return await _begin(opening.open_turn, user=user, options=options, token=token, **values)


async def start_preset(
    *,
    user: User,
    thread_id: uuid.UUID | str,
    preset: str,
    client_message_id: Any = None,
    token: ApiToken | None = None,
) -> OpenedReply:
    """Let the model make a preset's artifact of the conversation, silently: no turn is stored (F9).

    The same ``client_message_id``, or the same preset while it is at work, answers with the reply that there is. Raises an
    ``OpenbookError`` that says what to do; then nothing is stored.
    """
    click = client_id(client_message_id)
    return await _begin(opening.open_preset, user=user, thread_id=thread_id, slug=preset, click=click, token=token)


async def retry(
    *,
    user: User,
    reply_id: uuid.UUID | str,
    model: str = "",
    options: CallerOptions = NO_OPTIONS,
    token: ApiToken | None = None,
) -> OpenedReply:
    """Another reply for the same user turn, or another run of the same preset. ``model`` may be the assistant's fallback."""
    return await _begin(opening.open_retry, user=user, reply_id=reply_id, model=model, options=options, token=token)


async def go_on(
    *, user: User, reply_id: uuid.UUID | str, options: CallerOptions = NO_OPTIONS, token: ApiToken | None = None
) -> OpenedReply:
    """A reply that goes on where this one was cut short: its text begins with all that there is."""
    return await _begin(opening.open_continuation, user=user, reply_id=reply_id, options=options, token=token)


async def stop(*, user: User, reply_id: uuid.UUID | str) -> Reply:
    """Stop a reply, in whatever process it runs; the text so far is kept. One that has ended stays as it is."""
    reply = await in_database(closing.request_stop)(user=user, reply_id=reply_id)
    book = journal()
    if live := book.live.get(reply.id):
        live.end(closing.stopped())
    else:
        book.doorbell.ring(owner_key(reply.owner))
    return reply


async def _begin(open_it: Callable[..., OpenedReply], **values: Any) -> OpenedReply:
    """Store what a reply begins with, and let it run."""
    book = _open_journal()
    with telemetry.listener.reply() as step:
        opened = await in_database(_open)(open_it, step, **values)
        if not opened.repeated:
            _set_going(book, opened, step)
    return opened


def _open(open_it: Callable[..., OpenedReply], step: ReplyStep, **values: Any) -> OpenedReply:
    opened = open_it(**values)
    if not opened.repeated:
        step.record_opened(opened.thread, opened.reply)
    return opened


def _open_journal() -> Journal:
    book = journal()
    if book.draining:
        raise Unavailable("The server is restarting. Nothing was stored; send again in a moment.")
    return book


def _set_going(book: Journal, opened: OpenedReply, step: ReplyStep) -> None:
    assert opened.saved is not None  # a repeated message has no new reply
    assistant, before = opened.thread.assistant, opened.continues.blocks if opened.continues else ()
    live = LiveReply(
        id=opened.reply.id,
        thread_id=opened.thread.id,
        events=[opened.saved],
        transcript=ReplyTranscript.going_on(
            before, shows_thinking=assistant.show_thinking == Assistant.ShowThinking.SUMMARY
        ),
        ends_at=time.monotonic() + assistant.reply_minutes * 60,
        silent=opened.preset is not None,
        telemetry=step,
    )
    if opened.continues and opened.continues.text:
        live.pending.append(("reply.delta", {"text": opened.continues.text, "earlier": True}))
    live.task = asyncio.create_task(_run(book, live, opened), name=f"reply {live.id}")
    book.tasks.add(live.task)
    live.task.add_done_callback(lambda task: _ended(book, live, task))
    book.add(live)


def _ended(book: Journal, live: LiveReply, task: asyncio.Task[None]) -> None:
    """A reply whose end could not be written is let go: its lease runs out, and the sweep ends it."""
    book.tasks.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.critical("reply task failed", exc_info=error, extra={"reply": str(live.id)})
    if live.id in book.live:
        book.let_go(live)


async def _run(book: Journal, live: LiveReply, opened: OpenedReply) -> None:
    try:
        outcome = await _answer(book, live, opened)
    except asyncio.CancelledError:
        outcome = live.end_with or closing.interruption()
    except ProviderError as error:
        outcome = _failed(_model_error(error))
    except BrokenInvariant as error:
        log.error("request not sent", extra={"reply": str(live.id), "rule": error.rule})
        details = {"rule": error.rule, "retryable": False}
        outcome = _failed(
            error_object(type="context", code="context_invariant", message=error.message, details=details)
        )
    except DatabaseError as error:
        log.exception("database failed in a reply", extra={"reply": str(live.id)})
        outcome = _failed(_internal_error("database", "The server could not reach its database.", error))
    except Exception as error:  # whatever it is, the reply ends and the person is told
        log.exception("reply failed", extra={"reply": str(live.id), "thread_id": str(live.thread_id)})
        outcome = _failed(_internal_error("internal", "Something went wrong on the server.", error))
    outcome = outcome.after(live.call)
    await book.close(live, _without_turn(outcome) if live.silent else outcome)
    error_code = outcome.error["code"] if outcome.error else None
    live.telemetry.record_closed(outcome.status.value, error_code, outcome.usage + live.spent)
    log.info(
        "reply ended",
        extra={
            "thread_id": str(live.thread_id),
            "reply": str(live.id),
            "status": outcome.status.value,
            "stop_reason": outcome.stop_reason,
            "error_code": error_code,
        },
    )
    # Nobody waits for it: the end is told already.
    await in_database(catch_up_if_possible)(opened.thread.user_id)
    if live.model_used:
        await in_database(token_calibration.learn)(*live.model_used)


async def _answer(book: Journal, live: LiveReply, opened: OpenedReply) -> Outcome:
    """Ask the model and run the tools that it calls, again and again, until it is done."""
    snapshot, context = await _first_request(live, opened)
    options, pauses = opened.terms, 0
    sections: Sequence[Section]
    while True:
        _tell_of_request(book, live, opened, snapshot, context)
        answered = await _ask(book, live, snapshot, context, options)
        if anew := _anew(answered, live, opened.thread.assistant, context, options):
            declined, options = anew
            live.transcript.drop_round()
            ended = declined.after(live.end_call())
            snapshot, context = await in_database(model_requests.build_anew)(snapshot, ended, opened, context, options)
            continue
        if isinstance(answered, ProviderError):
            raise answered
        if answered.stop_reason == refusals.STOP_REASON:
            return _refused(answered, live)
        if answered.stop_reason == PAUSED and live.transcript.current and pauses < MOST_PAUSES:
            pauses += 1
            live.transcript.drop_calls()
            sections = resumed(live.transcript.current)
            live.transcript.go_on()
        elif not (sections := await _round(book, live, opened, context, answered)):
            return _outcome(answered, live)
        ended = Outcome(status=Reply.Status.COMPLETED).after(live.end_call())
        snapshot, context = await in_database(model_requests.next_round)(snapshot, ended, context, sections)


def _tell_of_request(
    book: Journal, live: LiveReply, opened: OpenedReply, snapshot: ContextSnapshot, context: Context
) -> None:
    _log_request(opened, snapshot, context)
    book.append(live, "context.built", _context_built(snapshot, context))
    if live.model_used != (context.provider, context.model):
        live.model_used = (context.provider, context.model)
        started: ReplyStartedData = {
            "provider": context.provider,
            "model": context.model,
            "fallback_for": context.fallback_for or None,
        }
        book.append(live, "reply.started", started)


async def _ask(
    book: Journal, live: LiveReply, snapshot: ContextSnapshot, context: Context, options: CallerOptions
) -> Finished | ProviderError:
    """How the call ended, also where the request was too large for the model. Raises every other ``ProviderError``."""
    try:
        check(
            context.payload,
            newest=text_of(context.newest.content),
            total_tokens=context.model_tokens,
            hard_cap=context.budget.hard_cap,
            go_on=GO_ON_WORDS if any(part.name == GO_ON for part in context.parts.rounds) else "",
        )
        with telemetry.listener.model_request(snapshot, live.begin_call()):
            return await ask(book, live, context)
    except BrokenInvariant:
        if options.most_input is None:
            raise
        return provider_error(retries.TOO_LARGE)  # what can't be left out takes more than the model does
    except ProviderError as error:
        if error.code != retries.TOO_LARGE:
            raise
        return error


def _anew(
    answered: Finished | ProviderError, live: LiveReply, assistant: Assistant, context: Context, options: CallerOptions
) -> tuple[Outcome, CallerOptions] | None:
    """How the request ended, and the terms on which the same reply asks once more: of another model where this one declined
    and the assistant says so, within fewer tokens where it could not take so many. What readers have been shown can't be
    taken back, so then neither."""
    if live.transcript.shows_text:
        return None
    options = replace(options, rounds=tuple(context.parts.rounds))
    if isinstance(answered, Finished) and answered.stop_reason == refusals.STOP_REASON:
        other = assistant.fallback_model if assistant.fallback_automatic else ""
        if other in ("", context.model) or options.fallback_for:
            return None
        return _failed(_refusal(answered)), replace(options, model=other, fallback_for=context.model)
    if isinstance(answered, Finished):
        if answered.stop_reason != retries.WINDOW_EXCEEDED:
            return None
        answered = provider_error(retries.TOO_LARGE)
    if options.most_input is not None:
        return None
    return _failed(_model_error(answered)), replace(options, most_input=retries.less_than(context.model_tokens))


async def _round(
    book: Journal, live: LiveReply, opened: OpenedReply, context: Context, finished: Finished
) -> Sequence[Section]:
    """Run the tools that the model called. Returns what was said and done, where the reply goes on."""
    offered = {tool["name"] for tool in context.payload.get("tools", ())}
    calls = _calls_to_run(live, finished)
    if opened.preset and not calls and not live.transcript.rounds:
        written = _as_artifact(opened.preset, live, finished)
        await run_tools(book, live, [written], call=_call(opened), offered={SAVE})
    await run_tools(book, live, calls, call=_call(opened), offered=offered)
    if opened.preset and not calls and not live.transcript.artifacts:
        raise provider_error("no_artifact")
    if not calls or (opened.preset and live.transcript.artifacts):
        return ()
    return [round_section(round_text(live.transcript.rounds[-1]))]


async def _first_request(live: LiveReply, opened: OpenedReply) -> Recorded:
    snapshot, context = opened.recorded or await _build(opened)
    if context.purpose is not ContextSnapshot.Purpose.REWRITE:
        return snapshot, context
    query = await _ask_for_query(live, snapshot, context)
    return await _build(opened, query=query)


async def _build(opened: OpenedReply, *, query: Rewriting | None = None) -> Recorded:
    """The next request, after another memory service was asked where there is one. No thread for the database waits for it."""
    question = model_requests.question_of(opened)
    if question and await in_database(backend_ranking.may_be_asked)(question):
        await backend_ranking.ask(question)
    return await in_database(model_requests.build_and_record)(opened, query=query)


def _calls_to_run(live: LiveReply, finished: Finished) -> list[ToolCalled]:
    """None after the last round, nor where the model stopped for a reason that makes its calls doubtful."""
    if finished.stop_reason in CALLING and len(live.transcript.rounds) < MOST_ROUNDS - 1:
        return list(live.transcript.calls)
    live.transcript.drop_calls()
    return []


def _call(opened: OpenedReply) -> ToolContext:
    return ToolContext(
        user_id=opened.thread.user_id,
        thread_id=opened.thread.id,
        reply_id=opened.reply.id,
        last_position=opened.message.position if opened.message else opened.thread.last_position,
        preset=opened.preset.slug if opened.preset else "",
    )


def _as_artifact(preset: Preset, live: LiveReply, finished: Finished) -> ToolCalled:
    """What the model wrote in words where it was to save it: the words are the artifact then."""
    text = text_of(live.transcript.content)
    if not text.strip():
        raise _nothing_said(finished)
    values = {"title": preset.name, "kind": str(preset.kind), "content": text}
    return ToolCalled(id=TEXT, name=SAVE, input=values | ({"language": preset.language} if preset.language else {}))


async def _ask_for_query(live: LiveReply, snapshot: ContextSnapshot, context: Context) -> Rewriting:
    """What a small model makes of the message. Whatever goes wrong, the rules try it at once, and staff can see why."""
    provider, text, call = get_provider(context.provider), text_of(context.newest.content), live.begin_call()
    with telemetry.listener.model_request(snapshot, call) as step:
        response = await ask_model(
            provider=provider, payload=context.payload, text=text, turns=context.history, call=call
        )
        if response.error:
            step.failed(response.error.code)
    live.call = ModelCall()  # a help costs the reply nothing
    outcome = _failed(_model_error(response.error)) if response.error else Outcome(status=Reply.Status.COMPLETED)
    await in_database(closing.end_request)(snapshot, outcome.after(call))
    return response.rewriting


def _outcome(finished: Finished, live: LiveReply) -> Outcome:
    whole = finished.stop_reason in WHOLE
    if not live.transcript.is_new and not (whole and live.transcript.before):
        raise _nothing_said(finished)
    status = Message.Status.COMPLETE if whole else Message.Status.INCOMPLETE
    return Outcome(status=Reply.Status.COMPLETED, message_status=status)


def _nothing_said(finished: Finished) -> ProviderError:
    return provider_error(NOTHING_SAID.get(finished.stop_reason, "empty_reply"))


def _refused(finished: Finished, live: LiveReply) -> Outcome:
    """What the model wrote before it declined has been shown, and stays as a refused turn."""
    live.transcript.drop_calls()
    begun = live.transcript.is_new and not live.silent
    error = _refusal(finished, begun=begun, silent=live.silent)
    if begun:
        return Outcome(status=Reply.Status.COMPLETED, message_status=Message.Status.REFUSED, request_error=error)
    return _failed(error)


def _refusal(finished: Finished, *, begun: bool = False, silent: bool = False) -> ErrorObject:
    return error_object(
        type="model",
        code=refusals.CODE,
        message=refusals.sentence(finished.stop_details, begun=begun, silent=silent),
        details={"retryable": False, "category": refusals.category_of(finished.stop_details)},
    )


def _failed(error: ErrorObject) -> Outcome:
    return Outcome(status=Reply.Status.FAILED, message_status=Message.Status.FAILED, error=error)


def _without_turn(outcome: Outcome) -> Outcome:
    """In the words for a preset, which sent no message."""
    if outcome.error is None:
        return outcome
    message = outcome.error["message"].replace("Your message is saved; try", "Try")
    return replace(outcome, error={**outcome.error, "message": message})


def _model_error(error: ProviderError) -> ErrorObject:
    details: dict[str, Any] = {"retryable": error.retryable}
    if error.retryable and error.retry_after is not None:
        details["retry_after"] = math.ceil(error.retry_after)
    return error_object(type="model", code=error.code, message=clean(error.message), details=details)


def _internal_error(code: str, message: str, error: Exception) -> ErrorObject:
    return error_object(
        type="internal",
        code=code,
        message=f"{message} Your message is saved; try again.",
        details={"retryable": True, "kind": type(error).__name__},
    )


def _context_built(snapshot: ContextSnapshot, context: Context) -> ContextBuiltData:
    return {
        "request": str(snapshot.id),
        "total_tokens": context.model_tokens,
        "budget": context.budget.total_tokens,
        "hard_cap": context.budget.hard_cap,
        "message_history_count": len(context.history),
        "left_out": context.left_out,
    }


def _log_request(opened: OpenedReply, snapshot: ContextSnapshot, context: Context) -> None:
    log.info(
        "model request recorded",
        extra={
            "thread_id": str(opened.thread.id),
            "thread_created": opened.created_thread,
            "reply": str(opened.reply.id),
            "request": str(snapshot.id),
            "turns_loaded": context.turns_loaded,
            "turns_kept": len(context.history),
            "turns_left_out": sum(context.left_out.values()),
            "tokens": context.model_tokens,
            "timings_ms": context.timings_ms,
        },
    )
