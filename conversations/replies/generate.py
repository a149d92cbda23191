"""One turn from question to stored answer, and the only ways to set it going: ``start``, ``start_preset`` and ``retry``."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

from django.contrib.auth.models import User

from conversations.context.caller_options import NO_OPTIONS, CallerOptions
from conversations.context.render.invariants import BrokenInvariant
from conversations.errors import OpenbookError, Unavailable
from conversations.models import ApiToken, Assistant, Reply
from conversations.providers import ProviderError
from conversations.replies import closing, opening
from conversations.replies.doorbell import owner_key
from conversations.replies.exact_counts import CountJob
from conversations.replies.journal import Journal, LiveReply, is_draining, journal
from conversations.replies.model_requests import OpenedReply
from conversations.replies.model_titles import TitleJob
from conversations.replies.outcomes import failure, interruption, stopped, without_turn
from conversations.replies.rounds import ReplyRun
from conversations.replies.transcript import ReplyTranscript
from conversations.replies.user_content import NewMessage, client_id, file_ids, user_blocks
from conversations.runtime import telemetry
from conversations.runtime.db import in_database, on_event_loop
from conversations.runtime.telemetry import ReplyStep

log = logging.getLogger("openbook.replies")


class NewTurn(TypedDict):
    """What a reply to a new turn is begun with.

    ``thread_id`` ``None`` opens a thread; ``token`` is what the caller came with, if any; ``model`` is one that can be
    chosen for the assistant, for this message alone, ``thread_model`` the one that answers in a thread that this opens, and
    ``project`` the one that it is opened in; ``temporary`` whether that thread goes when it is closed. ``edits`` is the id of
    the message that this is another version of. ``results`` are what tools gave that the sender runs, checked.
    """

    user: User
    thread_id: uuid.UUID | str | None
    content: Any
    files: NotRequired[Any]
    results: NotRequired[Sequence[dict[str, Any]]]
    client_message_id: NotRequired[Any]
    assistant: NotRequired[str | None]
    options: NotRequired[CallerOptions]
    model: NotRequired[str]
    thread_model: NotRequired[str]
    project: NotRequired[uuid.UUID | str | None]
    edits: NotRequired[Any]
    temporary: NotRequired[bool]
    token: NotRequired[ApiToken | None]


async def start(**values: Unpack[NewTurn]) -> OpenedReply:
    """Store a user turn and let the model answer it. The only way in, for socket, REST and commands.

    Returns as soon as the turn is committed; the reply runs on by itself: ``follow`` it. Raises an ``OpenbookError`` that says
    what to do; then nothing is stored.
    """
    return await in_database(begin)(**values)


def begin(**values: Unpack[NewTurn]) -> OpenedReply:
    """The same as ``start``, from within a step for the database."""
    files, results = file_ids(values.get("files")), values.get("results", ())
    message = NewMessage(
        user=values["user"],
        thread_id=values["thread_id"],
        files=files,
        client_message_id=client_id(values.get("client_message_id")),
        blocks=[*results, *user_blocks(values["content"], may_be_empty=bool(files or results))],
        assistant=values.get("assistant"),
        model=values.get("model", ""),
        thread_model=values.get("thread_model", ""),
        project=values.get("project"),
        edits=values.get("edits"),
        temporary=values.get("temporary", False),
    )
    options, token = values.get("options", NO_OPTIONS), values.get("token")
    return _begin(opening.open_turn, message=message, options=options, token=token)


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
    return await _start(opening.open_preset, user=user, thread_id=thread_id, slug=preset, click=click, token=token)


async def retry(
    *,
    user: User,
    reply_id: uuid.UUID | str,
    model: str = "",
    options: CallerOptions = NO_OPTIONS,
    token: ApiToken | None = None,
) -> OpenedReply:
    """Another reply for the same user turn, or another run of the same preset. ``model`` may be the assistant's fallback."""
    return await _start(opening.open_retry, user=user, reply_id=reply_id, model=model, options=options, token=token)


async def go_on(
    *, user: User, reply_id: uuid.UUID | str, options: CallerOptions = NO_OPTIONS, token: ApiToken | None = None
) -> OpenedReply:
    """A reply that goes on where this one was cut short: its text begins with all that there is."""
    return await _start(opening.open_continuation, user=user, reply_id=reply_id, options=options, token=token)


async def stop(*, user: User, reply_id: uuid.UUID | str) -> Reply:
    """Stop a reply, in whatever process it runs; the text so far is kept. One that has ended stays as it is."""
    reply = await in_database(closing.request_stop)(user=user, reply_id=reply_id)
    book = journal()
    if live := book.live.get(reply.id):
        live.end(stopped())
    else:
        book.doorbell.ring(owner_key(reply.owner))
    return reply


async def _start(open_it: Callable[..., OpenedReply], **values: Any) -> OpenedReply:
    return await in_database(_begin)(open_it, **values)


def _begin(open_it: Callable[..., OpenedReply], **values: Any) -> OpenedReply:
    """Store what a reply begins with, and have it generated, also where whoever asked leaves meanwhile."""
    if is_draining():
        raise Unavailable("The server is restarting. Nothing was stored; send again in a moment.")
    with telemetry.listener.reply() as step:
        opened = open_it(**values)
        if not opened.repeated:
            step.record_opened(opened.thread, opened.reply)
    if not opened.repeated:
        on_event_loop(_let_run, opened, step)
    return opened


def _let_run(opened: OpenedReply, step: ReplyStep) -> None:
    with step:
        _set_going(journal(), opened, step)


def _set_going(book: Journal, opened: OpenedReply, step: ReplyStep) -> None:
    assert opened.saved is not None  # a repeated message has no new reply
    assistant, before = opened.thread.assistant, opened.continues.blocks if opened.continues else ()
    live = LiveReply(
        id=opened.reply.id,
        thread_id=opened.thread.id,
        user_id=opened.thread.user_id,
        events=[opened.saved],
        wake=book.wake,
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
    run = ReplyRun(live, opened)
    try:
        outcome = await run.answer()
    except asyncio.CancelledError:
        outcome = live.end_with or interruption()
    except Exception as error:  # whatever it is, the reply ends and the person is told
        about = {"reply": str(live.id), "thread_id": str(live.thread_id)}
        if isinstance(error, BrokenInvariant):
            log.error("request not sent", extra={**about, "rule": error.rule})
        elif not isinstance(error, ProviderError | OpenbookError):
            log.exception("reply failed", extra=about)
        outcome = failure(error)
    if live.held is not None:  # what nobody has checked is neither shown nor kept
        live.transcript.drop_round()
    outcome = outcome.after(live.call)
    await book.close(live, without_turn(outcome) if live.silent else outcome)
    error_code = outcome.error["code"] if outcome.error else None
    live.telemetry.record_closed(outcome.status.value, error_code, outcome.usage + live.spent.told)
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
    answered = None
    if used := live.model_used:
        answered = CountJob(user=live.user_id, thread=live.thread_id, provider=used[0], model=used[1])
        if outcome.status is Reply.Status.COMPLETED and _begins_thread(live, opened):
            book.titles.want(TitleJob(user=live.user_id, thread=live.thread_id, provider=used[0], model=used[1]))
    book.learning.want(live.user_id, answered)
    if not is_draining():
        await run.moderation.examine_rest([*live.transcript.current, *live.transcript.unfinished])


def _begins_thread(live: LiveReply, opened: OpenedReply) -> bool:
    """Whether it answered the first message, in words: what was asked for as an artifact names no thread."""
    is_first = opened.message is not None and opened.message.depth == 1
    return is_first and not live.silent and not live.transcript.artifacts
