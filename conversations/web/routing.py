"""Which socket is at which address."""

from typing import Any

from channels.routing import URLRouter
from django.urls import path, re_path

from conversations.web.consumers import ThreadConsumer


async def nothing_here(scope: Any, receive: Any, send: Any) -> None:
    """Refuse the handshake."""
    await receive()
    await send({"type": "websocket.close"})


websocket = URLRouter(
    [
        path("ws/threads/<str:thread_id>/", ThreadConsumer.as_asgi()),
        re_path("", nothing_here),  # type: ignore[arg-type]  # Django knows of views only
    ]
)
