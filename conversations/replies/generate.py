"""One turn from question to stored answer, and the only ways to set it going: ``start`` and ``retry``."""

import asyncio
import logging
import time
import uuid
from contextlib import aclosing
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError

from conversations.context.builder import Context
from conversations.context.invariants import BrokenInvariant, check
from conversations.context.rewriting import Rewriting, ask_model
from conversations.context.tokens import text_of
from conversations.db import in_database
from conversations.errors import Unavailable, error_object
from conversations.models import ContextSnapshot, Message, Reply
from conversations.providers import ProviderError, get_provider
from conversations.providers.base import WHOLE, Finished, TextDelta
from conversations.replies import store
from conversations.replies.content import client_id, user_blocks
from conversations.replies.doorbell import owner_key
from conversations.replies.journal import Journal, LiveReply, journal
from conversations.replies.store import Opened, Outcome
from conversations.text import StreamCleaner, clean

log = logging.getLogger("openbook.replies")


async def start(
    *,
    user: User,
    thread_id: uuid.UUID | str | None,
    content: Any,
    client_message_id: Any = None,
    assistant: str | None = None,
) -> Opened:
    """Store a user turn and let the model answer it. The only way in, for socket, REST and commands.

    ``thread_id`` ``None`` opens a thread. Returns as soon as the turn is committed; the reply runs on by itself: ``follow``
    it. Raises an ``OpenbookError`` that says what to do; then nothing is stored.
    """
    blocks, message_id = user_blocks(content), client_id(client_message_id)
    book = _open_journal()
    opened = await in_database(store.open_turn)(
        user=user, thread_id=thread_id, assistant=assistant, blocks=blocks, client_message_id=message_id
    )
    if not opened.repeated:
        _set_going(book, opened)
    return opened


async def retry(*, user: User, reply_id: uuid.UUID | str) -> Opened:
    """Another reply for the same user turn."""
    book = _open_journal()
    opened = await in_database(store.open_retry)(user=user, reply_id=reply_id)
    _set_going(book, opened)
    return opened


async def stop(*, user: User, reply_id: uuid.UUID | str) -> Reply:
    """Stop a reply, in whatever process it runs; the text so far is kept. One that has ended stays as it is."""
    reply = await in_database(store.request_stop)(user=user, reply_id=reply_id)
    book = journal()
    if live := book.live.get(reply.id):
        live.end(store.stopped())
    else:
        book.doorbell.ring(owner_key(reply.owner))
    return reply


def _open_journal() -> Journal:
    book = journal()
    if book.draining:
        raise Unavailable("The server is restarting. Nothing was stored; send again in a moment.")
    return book


def _set_going(book: Journal, opened: Opened) -> None:
    assert opened.saved is not None  # a repeated message has no new reply
    live = LiveReply(id=opened.reply.id, thread_id=opened.thread.id, events=[opened.saved])
    live.task = asyncio.create_task(_run(book, live, opened), name=f"reply {live.id}")
    live.task.add_done_callback(lambda task: _ended(book, live, task))
    book.add(live)


def _ended(book: Journal, live: LiveReply, task: asyncio.Task[None]) -> None:
    """A reply whose end could not be written is let go: its lease runs out, and the sweep ends it."""
    if not task.cancelled() and (error := task.exception()):
        log.critical("reply task failed", exc_info=error, extra={"reply": str(live.id)})
    if live.id in book.live:
        book.let_go(live)


async def _run(book: Journal, live: LiveReply, opened: Opened) -> None:
    try:
        outcome = await _answer(book, live, opened)
    except asyncio.CancelledError:
        outcome = live.end_with or store.interruption()
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
    await book.close(live, outcome)
    log.info(
        "reply ended",
        extra={
            "thread_id": str(live.thread_id),
            "reply": str(live.id),
            "status": outcome.status.value,
            "stop_reason": outcome.stop_reason,
            "error_code": outcome.error["code"] if outcome.error else None,
        },
    )


async def _answer(book: Journal, live: LiveReply, opened: Opened) -> Outcome:
    snapshot, context = opened.recorded or await in_database(store.build_and_record)(
        message_id=opened.message.id, reply_id=opened.reply.id
    )
    if context.purpose is ContextSnapshot.Purpose.REWRITE:
        query = await _ask_for_query(snapshot, context)
        snapshot, context = await in_database(store.build_and_record)(
            message_id=opened.message.id, reply_id=opened.reply.id, query=query
        )
    _log_request(opened, snapshot, context)
    book.append(live, "context.built", _context_built(snapshot, context))
    book.append(live, "reply.started", {"provider": context.provider, "model": context.model})
    check(
        context.payload,
        newest=text_of(context.newest.content),
        total_tokens=context.total_tokens,
        hard_cap=context.budget.hard_cap,
    )
    began = time.perf_counter()
    first_token_ms: int | None = None
    cleaner = StreamCleaner()
    finished: Finished | None = None
    async with aclosing(get_provider(context.provider).stream(context.payload)) as stream:
        async for event in stream:
            match event:
                case TextDelta():
                    if first_token_ms is None:
                        first_token_ms = round((time.perf_counter() - began) * 1000)
                    if text := cleaner.feed(event.text):
                        book.say(live, text)
                case Finished():
                    finished = event
    if rest := cleaner.end():
        book.say(live, rest)
    if finished is None:
        raise ProviderError("cut_off", "The model's answer was cut off. Try again.", retryable=True)
    return _outcome(finished, has_text=bool("".join(live.text).strip()), first_token_ms=first_token_ms)


async def _ask_for_query(snapshot: ContextSnapshot, context: Context) -> Rewriting:
    """What a small model makes of the message. Whatever goes wrong, the message goes alone (Q3), and staff can see why."""
    asked = await ask_model(
        provider=get_provider(context.provider), payload=context.payload, text=text_of(context.newest.content)
    )
    ended = asked.end
    outcome = _failed(_model_error(ended)) if isinstance(ended, ProviderError) else Outcome.of(ended)
    await in_database(store.end_request)(snapshot, outcome)
    return asked.rewriting


def _outcome(finished: Finished, *, has_text: bool, first_token_ms: int | None) -> Outcome:
    if not has_text and finished.stop_reason == "refusal":
        raise ProviderError("refused", "The model declined to answer this. Put it another way.", retryable=False)
    if not has_text:
        raise ProviderError("empty_reply", "The model sent an empty answer. Try again.", retryable=True)
    if finished.stop_reason in WHOLE:
        status = Message.Status.COMPLETE
    elif finished.stop_reason == "refusal":
        status = Message.Status.REFUSED
    else:
        status = Message.Status.INCOMPLETE
    return Outcome.of(finished, message_status=status, first_token_ms=first_token_ms)


def _failed(error: dict[str, Any]) -> Outcome:
    return Outcome(status=Reply.Status.FAILED, message_status=Message.Status.FAILED, error=error)


def _model_error(error: ProviderError) -> dict[str, Any]:
    return error_object(
        type="model", code=error.code, message=clean(error.message), details={"retryable": error.retryable}
    )


def _internal_error(code: str, message: str, error: Exception) -> dict[str, Any]:
    return error_object(
        type="internal",
        code=code,
        message=f"{message} Your message is saved; try again.",
        details={"retryable": True, "kind": type(error).__name__},
    )


def _context_built(snapshot: ContextSnapshot, context: Context) -> dict[str, Any]:
    return {
        "request": str(snapshot.id),
        "total_tokens": context.total_tokens,
        "budget": context.budget.total_tokens,
        "hard_cap": context.budget.hard_cap,
        "message_history_count": len(context.history),
        "left_out": context.left_out,
    }


def _log_request(opened: Opened, snapshot: ContextSnapshot, context: Context) -> None:
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
            "tokens": context.total_tokens,
            "timings_ms": context.timings_ms,
        },
    )
