"""A program that talks to a real server over HTTP and WebSocket, as an integrator's would."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

Json = dict[str, Any]


class ApiError(Exception):
    def __init__(self, status: int, error: Json) -> None:
        super().__init__(f"{status} {error}")
        self.status, self.error = status, error


@dataclass
class ServerClient:
    """``url`` ends with a slash."""

    url: str
    token: str = ""

    @classmethod
    def signed_in(cls, url: str, username: str = "admin", password: str = "") -> "ServerClient":
        answer = cls(url).call("POST", "auth/token/", {"username": username, "password": password})
        return cls(url, answer["token"])

    def call(self, method: str, path: str, body: Json | None = None, seconds: float = 60) -> Json:
        with self._open(method, path, body, seconds) as response:
            return json.loads(response.read() or b"{}")  # type: ignore[no-any-return]

    def events(self, path: str, body: Json | None = None, seconds: float = 60) -> Iterator[Json]:
        """The envelopes of a Server-Sent Events stream."""
        for frame in self.frames(path, body, seconds):
            yield json.loads(frame)

    def frames(self, path: str, body: Json | None = None, seconds: float = 60) -> Iterator[str]:
        """The JSON of each event as it comes, the same as in a socket's frames."""
        with self._open("POST" if body is not None else "GET", path, body, seconds) as response:
            for line in response:
                if line.startswith(b"data: "):
                    yield line[6:-1].decode()

    def messages(self, thread: str) -> list[Json]:
        found: list[Json] = self.call("GET", f"threads/{thread}/messages/?page_size=200")["results"]
        return found

    @contextmanager
    def socket(self, thread: str = "new", **options: Any) -> Iterator[ClientConnection]:
        address = f"{self.url.replace('http', 'ws', 1)}ws/threads/{thread}/"
        subprotocols = [Subprotocol("Token"), Subprotocol(self.token)]
        if address.startswith("wss:"):
            options.setdefault("ssl", without_tickets())
        with connect(address, subprotocols=subprotocols, **{"open_timeout": 60, **options}) as connection:
            yield connection

    def _open(self, method: str, path: str, body: Json | None, seconds: float) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Token {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}api/v1/{path}", data, headers, method=method)  # noqa: S310
        try:
            return urllib.request.urlopen(request, timeout=seconds)  # noqa: S310
        except urllib.error.HTTPError as error:
            raise ApiError(error.code, _told(error)) from error


def without_tickets() -> ssl.SSLContext:
    """For a socket that one thread reads while another writes. By TLS 1.3 a server sends session tickets once it is connected;
    a write at the moment when one is read is lost in OpenSSL without an error."""
    context = ssl.create_default_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


def _told(error: urllib.error.HTTPError) -> Json:
    """What the server says was wrong; a proxy before it has a page of its own for that."""
    if error.headers.get_content_type() == "application/json":
        return json.loads(error.read())["error"]  # type: ignore[no-any-return]
    return {"code": "proxy", "message": error.read().decode(errors="replace")}
