"""Daphne as Openbook runs it: large bodies stay in files, slow readers are waited for, odd sockets get a code."""

from typing import Any

import daphne.server
from daphne.http_protocol import WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

from config.server.bodies import BoundedFactory, BoundedServer
from config.server.pacing import PacedServer

PROTOCOL = "sec-websocket-protocol"
LAST_SECONDS = 10
"""How long a client may take for what was written before the close."""


class SocketProtocol(WebSocketProtocol):  # type: ignore[misc]  # Daphne is untyped
    def onConnect(self, request: Any) -> Any:  # noqa: N802  # Autobahn's name
        self.failByDrop = False  # what is no frame is answered with a code
        self.closeHandshakeTimeout = LAST_SECONDS
        if not request.headers.get(PROTOCOL, "").isascii():
            request.headers[PROTOCOL] = ""  # Daphne would answer 500
        return super().onConnect(request)

    def serverClose(self, code: int | None = None) -> None:  # noqa: N802  # Daphne's name
        """Also by the codes for a restart and for trying again later, which Autobahn's `sendClose` refuses."""
        self.sendCloseFrame(code=1000 if code is None else code)


class SocketFactory(WebSocketFactory):  # type: ignore[misc]
    protocol = SocketProtocol


class OpenbookServer(PacedServer, BoundedServer):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._ports: list[Any] = []

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        self._ports.append(port)

    def stop_listening(self) -> None:
        """Whoever has connected by now is served."""
        for port in self._ports:
            port.doRead()
            port.stopListening()

    def is_serving(self) -> bool:
        """Whether any request has not been answered to its end. A socket is none."""
        return any(
            isinstance(protocol, WebRequest) and "disconnected" not in details
            for protocol, details in self.connections.items()
        )


def make_server(**options: Any) -> OpenbookServer:
    daphne.server.HTTPFactory = BoundedFactory  # by these names its Server makes its factories
    daphne.server.WebSocketFactory = SocketFactory
    return OpenbookServer(**options)
