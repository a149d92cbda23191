"""``/v1/``: the Anthropic Messages API, so that any program written for it has Openbook's memory behind it."""

import asyncio
import io
import sys
import time
import traceback
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import errors, replies, tasks, threads
from conversations.accounts import allowances
from conversations.context.built_context import Context
from conversations.context.caller_options import CallerOptions
from conversations.context.tokens.estimate import estimate_tokens, text_of, turn_tokens
from conversations.errors import (
    ErrorObject,
    InvalidImport,
    InvalidMessage,
    MessageTooLong,
    NotFound,
    OpenbookError,
)
from conversations.files import store, uploads
from conversations.files.store import file_block
from conversations.import_export.disk_lists import Scratch
from conversations.import_export.json_stream import Shape, Text
from conversations.models import ApiToken, Assistant, File, Scope, text_blocks
from conversations.replies import history_files, model_requests
from conversations.replies.append import append
from conversations.replies.events import Event, data_of
from conversations.replies.user_content import NewMessage, client_id, user_blocks
from conversations.rest import messages_shapes as shapes
from conversations.rest import streams
from conversations.rest.authentication import TokenAuthentication
from conversations.rest.base import APIView, AsyncAPIView, caller, token_of
from conversations.rest.errors import exception_handler
from conversations.rest.message_file_tokens import named_blocks, tokens_of_unstored
from conversations.rest.message_files import NOT_TAKEN, SentFile, read_raw_text
from conversations.rest.thread_matching import (
    IncomingMessage,
    MessageAction,
    PathTurn,
    ThreadMatch,
    digests_of,
    place_of,
)
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import WorkKind
from conversations.runtime.memory_budget import MemoryRoom
from conversations.runtime.request_ids import current_request_id
from conversations.runtime.text import clean
from conversations.wire.events import ContextBuiltData, ReplyEndedData

LARGEST_BODY = 32 * 2**20
"""As in the Messages API: programs send their whole history."""
LARGE_BODY = 2**20
"""Bytes from which on a body is read apart from replies, one at a time."""
READ_AT_ONCE = MemoryRoom(2 * 2**20)
"""For bodies that are smaller: a history takes some twenty times as much memory while it is read and stored."""
MOST_MESSAGES, MOST_TEXT = 10_000, 8 * 2**20
"""Of a body, and what their texts may take in memory."""
BLOCKS: Shape = [dict.fromkeys(("type", "text"))]
NAMES: Mapping[str, Shape] = {
    **dict.fromkeys(("model", "max_tokens", "messages", "metadata", "output_config", "stream")),
    **dict.fromkeys(shapes.REFUSED),
    "system": BLOCKS,
}
MOST_RESTORED = 50
"""Files of a history that is stored: the newest."""
READ_SECONDS, LOOK_SECONDS = 60, 0.2
SHARE_OF_INSTRUCTIONS = 2
"""One of so many parts of an assistant's context is the most that a program's instructions may take."""


class KeyAuthentication(TokenAuthentication):
    """``x-api-key: …`` or ``Authorization: Bearer …``, as the SDKs of the Messages API send it."""

    def offered(self, request: Request) -> str:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return request.headers.get("X-Api-Key") or (token.strip() if scheme.lower() == "bearer" else "")

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class BodyParser(BaseParser):
    """Reads a body message by message, files onto the disk. What no call needs is passed over."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        assert parser_context
        scratch = parser_context["request"].scratch = Scratch()  # closed once the body is done with
        text = Text(_Limited(stream), scratch, most_elements=MOST_MESSAGES)
        try:
            body = _body(text, scratch) if text.next() == b"{" else text.value()
            text.end()
        except InvalidImport as error:
            raise ParseError(error.message.replace("document", "body")) from None
        return body


def _message_shape(scratch: Scratch) -> Shape:
    data = partial(read_raw_text, scratch=scratch)
    source: dict[str, Shape] = {**dict.fromkeys(("type", "media_type", "file_id")), "data": data}
    inner: Shape = [_block_shape(source)]
    return {"role": None, "content": [{**_block_shape({**source, "content": inner}), "content": inner}]}


def _block_shape(source: Mapping[str, Shape]) -> dict[str, Shape]:
    return {**dict.fromkeys(("type", "text", "title", "context")), "source": source}


def _body(text: Text, scratch: Scratch) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name in text.names():
        if name == "messages" and text.next() == b"[":
            body[name] = list(_messages(text, _message_shape(scratch)))
        elif name in NAMES:
            body[name] = text.read(NAMES[name])
        else:
            text.skip()
    return body


def _messages(text: Text, shape: Shape) -> Iterator[Any]:
    held = 0
    for _ in text.elements():
        message = text.read(shape)
        held += _memory_of(message)
        if held > MOST_TEXT:
            raise MessageTooLong(
                f"The messages hold more than {MOST_TEXT // 2**20} MiB of text. No model reads so much: leave the oldest out, "
                "or bring them with POST /api/v1/import/ and name the thread.",
                limit=MOST_TEXT,
            )
        yield message


def _memory_of(value: Any) -> int:
    """Bytes that its texts take in memory."""
    match value:
        case str():
            return sys.getsizeof(value)
        case dict():
            return sum(map(_memory_of, value.values()))
        case Sequence():
            return sum(map(_memory_of, value))
    return 0


class _Limited(io.RawIOBase):
    """Ends where a body is too large."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, LARGEST_BODY

    def read(self, size: int = -1, /) -> bytes:
        piece = self._stream.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise too_large()
        return piece


def too_large() -> MessageTooLong:
    return MessageTooLong(f"The request body is too large; the limit is {LARGEST_BODY:,} bytes.", limit=LARGEST_BODY)


@extend_schema(exclude=True)
class InTheirShape(APIView):
    """Errors and headers as the Messages API has them."""

    refuses_unknown_parameters = False  # SDKs add some, such as ?beta=true
    authentication_classes = [KeyAuthentication]
    parser_classes = [BodyParser]

    def get_exception_handler(self) -> Any:
        return answer_in_their_shape

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        final = super().finalize_response(request, response, *args, **kwargs)
        final["request-id"] = current_request_id.get()
        return final


def answer_in_their_shape(exception: Exception, context: dict[str, Any]) -> Response | None:
    response = exception_handler(exception, context)
    if response is not None:
        response.status_code = shapes.STATUSES.get(response.status_code, response.status_code)
        response.data = shapes.error_body(response.status_code, response.data["error"])
    return response


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


@dataclass(frozen=True, kw_only=True)
class StartedReply:
    thread: uuid.UUID
    reply: uuid.UUID
    model: str

    @property
    def id(self) -> str:
        return f"msg_{self.reply.hex}"

    def headers(self, request_id: str | None) -> dict[str, str]:
        named = {"thread": str(self.thread), "reply": str(self.reply), "request": request_id}
        return {f"x-openbook-{name}": value for name, value in named.items() if value}


class Messages(InTheirShape, AsyncAPIView):
    async def post(self, request: Request) -> HttpResponseBase:
        """Answer the newest message. The reply goes on if the program leaves."""
        ready = await _apart(request, lambda: _ready(request))
        if ready.thread and ready.restored:
            await _until_read(caller(request), ready.restored)
            await in_database(history_files.place)(caller(request).pk, ready.thread, ready.assistant)
        try:
            begun = await _begin(caller(request), ready, token_of(request))
        except OpenbookError:
            await in_database(store.delete_unsent)(caller(request), ready.received)
            raise
        if not ready.call.stream:
            return _whole(await _last(replies.follow(begun.reply)), begun)
        return await _streamed(replies.follow_ticking(begun.reply, seconds=streams.tick_seconds()), begun)


class CountTokens(InTheirShape, AsyncAPIView):
    scopes = {"POST": Scope.READ}

    async def post(self, request: Request) -> Response:
        """What the model would be given, in estimated tokens. Calls no model and writes nothing."""

        def count() -> int:
            matched = _match_call(request, counting=True)
            restored = _to_restore(matched.call) if _is_to_import(matched) else []
            coming = _upcoming(caller(request), matched, [*restored, *matched.call.files])
            files = tokens_of_unstored(matched.call.files, coming, matched.assistant)
            files += tokens_of_unstored(restored, coming, matched.assistant, leaves_out=True)
            return _with_history(coming, matched) + files

        return Response({"input_tokens": await _apart(request, count)})


class ModelList(InTheirShape):
    def get(self, request: Request) -> Response:
        """The assistants, all on one page."""
        models = [shapes.model_object(assistant) for assistant in threads.offered_assistants()]
        ids = [model["id"] for model in models] or [None]
        return Response({"data": models, "has_more": False, "first_id": ids[0], "last_id": ids[-1]})


class ModelDetail(InTheirShape):
    def get(self, request: Request, slug: str) -> Response:
        assistant = threads.offered_assistants().filter(slug=clean(slug)).first()
        if assistant is None:
            raise NotFound("There is no assistant of that name. GET /v1/models lists them.")
        return Response(shapes.model_object(assistant))


@csrf_exempt
def unknown_call(request: HttpRequest, **_: str) -> JsonResponse:
    message = "There is no such call here: POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models."
    return failed(404, "not_found", message)


def failed(status: int, code: str, message: str) -> JsonResponse:
    """For failures outside the views above."""
    body = shapes.error_body(status, errors.error_object(type="", code=code, message=message))
    return JsonResponse(body, status=status, headers={"request-id": body["request_id"]})


async def _apart[R](request: Request, function: Callable[[], R]) -> R:
    """The function's result: of a large body apart from others' steps, and one at a time; of others as there is room."""

    def carried_out() -> R:
        try:
            return function()
        except OpenbookError as error:
            traceback.clear_frames(error.__traceback__)  # or what was read would lie there until it is collected
            raise
        finally:
            if type(request.data) is dict:  # one that could not be read is another kind
                request.data.clear()
            if scratch := getattr(request, "scratch", None):
                scratch.close()

    announced = request.headers.get("Content-Length", "")
    if announced.isdigit() and int(announced) <= LARGE_BODY:
        async with READ_AT_ONCE.for_size(int(announced)):
            return await in_database(carried_out)()
    return await long_work.run(caller(request).pk, WorkKind.HISTORY, carried_out)


def _match_call(request: Request, *, counting: bool = False) -> MatchedCall:
    """Raises an ``OpenbookError`` where a call can't be answered; nothing is stored yet."""
    call = shapes.read_call(request.data, counting=counting)
    user, blocks = caller(request), user_blocks(call.newest, may_be_empty=bool(call.files))
    key = client_id(request.headers.get("Idempotency-Key"))
    chosen = threads.offered_assistants().filter(slug=call.model).first()
    digests = _digests(user, call)
    incoming = IncomingMessage(
        text=text_of(blocks),
        files=[digests(file) for file in call.files],
        earlier=[PathTurn(turn.role, turn.text, [digests(file) for file in turn.files]) for turn in call.earlier],
        retried=request.headers.get("X-Stainless-Retry-Count", "0") != "0",
        key=key,
    )
    named = request.headers.get("X-Openbook-Thread") or call.thread
    match = place_of(user, incoming, named=named, assistant=chosen)
    assistant = match.thread.assistant if match.thread else chosen or threads.assistant_named(None)
    check_room(assistant, call.options)
    thread = match.thread.id if match.thread else None
    own = [file.id for file in call.files if file.id]
    return MatchedCall(call=call, files=own, blocks=blocks, key=key, match=match, thread=thread, assistant=assistant)


def _digests(user: User, call: shapes.MessagesCall) -> Callable[[SentFile], bytes | None]:
    """What tells files apart: of those that the program names by their ids, what is stored."""
    files = [*call.files, *(file for turn in call.earlier for file in turn.files)]
    stored = digests_of(user.pk, [str(file.id) for file in files if file.id])
    return lambda file: stored.get(str(file.id)) if file.id else file.sha256


def check_room(assistant: Assistant, options: CallerOptions) -> None:
    """Raises ``InvalidMessage`` where instructions would leave too little of the context for anything else."""
    tokens, most = estimate_tokens(options.instructions), assistant.total_tokens // SHARE_OF_INSTRUCTIONS
    if tokens > most:
        roomy = threads.offered_assistants().filter(total_tokens__gte=tokens * SHARE_OF_INSTRUCTIONS)
        names = ", ".join(roomy.values_list("slug", flat=True)) or "none is offered here"
        raise InvalidMessage(
            f"`system` takes about {tokens:,} tokens; the assistant {assistant.slug} has room for {most:,}. Shorten it, or "
            f"name an assistant with more room as `model`: {names}.",
            field="system",
        )


def _ready(request: Request) -> MatchedCall:
    """The call, once the history that came with it is stored where that is new: it is held no longer while the reply runs."""
    user, token, matched = caller(request), token_of(request), _match_call(request)
    thread, restored = matched.thread, list[uuid.UUID]()
    if not matched.match.reply and _is_to_import(matched):
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
        for file in _to_restore(matched.call):
            with suppress(*NOT_TAKEN):
                if found := _restored(user, file):
                    kept[file] = found
        blocks = [
            (turn.role, [*(file_block(kept[file]) for file in turn.files if file in kept), *_words(turn.text)])
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


def _to_restore(call: shapes.MessagesCall) -> list[SentFile]:
    return [file for turn in call.earlier for file in turn.files][-MOST_RESTORED:]


def _words(text: str) -> list[dict[str, Any]]:
    return text_blocks(text) if text else []


def _restored(user: User, file: SentFile) -> File | None:
    """A file of the history: stored, or there and in no other thread."""
    if file.id:
        return store.of(user).filter(id=file.id, thread=None).first()
    return store.get(user, _stored(user, file))


async def _until_read(user: User, ids: Sequence[uuid.UUID]) -> None:
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


async def _begin(user: User, ready: MatchedCall, token: ApiToken | None) -> StartedReply:
    match, model, options = ready.match, ready.assistant.slug, ready.call.options
    if match.thread and match.reply and match.step is MessageAction.FOLLOW:
        return StartedReply(thread=match.thread.id, reply=match.reply, model=model)
    if match.reply:
        opened = await replies.retry(user=user, reply_id=match.reply, options=options, token=token)
    else:
        opened = await replies.start(
            user=user,
            thread_id=ready.thread,
            content=ready.blocks,
            files=[str(id) for id in ready.files],
            client_message_id=ready.key,
            assistant=model,
            options=options,
            token=token,
        )
        if opened.repeated:  # the files are there from the first time
            await in_database(store.delete_unsent)(user, ready.received)
    return StartedReply(thread=opened.thread.id, reply=opened.reply.id, model=model)


def _estimated(user: User, matched: MatchedCall) -> int:
    """What the model would be given, and what it might write and think, in tokens."""
    coming = _upcoming(user, matched)
    return _with_history(coming, matched) + coming.max_tokens


def _upcoming(user: User, matched: MatchedCall, unstored: Sequence[SentFile] = ()) -> Context:
    message = NewMessage(
        user=user,
        thread_id=matched.thread,
        assistant=matched.assistant.slug,
        blocks=[*named_blocks(unstored), *matched.blocks],
        files=matched.files,
    )
    brings_files = bool(matched.call.files or (_is_to_import(matched) and _to_restore(matched.call)))
    return model_requests.upcoming(message, options=matched.call.options, brings_files=brings_files).context


def _with_history(coming: Context, matched: MatchedCall) -> int:
    """What the model would be given, with the history that is still to be stored."""
    turns = matched.call.earlier if _is_to_import(matched) else ()
    earlier = sum(turn_tokens(text_blocks(turn.text)) for turn in turns)
    room = max(0, coming.budget.history_tokens - coming.history_tokens)
    return coming.model_tokens + min(earlier, room)


def _is_to_import(matched: MatchedCall) -> bool:
    """A thread's own history wins; only one that has none is given what the program says went before."""
    thread = matched.match.thread
    return bool(matched.call.earlier) and (thread is None or thread.message_count == 0)


async def _last(events: AsyncGenerator[Event]) -> Event:
    async for event in events:
        last = event
    return last


def _whole(ending: Event, begun: StartedReply) -> Response:
    headers = begun.headers(data_of(ending, ReplyEndedData)["request"])
    if failed := shapes.failure(ending):
        return _failed(*failed, headers)
    return Response(shapes.answer(ending, id=begun.id, model=begun.model), headers=headers)


def _failed(status: int, error: ErrorObject, headers: dict[str, str]) -> Response:
    details = error["details"]
    headers = {**headers, "x-should-retry": "true" if details.get("retryable") else "false"}
    if "retry_after" in details:
        headers["retry-after"] = str(details["retry_after"])
    return Response(shapes.error_body(status, error), status=status, headers=headers)


async def _streamed(events: AsyncGenerator[Event | None], begun: StartedReply) -> HttpResponseBase:
    """Waits until the model begins, but not for ever: what fails before is told by its status, which programs retry by."""
    first: list[Event] = []
    until = time.monotonic() + streams.KEEP_ALIVE_SECONDS
    async for event in events:
        if event is None:
            if time.monotonic() >= until:
                break
            continue
        first.append(event)
        if event.type in shapes.TELLING:
            break
    built = (data_of(event, ContextBuiltData) for event in first if event.type == "context.built")
    headers = begun.headers(next((data["request"] for data in built), None))
    if first and first[-1].is_last and (failed := shapes.failure(first[-1])):
        return _failed(*failed, headers)
    return streams.EventStream(_frames(first, events, begun), content_type="text/event-stream", headers=headers)


async def _frames(
    first: list[Event], events: AsyncGenerator[Event | None], begun: StartedReply
) -> AsyncIterator[bytes]:
    stream = shapes.MessagesStream(id=begun.id, model=begun.model)
    for event in first:
        for sent in stream.of(event):
            yield shapes.frame(sent)
    async with aclosing(events):
        async for upcoming in events:
            for sent in stream.of(upcoming) if upcoming else [*stream.begin(), shapes.PING]:
                yield shapes.frame(sent)
