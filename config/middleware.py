"""Middleware of the whole site."""

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils.decorators import async_only_middleware

from config import failures
from conversations import streams, telemetry
from conversations.db import in_database
from conversations.request_ids import request_scope

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def request_id(get_response: GetResponse) -> GetResponse:
    """Give each request an id that its log lines, its errors and the ``X-Request-ID`` header share. Refusals of pages are
    told here too, by Django's hook for exceptions of a view."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        headers = request.headers
        with request_scope(headers.get("X-Request-ID")) as current, telemetry.listener.carried_on(headers):
            response = await get_response(request)
            response["X-Request-ID"] = current
            return response

    middleware.process_exception = failures.rate_limited  # type: ignore[attr-defined]
    return middleware


@async_only_middleware
def streams_end_with_access(get_response: GetResponse) -> GetResponse:
    """Ask again and again whether who reads a long answer still may."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if isinstance(response, StreamingHttpResponse) and response.is_async:
            await in_database(streams.guarded)(request, response)
        return response

    return middleware
