"""What all API views share."""

import io
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from inspect import iscoroutinefunction
from typing import IO, Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import RequestDataTooBig
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import parsers, views
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import replies, wire
from conversations.accounts.limits import Limits, Quota
from conversations.models import ApiToken, Scope
from conversations.replies.events import Event
from conversations.rest import throttling
from conversations.rest.pagination import CursorPagination
from conversations.rest.query_params import known_parameters, refuse_unknown
from conversations.rest.streams import EventStream, tick_seconds
from conversations.runtime import bounded_json
from conversations.runtime.db import in_database

STREAMED = {(200, "text/event-stream"): OpenApiTypes.STR}
"""For the schema: an event stream."""


class JSONParser(parsers.JSONParser):
    """Django checks the announced size of a body; one that comes in chunks has none."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise RequestDataTooBig
        try:
            bounded_json.check(body)
        except bounded_json.TooManifold as error:
            raise ParseError(str(error)) from None
        return super().parse(io.BytesIO(body), media_type, parser_context)


class OnlyJSON(DefaultContentNegotiation):
    """Whatever ``Accept`` says: a browser's EventSource accepts streams only, and must be told its errors too."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class APIView(views.APIView):
    refuses_unknown_parameters = True
    """A filter that is misspelt must not pass for a filter."""
    scopes: ClassVar[Mapping[str, Scope | None]] = {}
    """By method, what a token needs where the rule of ``HasScope`` gets it wrong."""
    part: ClassVar[Scope | None] = None
    """A narrower scope that will do as well."""
    needs_acceptance = True
    """Whether the caller has to have accepted the notice."""
    limits: Limits | None = None
    quota: Quota | None = None
    pagination_class: type[CursorPagination]
    parser_classes = [JSONParser]
    content_negotiation_class = OnlyJSON
    http_method_names = ["get", "head", "post", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.query_params and self.refuses_unknown_parameters:
            known = known_parameters(type(self), request.method or "GET")  # type: ignore[arg-type]  # classes hash
            refuse_unknown(request.query_params, known)

    def page(self, request: Request, rows: QuerySet[Any], describe: Callable[[list[Any]], Sequence[Any]]) -> Response:
        """The page of the rows that is asked for, each as an object."""
        paginator = self.pagination_class()
        return paginator.get_paginated_response(describe(paginator.paginate_queryset(rows, request)))

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        wrapped = super().initialize_request(request, *args, **kwargs)
        if "Transfer-Encoding" in request.headers:
            wrapped._stream = request  # type: ignore[assignment]  # DRF takes a body of unknown length for none
        return wrapped

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        throttling.tell(self.limits, self.quota, answer)
        return answer


Continuation = Callable[[], Awaitable[Any]]
"""What is left of a call for the event loop, which gives its answer."""


class AsyncAPIView(APIView):
    """An ``APIView`` that is one step in a thread for the database, with all that DRF does before its handler. A handler may
    be a coroutine, or leave a ``Continuation``: that is run on the event loop."""

    view_is_async = True

    async def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        handled = await in_database(self._handle)()
        if isinstance(handled, HttpResponseBase):
            return handled
        try:
            response = await handled()
        except Exception as error:  # DRF's own border: it turns what it knows into an answer and raises the rest
            response = self.handle_exception(error)
        return self._finished(response)

    def _handle(self) -> HttpResponseBase | Continuation:
        request = self.request
        try:
            self.initial(request, *self.args, **self.kwargs)
            name = str(request.method).lower()
            handler = getattr(self, name, None) if name in self.http_method_names else None
            if handler is None:
                self.http_method_not_allowed(request)
            assert handler is not None
            call = partial(handler, request, *self.args, **self.kwargs)
            response = call if iscoroutinefunction(handler) else call()
        except Exception as error:  # the same border
            response = self.handle_exception(error)
        return response if callable(response) else self._finished(response)

    def _finished(self, response: Any) -> HttpResponseBase:
        self.response = self.finalize_response(self.request, response, *self.args, **self.kwargs)
        return as_it_is(self.response) if isinstance(self.response, Response) else self.response


def as_it_is(response: Response) -> HttpResponse:
    """The answer with its text, for which Django need not go into a thread once more."""
    answer = HttpResponse(response.render().content, status=response.status_code)
    answer.headers, answer.cookies = response.headers, response.cookies
    return answer


def caller(request: Request) -> User:
    """The authenticated user; permissions have seen to it that there is one."""
    assert isinstance(request.user, User)
    return request.user


def token_of(request: Request) -> ApiToken | None:
    """The token that the call came with; ``None`` where it came with a session."""
    return request.auth if isinstance(request.auth, ApiToken) else None


def event_stream(reply_id: UUID, *, after: int = 0) -> StreamingHttpResponse:
    """The events of a reply as Server-Sent Events. No database connection is held while it is open."""
    events = replies.follow_ticking(reply_id, after, seconds=tick_seconds())
    return EventStream(_frames(events), content_type="text/event-stream")


async def _frames(events: AsyncGenerator[Event | None]) -> AsyncIterator[bytes]:
    async with aclosing(events) as coming:
        async for event in coming:
            if event is None:
                yield b": nothing new\n\n"
            else:
                yield f"id: {event.seq}\nevent: {event.type}\ndata: {wire.frame(event.envelope())}\n\n".encode()
