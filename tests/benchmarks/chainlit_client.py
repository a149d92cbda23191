"""A person at Chainlit's page: its socket (socket.io over a WebSocket), kept open as the page keeps it."""

import json
import queue
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

SECONDS = 60
# Of engine.io and socket.io: what a packet begins with.
PING, PONG, CONNECT, EVENT = "2", "3", "40", "42"


class ChainlitSocket:
    """A thread that was resumed. A reader answers pings, also while nobody asks anything."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.events: queue.Queue[list[Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def emit(self, name: str, *data: Any) -> None:
        self.socket.send(EVENT + json.dumps([name, *data]))

    def ask(self, content: str) -> str:
        """The text of the answer, once Chainlit says that it has ended."""
        now = datetime.now(UTC).isoformat()
        message = {"id": str(uuid.uuid4()), "name": "user", "type": "user_message", "output": content, "createdAt": now}
        self.emit("client_message", {"message": message, "fileReferences": []})
        said = ""
        while (event := self.events.get(timeout=SECONDS))[0] != "task_end":
            match event:
                case ["stream_start", {"output": str(token)}] | ["stream_token", {"token": str(token)}]:
                    said += token
        return said

    def await_event(self, wanted: str) -> Any:
        while (event := self.events.get(timeout=SECONDS))[0] != wanted:
            pass
        return event[1]

    def _read(self) -> None:
        try:
            for packet in self.socket:
                text = str(packet)
                if text == PING:
                    self.socket.send(PONG)
                elif text.startswith(EVENT):
                    self.events.put(json.loads(text.removeprefix(EVENT)))
        except ConnectionClosed:
            pass


@contextmanager
def resumed(url: str, thread: str, cookie: str) -> Iterator[ChainlitSocket]:
    """``url``: of Chainlit's server; ``cookie``: of somebody who has signed in."""
    address = f"{url.replace('http', 'ws', 1)}/chat/ws/socket.io/?EIO=4&transport=websocket"
    with connect(address, additional_headers={"Cookie": cookie}, max_size=None) as socket:
        socket.recv()  # engine.io's greeting
        auth = {"sessionId": str(uuid.uuid4()), "clientType": "webapp", "threadId": thread, "userEnv": "{}"}
        socket.send(CONNECT + json.dumps(auth))
        greeting = str(socket.recv())
        assert greeting.startswith(CONNECT), greeting
        talk = ChainlitSocket(socket)
        talk.emit("connection_successful")
        talk.await_event("resume_thread")
        yield talk


def signed_in(url: str, user: str, password: str) -> str:
    """The cookie."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    form = urlencode({"username": user, "password": password})
    connection.request("POST", "/chat/login", form, {"Content-Type": "application/x-www-form-urlencoded"})
    response = connection.getresponse()
    answer = response.read()
    assert response.status == 200, answer
    connection.close()
    return "; ".join(cookie.split(";")[0] for cookie in response.headers.get_all("Set-Cookie", []))
