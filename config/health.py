"""Whether a reply could be given right now."""

import asyncio

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, JsonResponse

from conversations.db import in_database
from conversations.providers import ProviderError, get_provider
from conversations.redis_client import unreachable, waiting

DATABASE_SECONDS = 3.0


async def health(request: HttpRequest) -> JsonResponse:
    """200 when a reply could be given, else 503. A Redis that is away slows readers down but stops no reply."""
    checks = {"database": await _database(), "provider": await asyncio.to_thread(_provider), "redis": await _redis()}
    well = checks["database"] == checks["provider"] == "ok"
    return JsonResponse({"status": "ok" if well else "unavailable", "checks": checks}, status=200 if well else 503)


async def _database() -> str:
    try:
        await asyncio.wait_for(in_database(_select)(), DATABASE_SECONDS)
    except (Error, TimeoutError):
        return "unreachable: check DATABASE_URL and that PostgreSQL runs"
    return "ok"


def _select() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _provider() -> str:
    try:
        obstacle = get_provider(settings.OPENBOOK_PROVIDER).obstacle()
    except ProviderError as error:
        obstacle = error
    return obstacle.message if obstacle else "ok"


async def _redis() -> str:
    if not settings.REDIS_URL:
        return "not configured: one server process"
    client = waiting(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2)
    try:
        await client.ping()
    except unreachable():
        return "unreachable: start Redis or correct REDIS_URL; readers in other processes are slower until then"
    finally:
        await client.aclose()
    return "ok"
