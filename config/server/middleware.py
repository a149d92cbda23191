"""Middleware of the whole site."""

import logging
from collections.abc import Awaitable, Callable

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import async_only_middleware
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode

from config.server import failures
from config.server.refusals import LOGGED, log_refusal
from conversations.accounts import limits, notices, second_factors, sign_in, staff_networks
from conversations.errors import RateLimited
from conversations.rest import streams
from conversations.runtime import telemetry
from conversations.runtime.request_ids import request_scope

NOT_COUNTED = ("/api/", "/v1/", "/mcp/", "/scim/", "/admin/", "/health/", "/metrics", "/accounts/logout/")
"""Programs' calls are counted where their token is known; staff and whoever leaves are never kept out."""

OPEN_WITHOUT_FACTOR = (
    *("/api/", "/v1/", "/mcp/", "/static/", "/health/", "/metrics", "/accessibility/", "/robots.txt"),
    *("/favicon.ico", "/manifest.webmanifest", "/service-worker.js", "/offline/"),
    *(f"/accounts/{name}/" for name in ("2fa", "login", "logout", "reauthenticate", "again", "leaving")),
)
"""What is read by anybody, or needed to set one up."""

OPEN_WITHOUT_NOTICE = ("/notice/", "/account/export/", "/account/delete/")
"""Beside those: the notice itself, and the ways to leave with what is one's own."""
NOTICES_OF_STAFF = "/admin/conversations/notice/"
"""Where superusers mend or withdraw one that they have not accepted."""

IMMUTABLE = {
    "api/v1/files/<str:file_id>/thumbnail/",
    "api/v1/files/<str:file_id>/pages/<str:number>/",
}
"""Routes of what never changes and is large: a browser may keep it, and asks each time whether it still may be shown."""

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(self), payment=(), usb=()"

log = logging.getLogger("openbook.server")

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def request_id(get_response: GetResponse) -> GetResponse:
    """Give each request an id that its log lines, its errors and the ``X-Request-ID`` header share. Refusals of pages are
    told here too, by Django's hook for exceptions of a view."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        headers = request.headers
        address = sign_in.address_of(request)
        with (
            request_scope(headers.get("X-Request-ID"), address=address, request=request) as current,
            telemetry.listener.carried_on(headers),
        ):
            response = await get_response(request)
            response["X-Request-ID"] = current
            return response

    middleware.process_exception = failures.rate_limited  # type: ignore[attr-defined]
    return middleware


@async_only_middleware
def nothing_is_stored(get_response: GetResponse) -> GetResponse:
    """Neither a browser nor a cache on the way keeps an answer: whoever comes next to that machine would read it. Static files
    don't come by here."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        match = request.resolver_match
        if match and match.route in IMMUTABLE and response.status_code in (200, 304):
            response["Cache-Control"] = "private, no-cache"
        elif "no-store" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store"
        return response

    return middleware


@async_only_middleware
def little_is_permitted(get_response: GetResponse) -> GetResponse:
    """What a browser gives a page: the microphone, for dictation, and nothing else of the machine; to no frame of another's.
    And that it gives pages of others nothing that is answered here. No method that no view has: TRACE, for one."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = HttpResponseNotAllowed(METHODS) if request.method not in METHODS else await get_response(request)
        response["Permissions-Policy"] = PERMISSIONS
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        return response

    return middleware


@async_only_middleware
def refusals_are_logged(get_response: GetResponse) -> GetResponse:
    """Who tried what they may not, or too often, or what can't be, by ids; never what they sent."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if response.status_code in LOGGED:
            log_refusal(request, response.status_code)
        return response

    return middleware


@async_only_middleware
def streams_end_with_access(get_response: GetResponse) -> GetResponse:
    """Ask again and again whether who reads a long answer still may."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if isinstance(response, StreamingHttpResponse) and response.is_async:
            user: object = request.user
            if type(user) is SimpleLazyObject:  # nobody has asked who it is
                await sync_to_async(streams.guard_stream)(request, response)
            else:
                streams.guard_stream(request, response)
        return response

    return middleware


@async_only_middleware
def pages_count(get_response: GetResponse) -> GetResponse:
    """A page is one of its person's requests a minute, as a call of the API is."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        refusal = None
        if not request.path.startswith(NOT_COUNTED):
            refusal = await sync_to_async(_refusal)(request)
        return refusal or await get_response(request)

    return middleware


@async_only_middleware
def staff_networks_only(get_response: GetResponse) -> GetResponse:
    """Pages of staff open from their networks alone, the form to sign in there too. Who leaves may. Managers of groups invite
    from anywhere."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        is_staffs = request.path.startswith("/admin/") and request.path != "/admin/logout/"
        is_theirs_too = request.path.startswith("/account/invitations/")
        if not (is_staffs or is_theirs_too) or staff_networks.hold(sign_in.address_of(request)):
            return await get_response(request)
        if is_staffs or await sync_to_async(_is_of_staff)(request):
            return await sync_to_async(_refused_address)(request)
        return await get_response(request)

    return middleware


@async_only_middleware
def duties_first(get_response: GetResponse) -> GetResponse:
    """From whatever page, whoever has to have a second factor and has none is led to set one up, and then whoever has not
    accepted the notice to read it. Calls say it themselves."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        led = None
        if not request.path.startswith(OPEN_WITHOUT_FACTOR):
            led = await sync_to_async(_led_elsewhere)(request)
        return led or await get_response(request)

    return middleware


def _led_elsewhere(request: HttpRequest) -> HttpResponseBase | None:
    try:
        user = request.user
        if not isinstance(user, User):
            return None
        if second_factors.is_lacking(user):
            return redirect("mfa_index")
        if notices.is_lacking(user) and not _is_open_without_notice(request.path, user):
            goal = request.get_full_path() if request.method == "GET" else "/"
            return redirect(f"{reverse('notice')}?{urlencode({'next': goal})}")
    except DatabaseError:
        return None  # the page says so itself
    return None


def _is_open_without_notice(path: str, user: User) -> bool:
    return path.startswith(OPEN_WITHOUT_NOTICE) or (user.is_superuser and path.startswith(NOTICES_OF_STAFF))


def _is_of_staff(request: HttpRequest) -> bool:
    try:
        return isinstance(request.user, User) and request.user.is_staff
    except DatabaseError:
        return True  # it is not known that they are none


def _refused_address(request: HttpRequest) -> HttpResponseBase:
    try:
        if isinstance(request.user, User):
            staff_networks.record_refusal(request.user)
    except DatabaseError:
        log.exception("a refusal was not recorded")
    return render(request, "403_address.html", {"address": sign_in.address_of(request)}, status=403)


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    try:
        if isinstance(request.user, User):
            limits.count_request(request.user, None)
    except RateLimited as error:
        return failures.rate_limited(request, error)
    except DatabaseError:
        return None  # the page says so itself
    return None
