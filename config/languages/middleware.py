"""Which language a page is in: the person's choice, else what their browser asks for."""

from collections.abc import Awaitable, Callable

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.decorators import async_only_middleware

from memory.services import language_of

ALWAYS_ENGLISH = ("/api/", "/v1/", "/health/", "/metrics")
"""What programs ask: an answer doesn't depend on who runs them. Nor does anything that a model is sent."""

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def page_language(get_response: GetResponse) -> GetResponse:
    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(ALWAYS_ENGLISH):
            return await get_response(request)
        language = await sync_to_async(chosen_language)(request)
        with translation.override(language):
            response = await get_response(request)
        response.setdefault("Content-Language", language)
        return response

    return middleware


def chosen_language(request: HttpRequest) -> str:
    try:
        chosen = language_of(request.user) if isinstance(request.user, User) else ""
    except DatabaseError:
        chosen = ""  # the page says so itself
    return chosen if chosen in dict(settings.LANGUAGES) else translation.get_language_from_request(request)
