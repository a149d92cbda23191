"""The ASGI application: static files, HTTP and WebSocket, with the start and the end of the process."""

import asyncio
import gc
import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django
from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.http import FileResponse, HttpRequest, HttpResponse

django.setup(set_prefix=False)

# Only now: these need the apps.
import config.urls  # noqa: E402, F401  (now, not with the first request)
from config.observability import telemetry  # noqa: E402
from config.observability.stalls import Watchdog  # noqa: E402
from config.server.bodies import bounded  # noqa: E402
from config.server.handler import Handler  # noqa: E402
from config.server.headers import add_to_static_file  # noqa: E402
from config.server.lifespan import Lifespan  # noqa: E402
from config.server.pacing import patient  # noqa: E402
from config.server.proxies import behind  # noqa: E402
from config.server.static_files import StaticFiles  # noqa: E402
from conversations import replies  # noqa: E402
from conversations.accounts import passwords  # noqa: E402
from conversations.runtime import long_work  # noqa: E402
from conversations.web.routing import websocket  # noqa: E402
from memory.backends import get_backend  # noqa: E402

telemetry.begin()
get_backend()  # to import an SDK takes most of a second: now, not with the first message


async def shutdown() -> None:
    watchdog.end()
    passwords.close()
    await asyncio.gather(replies.drain(), long_work.drain())
    await asyncio.to_thread(telemetry.end)


watchdog = Watchdog(settings.OPENBOOK_LOOP_STALL_SECONDS)


async def startup() -> None:
    await replies.startup()
    gc.freeze()  # the SDK that it imported stays, too
    if settings.OPENBOOK_LOOP_STALL_SECONDS:
        watchdog.begin()


lifespan = Lifespan(startup=startup, shutdown=shutdown)
lifespan.attach_to_reactor()


class SourceFiles(ASGIStaticFilesHandler):
    """Static files as they lie in the apps, so that a change is seen at the next request."""

    def serve(self, request: HttpRequest) -> HttpResponse | FileResponse:
        response = super().serve(request)
        response["Cache-Control"] = "no-cache"
        return response


pages: Any = patient(bounded(Handler()))
doors = ProtocolTypeRouter(
    {
        "http": SourceFiles(pages)
        if settings.DEBUG
        else StaticFiles(
            pages, settings.STATIC_ROOT, prefix=settings.STATIC_URL, add_headers_function=add_to_static_file
        ),
        "websocket": websocket,
        "lifespan": lifespan,
    }
)
application = behind(settings.OPENBOOK_TRUSTED_PROXIES, doors)
