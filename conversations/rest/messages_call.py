"""A call of the Messages API before it is answered: where it goes, and what of its history and files is stored."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from rest_framework.request import Request

from conversations import tasks, threads
from conversations.accounts import allowances
from conversations.accounts.group_access import access_of
from conversations.context.built_context import Context
from conversations.context.caller_options import CallerOptions
from conversations.context.tokens.estimate import text_of, turn_tokens
from conversations.errors import InvalidMessage, OpenbookError, ReplyNotFound
from conversations.files import store, uploads
from conversations.files.store import file_block
from conversations.models import Assistant, File, Reply, text_blocks
from conversations.replies import history_files, model_requests
from conversations.replies.append import append
from conversations.replies.user_content import NewMessage, client_id, user_blocks
from conversations.rest import messages_shapes as shapes
from conversations.rest.base import caller, token_of
from conversations.rest.caller_checks import refuse_unmet, tokens_of
from conversations.rest.message_file_tokens import named_blocks
from conversations.rest.message_files import NOT_TAKEN, SentFile
from conversations.rest.thread_matching import (
    IncomingMessage,
    PathTurn,
    ThreadMatch,
    digests_of,
    last_calls,
    open_calls,
    place_of,
)
from conversations.runtime.db import in_database

MOST_RESTORED = 50
"""Files of a history that is stored: the newest."""
READ_SECONDS, LOOK_SECONDS = 60, 0.2
SHARE_OF_INSTRUCTIONS = 2
"""One of so many parts of an assistant's context is the most that a program's instructions may take."""


@dataclass(frozen=True, kw_only=True)
class MatchedCall:
    """A call, and where it goes. ``assistant`` is the one that answers, ``thread`` is ``None`` for a new one. ``files`` are
    those that the turn brings; ``received`` those among them that came with the call; ``restored`` those of the history that
    was stored with it."""

    call: shapes.MessagesCall
    files: Sequence[uuid.UUID] = ()
    received: Sequence[uuid.UUID] = ()
    restored: Sequence[uuid.UUID] = ()
    blocks: list[dict[str, Any]]
    key: str | None
    match: ThreadMatch
    thread: uuid.UUID | None
    assistant: Assistant


def match_call(request: Request, call: shapes.MessagesCall) -> MatchedCall:
    """Raises an ``OpenbookError`` where a call can't be answered; nothing is stored yet."""
    user, blocks = caller(request), user_blocks(call.newest, may_be_empty=bool(call.files or call.results))
    key = client_id(request.headers.get("Idempotency-Key"))
    digests = _digests(user, call)
    incoming = IncomingMessage(
        text=text_of(blocks),
        files=[digests(file) for file in call.files],
        calls=open_calls(call.results),
        earlier=[
            PathTurn(turn.role, turn.text, [digests(file) for file in turn.files], open_calls(turn.blocks))
            for turn in call.earlier
        ],
        retried=request.headers.get("X-Stainless-Retry-Count", "0") != "0",
        key=key,
    )
    named = request.headers.get("X-Openbook-Thread") or call.thread
    if call.previous:
        named = _thread_after(user, call.previous, retried=incoming.retried or bool(key))
    match, assistant = _placed(user, incoming, named, call.model)
    check_room(assistant, call.options)
    refuse_unmet(assistant, call.options, thinks=call.thinks, names=call.names)
    thread = match.thread.id if match.thread else None
    own = [file.id for file in call.files if file.id]
    matched = MatchedCall(
        call=call,
        files=own,
        blocks=blocks,
        key=key,
        match=match,
        thread=thread,
        assistant=assistant,
    )
    _check_results(matched)
    return matched


def _thread_after(user: User, previous: uuid.UUID, *, retried: bool) -> str:
    """The thread whose newest turn is what this reply came to; a program that tries again may have stored its next one already.
    Raises ``NotFound``, and ``InvalidMessage`` where something was said after it."""
    reply = threads.row_with_id(Reply.objects.filter(user=user), previous, ReplyNotFound)
    newest = threads.messages_of(reply.thread).order_by("-depth").values_list("reply", flat=True).first()
    if newest != reply.id and not retried:
        raise InvalidMessage(
            "`previous_response_id` is not the newest answer of its thread, which goes on from its end. Name that one, or send "
            "the whole conversation as `input`.",
            field="previous_response_id",
        )
    return str(reply.thread_id)


def _check_results(matched: MatchedCall) -> None:
    """Raises ``InvalidMessage`` where a result belongs to no call that waits for one."""
    call, match = matched.call, matched.match
    if not call.results or match.reply:
        return
    if is_to_import(matched) or match.thread is None:
        waiting = open_calls(call.earlier[-1].blocks) if call.earlier else frozenset()
    else:
        waiting = last_calls(match.thread)
    if others := sorted(open_calls(call.results) - waiting):
        raise InvalidMessage(
            f"`tool_use_id` {others[0][:80]!r} names no call that the turn before it ends with. Send the assistant's message "
            "as you got it, and name its thread.",
            field="messages",
        )


def _placed(user: User, incoming: IncomingMessage, named: str | None, model: str) -> tuple[ThreadMatch, Assistant]:
    """Where a message goes, and who answers: in a thread that is named its own assistant, of which nothing else is asked."""
    if named not in (None, threads.NEW):
        match = place_of(user, incoming, named=named, assistant=None)
        assert match.thread
        return match, match.thread.assistant
    access = access_of(user.pk)
    chosen = threads.offered_assistants(access).filter(slug=model).first()
    match = place_of(user, incoming, named=named, assistant=chosen)
    return match, match.thread.assistant if match.thread else chosen or threads.assistant_named(None, access)


def _digests(user: User, call: shapes.MessagesCall) -> Callable[[SentFile], bytes | None]:
    """What tells files apart: of those that the program names by their ids, what is stored."""
    files = [*call.files, *(file for turn in call.earlier for file in turn.files)]
    stored = digests_of(user.pk, [str(file.id) for file in files if file.id])
    return lambda file: stored.get(str(file.id)) if file.id else file.sha256


def check_room(assistant: Assistant, options: CallerOptions) -> None:
    """Raises ``InvalidMessage`` where instructions would leave too little of the context for anything else."""
    tokens, most = tokens_of(options), assistant.total_tokens // SHARE_OF_INSTRUCTIONS
    if tokens > most:
        roomy = threads.offered_assistants().filter(total_tokens__gte=tokens * SHARE_OF_INSTRUCTIONS)
        what = "`system` and `tools` take" if options.fields.tools else "`system` takes"
        names = ", ".join(roomy.values_list("slug", flat=True)) or "none is offered here"
        raise InvalidMessage(
            f"{what} about {tokens:,} tokens; the assistant {assistant.slug} has room for {most:,}. Shorten it, or "
            f"name an assistant with more room as `model`: {names}.",
            field="tools" if options.fields.tools else "system",
        )


def store_history(request: Request, call: shapes.MessagesCall) -> MatchedCall:
    """The call, once the history that came with it is stored where that is new: it is held no longer while the reply runs."""
    user, token, matched = caller(request), token_of(request), match_call(request, call)
    thread, restored = matched.thread, list[uuid.UUID]()
    if not matched.match.reply and is_to_import(matched):
        # A call that is refused is to leave nothing.
        allowances.refuse_unless_room(user.pk, token.pk if token else None, _estimated(user, matched))
        # A program that is cut off here finds the thread again by what it ends with.
        thread, restored = _import(user, matched)
    files, received = ((), ()) if matched.match.reply else _received(user, matched.call.files)
    call = replace(matched.call, earlier=[], files=[])
    return replace(matched, thread=thread, call=call, files=files, received=received, restored=restored)


def _import(user: User, matched: MatchedCall) -> tuple[uuid.UUID, list[uuid.UUID]]:
    """The thread with the history that came with the call, and the files of that. What of them can't be taken is left out."""
    turns = matched.call.earlier
    kept: dict[SentFile, File] = {}
    try:
        for file in to_restore(matched.call):
            with suppress(*NOT_TAKEN):
                if found := _restored(user, file):
                    kept[file] = found
        blocks = [
            (turn.role, _content(turn, [file_block(kept[file]) for file in turn.files if file in kept]))
            for turn in turns
        ]
        thread = append(
            user=user,
            thread_id=matched.thread,
            turns=[turn for turn in blocks if turn[1]],
            assistant=matched.assistant.slug,
        )
    except OpenbookError:
        store.delete_unsent(user, [file.id for file in kept.values()])
        raise
    ids = [file.id for file in kept.values()]
    history_files.claim(user, ids, thread)
    return thread, ids


def to_restore(call: shapes.MessagesCall) -> list[SentFile]:
    return [file for turn in call.earlier for file in turn.files][-MOST_RESTORED:]


def _content(turn: shapes.SentTurn, files: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What tools gave comes first, calls of tools come last."""
    words = text_blocks(turn.text) if turn.text else []
    return [*files, *words, *turn.blocks] if turn.role == "assistant" else [*files, *turn.blocks, *words]


def _restored(user: User, file: SentFile) -> File | None:
    """A file of the history: stored, or there and in no other thread."""
    if file.id:
        return store.of(user).filter(id=file.id, thread=None).first()
    return store.get(user, _stored(user, file))


async def until_read(user: User, ids: Sequence[uuid.UUID]) -> None:
    """Once these files have been read. A history that takes too long is gone on with as far as it is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(READ_SECONDS):
            while await in_database(store.are_being_read)(user.pk, [*map(str, ids)]):  # noqa: ASYNC110
                await asyncio.sleep(LOOK_SECONDS)  # a worker reads them, and rings no bell


def _received(user: User, files: Sequence[SentFile]) -> tuple[Sequence[uuid.UUID], Sequence[uuid.UUID]]:
    """The ids of the files that a turn brings, in order, and of those among them that came with it: all, or none."""
    ids: list[uuid.UUID] = []
    received: list[uuid.UUID] = []
    try:
        for file in files:
            if not file.id:
                received.append(_stored(user, file))
            ids.append(file.id or received[-1])
    except OpenbookError:
        store.delete_unsent(user, received)
        raise
    return ids, received


def _stored(user: User, file: SentFile) -> uuid.UUID:
    upload = file.written()
    try:
        return uploads.receive(user, upload, enqueue=tasks.enqueue_reading).id
    finally:
        upload.path.unlink(missing_ok=True)


def _estimated(user: User, matched: MatchedCall) -> int:
    """What the model would be given, and what it might write and think, in tokens."""
    coming = upcoming_context(user, matched)
    return tokens_with_history(coming, matched) + coming.max_tokens


def upcoming_context(user: User, matched: MatchedCall, unstored: Sequence[SentFile] = ()) -> Context:
    message = NewMessage(
        user=user,
        thread_id=matched.thread,
        assistant=matched.assistant.slug,
        blocks=[*named_blocks(unstored), *matched.call.results, *matched.blocks],
        files=matched.files,
    )
    brings_files = bool(matched.call.files or (is_to_import(matched) and to_restore(matched.call)))
    return model_requests.upcoming(message, options=matched.call.options, brings_files=brings_files).context


def tokens_with_history(coming: Context, matched: MatchedCall) -> int:
    """What the model would be given, with the history that is still to be stored."""
    turns = matched.call.earlier if is_to_import(matched) else ()
    earlier = sum(turn_tokens(_content(turn, ())) for turn in turns)
    room = max(0, coming.budget.history_tokens - coming.history_tokens)
    return coming.model_tokens + min(earlier, room)


def is_to_import(matched: MatchedCall) -> bool:
    """A thread's own history wins; only one that has none is given what the program says went before."""
    thread = matched.match.thread
    return bool(matched.call.earlier) and (thread is None or thread.message_count == 0)
