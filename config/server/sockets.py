"""How Daphne's WebSockets behave where a client does not."""

from typing import Any

from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol

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


class SocketFactory(WebSocketFactory):  # type: ignore[misc]
    protocol = SocketProtocol
