"""``/mcp/``: a request of the Model Context Protocol, between REST's rules for tokens and the SDK."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.utils.module_loading import import_string
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from conversations.rest.base import AsyncAPIView, caller, token_of
from conversations.rest.messages_api import KeyAuthentication
from conversations.runtime import origins
from memory.mcp.caller import CALLER, Caller

MANAGER = "memory.mcp.server.manager"
"""Imported with the first request, in a thread: the SDK takes a second and 30 MB, which only who uses it should pay."""


class Endpoint(AsyncAPIView):
    """Each request stands for itself, and brings a token: no cookie counts. What it must be for is asked by each tool."""

    schema = None
    authentication_classes = [KeyAuthentication]
    scopes = {"POST": None, "GET": None, "DELETE": None}
    http_method_names = ["post"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        refuse_foreign_page(request)
        super().initial(request, *args, **kwargs)

    async def post(self, request: Request) -> HttpResponseBase:
        token = token_of(request)
        assert token
        return await _answer(request, Caller(user=caller(request), token=token))


def refuse_foreign_page(request: Request) -> None:
    """A browser says from which page a call comes; one of another site might use a name that leads here."""
    origin = request.headers.get("Origin")
    if origin and not origins.is_ours(origin, host=request.headers.get("Host", ""), is_secure=request.is_secure()):
        raise PermissionDenied("Pages of other sites may not call this. Call it from a program, without `Origin`.")


async def _answer(request: Request, caller: Caller) -> HttpResponse:
    """What the SDK answers to a request of its own ASGI application."""
    body = json.dumps(request.data).encode()
    http = request._request
    scope = {**http.scope, CALLER: caller}  # type: ignore[attr-defined]  # of Django's ASGI requests
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return incoming.pop() if incoming else await asyncio.Future()

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    manager = (await asyncio.to_thread(import_string, MANAGER))()
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    start, *parts = sent
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in start.get("headers", [])}
    return HttpResponse(b"".join(part.get("body", b"") for part in parts), status=start["status"], headers=headers)
