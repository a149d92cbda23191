"""A local model server that speaks the Messages API over real HTTP on loopback.

It runs in a thread with an event loop of its own, so that tests of every kind and server processes can use it, and it
refuses what the API would refuse. ``python -m tests.model_server --port 8123`` serves the default reply.
"""

import argparse
import asyncio
import json
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import pytest

from tests.model_rules import complaint
from tests.model_scripts import (
    Cut,
    Delay,
    Gate,
    Raw,
    Refused,
    Responder,
    Script,
    Stall,
    Step,
    Stream,
    echo,
    error,
    ping,
)

LARGEST_BODY = 32 * 1024 * 1024


@dataclass(eq=False)
class ReceivedRequest:
    """``hung_up`` tells whether the client left before its answer was complete; it is final once ``ended`` is set."""

    method: str
    path: str
    headers: dict[str, str]
    raw_body: bytes
    connection: int
    body: Any = None
    hung_up: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def wait_until_ended(self, seconds: float = 60) -> None:
        assert self.ended.wait(seconds), "the exchange never ended"


class ModelServer:
    """``requests`` holds all that came, in order. Scripts are used one by one; without any the responder answers."""

    def __init__(self, *, port: int = 0, responder: Responder = echo, api_key: str = "") -> None:
        self.responder = self._first_responder = responder
        self.api_key = api_key
        self.requests: list[ReceivedRequest] = []
        self.failures: list[BaseException] = []
        self.url = ""
        self._scripts: deque[Script] = deque()
        self._connections = 0
        self._port = port
        self._arrived = threading.Condition()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="model-server", daemon=True)

    def script(self, *scripts: Script | Responder) -> None:
        """Answer the next requests with these, in order; a function becomes the answer to all that have no script."""
        for script in scripts:
            if isinstance(script, Stream | Refused):
                self._scripts.append(script)
            else:
                self.responder = script

    def forget_scripts(self) -> None:
        self._scripts.clear()
        self.responder = self._first_responder

    def wait_for_requests(self, count: int, seconds: float = 60) -> None:
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.requests) >= count, seconds), "too few requests came"

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(60), "the model server did not start"
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(60)
        assert not self._thread.is_alive(), "the model server did not stop"
        if self.failures and exc is None:
            raise ExceptionGroup("the model server failed", [f for f in self.failures if isinstance(f, Exception)])

    async def _serve(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._connections += 1
            task = asyncio.create_task(self._connection(reader, writer, self._connections))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", self._port)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._started.set()
        await self._stopping.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        inbox, gone = asyncio.StreamReader(limit=LARGEST_BODY), asyncio.Event()
        pump = asyncio.create_task(forward(reader, inbox, gone))
        try:
            while (request := await read_request(inbox, number)) is not None:
                with self._arrived:
                    self.requests.append(request)
                    self._arrived.notify_all()
                try:
                    if not await until_gone(write_answer(writer, self._answer(request)), gone):
                        request.hung_up = True
                        break
                finally:
                    request.ended.set()
        except CutOffError:
            writer.transport.abort()
        except ConnectionError:
            pass  # the client broke off in the middle of a request
        except Exception as failure:  # told to the test at its end
            self.failures.append(failure)
        finally:
            pump.cancel()
            writer.close()

    def _answer(self, request: ReceivedRequest) -> Script:
        try:
            request.body = json.loads(request.raw_body)
        except ValueError:
            return error(400, "The request body is not valid JSON")
        if (request.method, request.path.partition("?")[0]) != ("POST", "/v1/messages"):
            return error(404, f"{request.method} {request.path}")
        key = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key")
        if not key or (self.api_key and key != self.api_key):
            return error(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return error(400, "anthropic-version: header is required")
        if (problem := complaint(request.body)) is not None:
            return error(400, problem)
        if request.body.get("stream") is not True:
            return error(400, "this local server only streams")
        return self._scripts.popleft() if self._scripts else self.responder(request.body)


class CutOffError(Exception):
    """The script wants the connection broken."""


async def forward(reader: asyncio.StreamReader, inbox: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """Reads on while an answer is written, which is the only way to notice that the client hung up."""
    try:
        while data := await reader.read(65536):
            inbox.feed_data(data)
    except ConnectionError:
        pass  # a reset means the same as an end
    inbox.feed_eof()
    gone.set()


async def until_gone(writing: Any, gone: asyncio.Event) -> bool:
    """Whether it was written to its end before the client left."""
    writer, leaving = asyncio.ensure_future(writing), asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait({writer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not writer.done():
            return False
        try:
            writer.result()
        except ConnectionError:
            return False
        return True
    finally:
        writer.cancel()
        leaving.cancel()


async def read_request(inbox: asyncio.StreamReader, connection: int) -> ReceivedRequest | None:
    try:
        head = (await inbox.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.rstrip().split("\r\n")
        method, path, _version = request_line.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        raw_body = await inbox.readexactly(int(headers.get("content-length", "0")))
    except asyncio.IncompleteReadError:
        return None
    return ReceivedRequest(method=method, path=path, headers=headers, raw_body=raw_body, connection=connection)


async def write_answer(writer: asyncio.StreamWriter, script: Script) -> None:
    if isinstance(script, Refused):
        headers = {"content-type": "application/json", "content-length": str(len(script.body)), **script.headers}
        writer.write(head(script.status, headers) + script.body)
        await writer.drain()
        return
    headers = {"content-type": "text/event-stream; charset=utf-8", "transfer-encoding": "chunked", **script.headers}
    writer.write(head(200, headers))
    await writer.drain()
    for step in script.steps:
        async for data in rendered(step):
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def rendered(step: Step) -> AsyncIterator[bytes]:
    match step:
        case Raw(data):
            yield data
        case Delay(seconds):
            await asyncio.sleep(seconds)
        case Gate():
            await step.passed()
        case Stall(ping_seconds):
            while True:
                await asyncio.sleep(ping_seconds or 3600)
                yield server_sent_event(ping())
        case Cut():
            raise CutOffError
        case event:
            yield server_sent_event(event)


def server_sent_event(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def head(status: int, headers: dict[str, str]) -> bytes:
    phrase = HTTPStatus(status).phrase if status in HTTPStatus else "Overloaded"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "request-id: req_local", "", ""]).encode("latin-1")


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds before each word")
    options = parser.parse_args()
    with ModelServer(port=options.port, responder=partial(echo, delay=options.delay)) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
