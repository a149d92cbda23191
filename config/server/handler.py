"""Django's handler of HTTP, which stays on the event loop: a request goes into a thread for its view or its rows, and for
nothing else.

Django runs each half of its middleware in a thread, and each request that does so gets a thread of its own.
"""

import asyncio
from collections.abc import Callable, MutableMapping
from contextlib import closing
from functools import partial
from typing import Any

from asgiref.sync import SyncToAsync, sync_to_async
from django.conf import settings
from django.contrib.messages import middleware as messages
from django.contrib.sessions import middleware as sessions
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponseBase
from django.middleware import clickjacking, common, csp, csrf, security
from django.urls import set_script_prefix
from django.utils.deprecation import MiddlewareMixin
from django.utils.module_loading import import_string

from config.server import authentication, failures

Message = MutableMapping[str, Any]
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class OnLoop(MiddlewareMixin):
    """Middleware of Django's whose halves run on the event loop: they read and write no rows, unless ``stores`` says so."""

    def stores(self, request: HttpRequest) -> bool:
        """Whether its second half writes rows."""
        return False

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        begin, finish = getattr(self, "process_request", None), getattr(self, "process_response", None)
        response: HttpResponseBase = (begin and begin(request)) or await self.get_response(request)  # type: ignore[misc]
        if not finish:
            return response
        answer: HttpResponseBase = (
            await sync_to_async(finish)(request, response) if self.stores(request) else finish(request, response)
        )
        return answer


class SecurityMiddleware(OnLoop, security.SecurityMiddleware):
    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:  # type: ignore[override]
        """A page is led to https. A program is told no: its token has gone over the line in clear text already, and nobody
        would notice if it went on to work."""
        redirect: HttpResponseBase | None = super().process_request(request)
        return (failures.https_needed(request) or redirect) if redirect else None


class ContentSecurityPolicyMiddleware(OnLoop, csp.ContentSecurityPolicyMiddleware):
    pass


class SessionMiddleware(OnLoop, sessions.SessionMiddleware):
    def stores(self, request: HttpRequest) -> bool:
        return request.session.modified


class CommonMiddleware(OnLoop, common.CommonMiddleware):
    pass


class CsrfViewMiddleware(OnLoop, csrf.CsrfViewMiddleware):
    async def process_view(self, request: HttpRequest, callback: Any, *values: Any) -> Any:  # type: ignore[override]
        judge = partial(super().process_view, request, callback, *values)
        if request.method in SAFE or getattr(callback, "csrf_exempt", False):
            return judge()
        return await sync_to_async(judge)()  # which reads the form


class AuthenticationMiddleware(OnLoop, authentication.AuthenticationMiddleware):
    """The user is looked up where somebody asks for it."""


class MessageMiddleware(OnLoop, messages.MessageMiddleware):
    def stores(self, request: HttpRequest) -> bool:
        storage: Any = getattr(request, "_messages", None)
        return storage is not None and bool(storage.used or storage.added_new)


class XFrameOptionsMiddleware(OnLoop, clickjacking.XFrameOptionsMiddleware):
    pass


ON_LOOP: dict[str, Callable[..., Any]] = {
    f"{theirs.__module__}.{theirs.__name__}": ours for ours in OnLoop.__subclasses__() for theirs in ours.__bases__[1:]
}
"""By the name that the settings, and Django's checks of them, know."""


class Handler(ASGIHandler):
    def load_middleware(self, is_async: bool = True) -> None:
        """Those of the settings, all of which are asynchronous."""
        self._view_middleware: list[Any] = []
        self._template_response_middleware: list[Any] = []
        self._exception_middleware: list[Any] = []
        handler = convert_exception_to_response(self._get_response_async)  # type: ignore[attr-defined]  # no stub
        for name in reversed(settings.MIDDLEWARE):
            middleware = (ON_LOOP.get(name) or import_string(name))(handler)
            if judge := getattr(middleware, "process_view", None):
                self._view_middleware.insert(0, judge)
            if tell := getattr(middleware, "process_exception", None):
                self._exception_middleware.append(tell)
            handler = convert_exception_to_response(middleware)
        self._middleware_chain = handler

    async def handle(self, scope: Message, receive: Any, send: Any) -> None:
        """As Django's, without a thread to begin and to end a request that needed none: connections to the database are
        those of threads."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with closing(body):
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            response: HttpResponseBase | None
            request, response = self.create_request(scope, body)
            if response:
                await self.send_response(response, send)
            else:
                response = await self._answered(request, receive, send)
            end = response.close if response else partial(signals.request_finished.send, sender=self.__class__)
            if SyncToAsync.thread_sensitive_context.get(None) in SyncToAsync.context_to_thread_executor:
                await sync_to_async(end)()
            else:
                end()

    async def _answered(self, request: Any, receive: Any, send: Any) -> Any:
        """The answer, once it was sent; ``None`` where the client left before there was one."""
        response = None
        try:
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self.listen_for_disconnect(receive))
                    response = await self.run_get_response(request)
                    await self.send_response(response, send)
                    raise RequestAborted  # so that nobody listens any longer
            except* RequestAborted:
                pass
        except BaseExceptionGroup as group:
            if len(group.exceptions) == 1:
                raise group.exceptions[0] from None
            raise
        return response
