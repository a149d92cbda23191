"""A socket as a browser or a program opens it, against the real router."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator

from conversations.web.routing import websocket

Frame = dict[str, Any]
OURS = "http://testserver"
SECONDS = 60


class Wire(WebsocketCommunicator):  # type: ignore[misc]  # channels is untyped
    """Without Channels' own patch, under which no database step gives its connection back."""

    send_input = ApplicationCommunicator.send_input
    receive_output = ApplicationCommunicator.receive_output


class Socket:
    def __init__(
        self,
        thread: object = "new",
        *,
        session: str = "",
        token: str = "",
        origin: str | None = OURS,
        host: str = "testserver",
        scheme: str = "ws",
    ) -> None:
        headers = [(b"host", host.encode())]
        headers += [(b"cookie", f"sessionid={session}".encode())] if session else []
        headers += [(b"origin", origin.encode())] if origin is not None else []
        subprotocols = ["Token", token] if token else []
        self.wire = Wire(websocket, f"/ws/threads/{thread}/", headers, subprotocols)
        self.wire.scope["scheme"] = scheme

    async def connect(self) -> tuple[bool, Any]:
        """Whether it was accepted, and with which subprotocol; or refused, and with which code."""
        answer: tuple[bool, Any] = await self.wire.connect(SECONDS)
        return answer

    async def send(self, type: str, **fields: Any) -> None:
        await self.wire.send_json_to({"type": type, **fields})

    async def send_raw(self, *, text: str | None = None, data: bytes | None = None) -> None:
        await self.wire.send_to(text_data=text, bytes_data=data)

    async def receive(self) -> Frame:
        frame: Frame = json.loads(await self.wire.receive_from(SECONDS))
        return frame

    async def until(self, *types: str) -> list[Frame]:
        """The frames up to the first of such a type."""
        frames = [await self.receive()]
        while frames[-1]["type"] not in types:
            frames.append(await self.receive())
        return frames

    async def reply(self) -> list[Frame]:
        """The events of a reply, to its end."""
        return await self.until("reply.completed", "reply.stopped", "reply.failed", "reply.interrupted")

    async def close_code(self) -> int:
        """The code with which the server closes it next."""
        message = await self.wire.receive_output(SECONDS)  # type: ignore[no-untyped-call]
        assert message["type"] == "websocket.close", message
        return int(message["code"])

    async def silent(self, seconds: float = 0.2) -> bool:
        nothing: bool = await self.wire.receive_nothing(seconds)
        return nothing

    async def leave(self) -> None:
        await self.wire.disconnect(timeout=SECONDS)


@asynccontextmanager
async def connected(thread: object = "new", **how: Any) -> AsyncIterator[Socket]:
    socket = Socket(thread, **how)
    assert await socket.connect() == (True, "Token" if how.get("token") else None)
    yield socket
    await socket.leave()
