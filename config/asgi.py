"""The ASGI application: static files, HTTP and WebSocket, with the start and the end of the process."""

import asyncio
import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from servestatic import ServeStaticASGI

django_application = get_asgi_application()

# Only now: these need the apps.
from config import telemetry  # noqa: E402
from config.bodies import bounded  # noqa: E402
from config.lifespan import Lifespan  # noqa: E402
from config.pacing import patient  # noqa: E402
from config.proxies import behind  # noqa: E402
from conversations import long_work, passwords, replies  # noqa: E402
from conversations.chat.routing import websocket  # noqa: E402
from memory.backends import get_backend  # noqa: E402

telemetry.begin()
get_backend()  # to import an SDK takes most of a second: now, not with the first message


async def shutdown() -> None:
    passwords.close()
    await asyncio.gather(replies.drain(), long_work.drain())
    await asyncio.to_thread(telemetry.end)


lifespan = Lifespan(startup=replies.startup, shutdown=shutdown)
lifespan.attach_to_reactor()

doors = ProtocolTypeRouter(
    {
        "http": ServeStaticASGI(
            patient(bounded(django_application)),
            root=settings.STATIC_ROOT,
            prefix=settings.STATIC_URL,
            autorefresh=settings.DEBUG,
        ),
        "websocket": websocket,
        "lifespan": lifespan,
    }
)
application = behind(settings.OPENBOOK_TRUSTED_PROXIES, doors)
