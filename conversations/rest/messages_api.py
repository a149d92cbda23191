"""``/v1/``: the Anthropic Messages API, so that any program written for it has Openbook's memory behind it."""

import time
import traceback
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import errors, replies, threads, wire
from conversations.accounts.group_access import access_of
from conversations.errors import (
    ErrorObject,
    NotFound,
    OpenbookError,
)
from conversations.files import store
from conversations.models import ApiToken, Assistant, Scope
from conversations.replies import history_files
from conversations.replies.events import Event, data_of
from conversations.rest import messages_shapes as shapes
from conversations.rest import streams
from conversations.rest.authentication import TokenAuthentication
from conversations.rest.base import APIView, AsyncAPIView, caller, token_of
from conversations.rest.errors import exception_handler
from conversations.rest.message_file_tokens import tokens_of_unstored
from conversations.rest.messages_body import BodyParser
from conversations.rest.messages_call import (
    MatchedCall,
    is_to_import,
    match_call,
    store_history,
    to_restore,
    tokens_with_history,
    until_read,
    upcoming_context,
)
from conversations.rest.thread_matching import (
    MessageAction,
)
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import WorkKind
from conversations.runtime.memory_budget import MemoryRoom
from conversations.runtime.request_ids import current_request_id
from conversations.runtime.text import clean
from conversations.wire.events import ContextBuiltData, ReplyEndedData

LARGE_BODY = 2**20
"""Bytes from which on a body is read apart from replies, one at a time."""
READ_AT_ONCE = MemoryRoom(2 * 2**20)
"""For bodies that are smaller: a history takes some twenty times as much memory while it is read and stored."""


class KeyAuthentication(TokenAuthentication):
    """``x-api-key: …`` too, as the SDKs of the Messages API send it. Nobody is here without a token."""

    def offered(self, request: Request) -> str:
        return request.headers.get("X-Api-Key") or super().offered(request) or ""

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class InTheirShape(APIView):
    """Errors and headers as the Messages API has them."""

    schema = None  # documented apart, in docs/messages-api.md
    refuses_unknown_parameters = False  # SDKs add some, such as ?beta=true
    authentication_classes = [KeyAuthentication]
    parser_classes = [BodyParser]
    statuses: ClassVar[Mapping[int, int]] = shapes.STATUSES
    """Of ours, as programs for this API know them."""

    def get_exception_handler(self) -> Any:
        return answer_in_their_shape

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        final = super().finalize_response(request, response, *args, **kwargs)
        final["request-id"] = current_request_id.get()
        return final


def answer_in_their_shape(exception: Exception, context: dict[str, Any]) -> Response | None:
    response = exception_handler(exception, context)
    if response is not None:
        response.status_code = context["view"].statuses.get(response.status_code, response.status_code)
        response.data = shapes.error_body(response.status_code, response.data["error"])
    return response


@dataclass(frozen=True, kw_only=True)
class StartedReply:
    thread: uuid.UUID
    reply: uuid.UUID
    model: str
    stop_sequence: str | None = None
    """The only text at which it was to end."""

    @property
    def id(self) -> str:
        return f"msg_{self.reply.hex}"

    def headers(self, request_id: str | None) -> dict[str, str]:
        named = {"thread": str(self.thread), "reply": str(self.reply), "request": request_id}
        return {f"x-openbook-{name}": value for name, value in named.items() if value}


class Frames(Protocol):
    """A reply's events as the events of an API, ready to be sent."""

    def of(self, event: Event) -> Iterator[bytes]: ...
    def waiting(self) -> Iterator[bytes]:
        """What keeps the connection open while nothing comes."""


class Messages(InTheirShape, AsyncAPIView):
    """The way in for each API that sends all messages with each call; others have their own shapes in place of these."""

    error_event = staticmethod(wire.error_event)
    """How a stream is told that its reader may not go on."""

    def read(self, body: Any) -> shapes.MessagesCall:
        return shapes.read_call(body)

    def answer(self, ending: Event, begun: StartedReply, call: shapes.MessagesCall) -> shapes.Json:
        return shapes.answer(ending, id=begun.id, model=begun.model, stop_sequence=begun.stop_sequence)

    def frames(self, begun: StartedReply, call: shapes.MessagesCall) -> Frames:
        stream = shapes.MessagesStream(id=begun.id, model=begun.model, stop_sequence=begun.stop_sequence)
        return MessagesFrames(stream)

    async def post(self, request: Request) -> HttpResponseBase:
        """Answer the newest message. The reply goes on if the program leaves."""
        ready = await _apart(request, lambda: store_history(request, self.read(request.data)))
        if ready.thread and ready.restored:
            await until_read(caller(request), ready.restored)
            await in_database(history_files.place)(caller(request).pk, ready.thread, ready.assistant)
        try:
            begun = await _begin(caller(request), ready, token_of(request))
        except OpenbookError:
            await in_database(store.delete_unsent)(caller(request), ready.received)
            raise
        if not ready.call.stream:
            return self._whole(await _last(replies.follow(begun.reply)), begun, ready.call)
        events = replies.follow_ticking(begun.reply, seconds=streams.tick_seconds())
        return await self._streamed(events, begun, self.frames(begun, ready.call))

    def _whole(self, ending: Event, begun: StartedReply, call: shapes.MessagesCall) -> Response:
        headers = begun.headers(data_of(ending, ReplyEndedData)["request"])
        if failed := shapes.failure(ending):
            return self._failed(*failed, headers)
        return Response(self.answer(ending, begun, call), headers=headers)

    def _failed(self, status: int, error: ErrorObject, headers: dict[str, str]) -> Response:
        details, status = error["details"], self.statuses.get(status, status)
        headers = {**headers, "x-should-retry": "true" if details.get("retryable") else "false"}
        if "retry_after" in details:
            headers["retry-after"] = str(details["retry_after"])
        return Response(shapes.error_body(status, error), status=status, headers=headers)

    async def _streamed(
        self, events: AsyncGenerator[Event | None], begun: StartedReply, frames: Frames
    ) -> HttpResponseBase:
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
            return self._failed(*failed, headers)
        sent = _sent(first, events, frames)
        response = streams.EventStream(sent, content_type="text/event-stream", headers=headers)
        response.error_event = self.error_event
        return response


@dataclass(frozen=True)
class MessagesFrames:
    stream: shapes.MessagesStream

    def of(self, event: Event) -> Iterator[bytes]:
        return map(shapes.frame, self.stream.of(event))

    def waiting(self) -> Iterator[bytes]:
        return map(shapes.frame, [*self.stream.begin(), shapes.PING])


class CountTokens(InTheirShape, AsyncAPIView):
    scopes = {"POST": Scope.READ}

    async def post(self, request: Request) -> Response:
        """What the model would be given, in estimated tokens. Calls no model and writes nothing."""

        def count() -> int:
            matched = match_call(request, shapes.read_call(request.data, counting=True))
            restored = to_restore(matched.call) if is_to_import(matched) else []
            coming = upcoming_context(caller(request), matched, [*restored, *matched.call.files])
            files = tokens_of_unstored(matched.call.files, coming, matched.assistant)
            files += tokens_of_unstored(restored, coming, matched.assistant, leaves_out=True)
            return tokens_with_history(coming, matched) + files

        return Response({"input_tokens": await _apart(request, count)})


class ModelList(InTheirShape):
    def get(self, request: Request) -> Response:
        """The assistants, all on one page."""
        models = [shapes.model_object(assistant) for assistant in _offered(request)]
        ids = [model["id"] for model in models] or [None]
        return Response({"object": "list", "data": models, "has_more": False, "first_id": ids[0], "last_id": ids[-1]})


class ModelDetail(InTheirShape):
    def get(self, request: Request, slug: str) -> Response:
        assistant = _offered(request).filter(slug=clean(slug)).first()
        if assistant is None:
            raise NotFound("There is no assistant of that name. GET /v1/models lists them.")
        return Response(shapes.model_object(assistant))


def _offered(request: Request) -> QuerySet[Assistant]:
    return threads.offered_assistants(access_of(caller(request).pk))


CALLS = (
    "POST /v1/messages, POST /v1/messages/count_tokens, POST /v1/chat/completions, POST /v1/responses, GET /v1/models"
)
NOT_OFFERED = {
    "embeddings": "no model here makes them. What was said is found with GET /api/v1/memories/search/",
    "completions": "a model is asked with messages here. Use POST /v1/chat/completions",
    "files": "files have calls of their own. Use POST /api/v1/files/",
}
"""What programs for the API of OpenAI may look for, and why it isn't there."""


@csrf_exempt
def unknown_call(request: HttpRequest, **_: str) -> JsonResponse:
    name = request.path.removeprefix("/v1/").partition("/")[0]
    if why := NOT_OFFERED.get(name):
        return failed(404, "not_offered", f"/v1/{name} is not offered: {why}.")
    return failed(404, "not_found", f"There is no such call here: {CALLS}.")


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


async def _begin(user: User, ready: MatchedCall, token: ApiToken | None) -> StartedReply:
    match, model, options = ready.match, ready.assistant.slug, ready.call.options
    stops = options.fields.stop_sequences
    only_stop = stops[0] if len(stops) == 1 else None
    if match.thread and match.reply and match.step is MessageAction.FOLLOW:
        return StartedReply(thread=match.thread.id, reply=match.reply, model=model, stop_sequence=only_stop)
    if match.reply:
        opened = await replies.retry(user=user, reply_id=match.reply, options=options, token=token)
    else:
        opened = await replies.start(
            user=user,
            thread_id=ready.thread,
            content=ready.blocks,
            results=ready.call.results,
            files=[str(id) for id in ready.files],
            client_message_id=ready.key,
            assistant=model,
            options=options,
            token=token,
        )
        if opened.repeated:  # the files are there from the first time
            await in_database(store.delete_unsent)(user, ready.received)
    return StartedReply(thread=opened.thread.id, reply=opened.reply.id, model=model, stop_sequence=only_stop)


async def _last(events: AsyncGenerator[Event]) -> Event:
    async for event in events:
        last = event
    return last


async def _sent(first: list[Event], events: AsyncGenerator[Event | None], frames: Frames) -> AsyncIterator[bytes]:
    for event in first:
        for frame in frames.of(event):
            yield frame
    async with aclosing(events):
        async for upcoming in events:
            for frame in frames.of(upcoming) if upcoming else frames.waiting():
                yield frame
