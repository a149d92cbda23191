"""Messages and their replies: sent, streamed, foreseen as a context, followed, stopped, answered again."""

from functools import partial
from typing import Annotated, Any, TypedDict
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import replies, threads, wire
from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.errors import InvalidMessage, ReplyNotFound
from conversations.models import Message, Scope, Thread
from conversations.replies import model_requests
from conversations.replies.events import Event, data_of
from conversations.replies.model_requests import OpenedReply
from conversations.replies.user_content import NewMessage, file_ids, user_blocks
from conversations.rest import conditional
from conversations.rest.base import STREAMED, AsyncAPIView, Continuation, caller, event_stream, token_of
from conversations.rest.descriptions import describe
from conversations.rest.errors import ReplyFailed
from conversations.rest.pagination import ordered_by, turns_before
from conversations.rest.query_params import Parameter
from conversations.rest.serializers import described, valid
from conversations.rest.threads import Temporary
from conversations.runtime.db import in_database
from conversations.runtime.shapes import Id, Slug
from conversations.threads import paths
from conversations.wire.events import ReplyEndedData

ModelId = {"default": "", "allow_blank": True, "max_length": 121}


class MessageRequest(TypedDict):
    content: Annotated[Any, {"default": ""}, "A text, or a list of text blocks. May be empty where there are files."]
    files: Annotated[
        Any,
        {"default": None},
        "Ids of files that it brings, of `POST files/`, at most 20. They belong to the thread then.",
    ]
    client_message_id: Annotated[
        Any, {"default": None}, "Your own id of the message, at most 100 characters; makes sending idempotent."
    ]
    assistant: Annotated[Slug | None, {"default": None}, "For a new thread only."]
    model: Annotated[
        str,
        ModelId,
        "Of `GET models/`, for this message; any other is refused with 400 `model_not_offered`. Left out: the thread's.",
    ]
    thread_model: Annotated[
        str, ModelId, "For a new thread only: its model, of `GET models/`. Left out: the assistant's own."
    ]
    project: Annotated[Id | None, {"default": None}, "For a new thread only: the project that it is opened in."]
    edits: Annotated[
        Any,
        {"default": None},
        "Id of a message of yours in the thread that this is another version of: both are kept, and the path through this one "
        "becomes the active one.",
    ]
    temporary: Temporary


class RetryRequest(TypedDict):
    model: Annotated[
        str,
        ModelId,
        "Of `GET models/`, or the assistant's fallback model, to answer in place of the one that declined; any other is "
        "refused with 400 `model_not_offered`. Left out: the one that answered last.",
    ]


class MessageList(AsyncAPIView):
    part = Scope.CHAT
    pagination_class = ordered_by("position")
    before = Parameter("before", "`end`, or a position: the newest turns before it, oldest first.")
    path = Parameter(
        "path",
        "`all`: every turn, in the order in which they were stored; the id of a turn: the path that ends with it. "
        "Left out: the active path.",
    )

    @describe(responses=described(wire.MessageAnswer, many=True), parameters=[before, path])
    def get(self, request: Request, thread_id: str) -> Response:
        """The turns of a thread's active path, or of another one, oldest first."""
        thread = threads.get(caller(request), thread_id)
        tag = conditional.of_messages(thread, request.build_absolute_uri())
        return conditional.unless_known(request, tag, lambda: self._page(request, self._turns(request, thread)))

    def _turns(self, request: Request, thread: Thread) -> QuerySet[Message]:
        path = self.path.text(request)
        if path is None:
            return threads.messages_of(thread)
        return threads.every_message_of(thread) if path == "all" else paths.turns_to(thread, path)

    def _page(self, request: Request, turns: QuerySet[Message]) -> Any:
        before = self.before.text(request)
        if before is None:
            return self.page(request, turns, wire.messages_with_replies).data
        messages, previous = turns_before(request, turns, before)
        return {"next": None, "previous": previous, "results": wire.messages_with_replies(messages)}

    @describe(request=described(MessageRequest), responses={201: described(wire.ExchangeAnswer)})
    def post(self, request: Request, thread_id: str) -> Continuation:
        """Send a message and wait for the whole reply."""
        return partial(_whole_reply, _begin(request, thread_id))


class MessageStream(AsyncAPIView):
    part = Scope.CHAT

    @describe(request=described(MessageRequest), responses=STREAMED)
    def post(self, request: Request, thread_id: str) -> Continuation:
        """Send a message and read the reply as Server-Sent Events."""
        return partial(_followed, _begin(request, thread_id))


class ContextPreview(AsyncAPIView):
    scopes = {"POST": Scope.READ}

    @describe(request=described(MessageRequest), responses=described(SnapshotAnswer))
    def post(self, request: Request, thread_id: str) -> Response:
        """The context that a message would get. Calls no model and writes nothing."""
        payload = valid(MessageRequest, request)
        return Response(
            model_requests.preview_context(
                NewMessage(
                    user=caller(request),
                    thread_id=None if thread_id == threads.NEW else thread_id,
                    assistant=payload["assistant"],
                    blocks=user_blocks(payload["content"], may_be_empty=bool(payload["files"])),
                    files=file_ids(payload["files"]),
                    model=payload["model"],
                    thread_model=payload["thread_model"],
                    project=payload["project"],
                    edits=payload["edits"],
                    temporary=payload["temporary"],
                )
            )
        )


class ReplyStop(AsyncAPIView):
    part = Scope.CHAT

    @describe(request=None, responses={202: described(wire.ReplyAnswer)})
    async def post(self, request: Request, reply_id: str) -> Response:
        """Stop a running reply; the text so far is kept. Follow its events to see the end."""
        reply = await replies.stop(user=caller(request), reply_id=reply_id)
        return Response(wire.reply_object(reply), status=202)


class ReplyRetry(AsyncAPIView):
    @describe(request=described(RetryRequest), responses={202: described(wire.ReplyAnswer)})
    async def post(self, request: Request, reply_id: str) -> Response:
        """Let a model answer the same message again. Follow the new reply's events."""
        model = valid(RetryRequest, request)["model"]
        opened = await replies.retry(user=caller(request), reply_id=reply_id, model=model, token=token_of(request))
        return Response(wire.reply_object(opened.reply), status=202)


class ReplyContinue(AsyncAPIView):
    @describe(request=None, responses={202: described(wire.ReplyAnswer)})
    async def post(self, request: Request, reply_id: str) -> Response:
        """Go on where a reply was cut short. Follow the new reply's events: its text begins with all that there was."""
        opened = await replies.go_on(user=caller(request), reply_id=reply_id, token=token_of(request))
        return Response(wire.reply_object(opened.reply), status=202)


class ReplyEvents(AsyncAPIView):
    part = Scope.CHAT
    after = Parameter("after", "The last `seq` that you have; 0 for all.", type=OpenApiTypes.INT)

    @describe(parameters=[after], responses=STREAMED)
    async def get(self, request: Request, reply_id: str) -> HttpResponseBase:
        """Resume a stream from any point, also after its end."""
        reply = await in_database(threads.reply_of)(caller(request), reply_id)
        # Browsers send the header when they reconnect, to the same address as before.
        last_event = request.headers.get("Last-Event-ID") or self.after.text(request) or "0"
        if not (last_event.isascii() and last_event.isdecimal()) or len(last_event) > 9:
            raise InvalidMessage("`after` must be the last `seq` that you have, 0 or greater.")
        return event_stream(reply.id, after=int(last_event))


def _begin(request: Request, thread_id: str) -> OpenedReply:
    payload = valid(MessageRequest, request)
    return replies.begin(
        user=caller(request),
        thread_id=None if thread_id == threads.NEW else thread_id,
        content=payload["content"],
        files=payload["files"],
        client_message_id=payload["client_message_id"],
        assistant=payload["assistant"],
        model=payload["model"],
        thread_model=payload["thread_model"],
        project=payload["project"],
        edits=payload["edits"],
        temporary=payload["temporary"],
        token=token_of(request),
    )


async def _followed(opened: OpenedReply) -> HttpResponseBase:
    return event_stream(opened.reply.id)


async def _whole_reply(opened: OpenedReply) -> Response:
    """The stored turns of a reply, once it has ended."""
    question = opened.question
    ending = await ended(opened.reply.id, user_message=str(question.id))
    versions = await in_database(paths.versions_of)(question) if paths.may_have_versions(question) else None
    exchange: wire.ExchangeAnswer = {
        "thread": ending["thread"],
        "user_message": wire.message_object(question, ending["reply"], versions),
        "reply": ending["reply"],
        "assistant_message": ending["message"],
        "request": ending["request"],
    }
    return Response(exchange, status=201)


async def ended(reply_id: UUID, **details: str) -> ReplyEndedData:
    """How a reply ended, once it has. Raises ``ReplyFailed`` with these details where it failed, ``ReplyNotFound`` where its
    thread was deleted meanwhile."""
    last: Event | None = None
    async for event in replies.follow(reply_id):
        last = event
    if last is None or not last.is_last:
        raise ReplyNotFound
    if error := last.data.get("error"):
        raise ReplyFailed(error, thread=last.data["thread"], **details, reply=str(reply_id))
    return data_of(last, ReplyEndedData)
