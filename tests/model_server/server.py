"""The server: it takes requests, finds what to answer, and keeps what came for the test to look at."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import pytest

from tests.model_scripts import Responder, Script, ScriptedRefusal, echo, error
from tests.model_server.claude import Claude
from tests.model_server.transport import (
    LARGEST_BODY,
    CutOffError,
    ReceivedRequest,
    forward,
    read_request,
    until_gone,
    write_answer,
)

COUNT_PATHS = ("/v1/messages/count_tokens", "/tokenize")


def answer_json(body: object) -> ScriptedRefusal:
    return ScriptedRefusal(status=200, body=json.dumps(body).encode())


class ModelServer:
    """``requests`` holds all that came, in order. Scripts are used one by one; without any the responder answers.

    Requests to count tokens are apart, in ``counts``: ``tokens_of`` says what a text has, ``count_scripts`` what is answered
    instead.
    """

    def __init__(self, *, port: int = 0, responder: Responder = echo, api_key: str = "") -> None:
        self.responder = self._first_responder = responder
        self.api_key = api_key
        self.claude = Claude()
        self.requests: list[ReceivedRequest] = []
        self.counts: list[ReceivedRequest] = []
        self.count_scripts: deque[Script] = deque()
        self.tokens_of: Callable[[str], int] = lambda text: len(text.split())
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
            if callable(script):
                self.responder = script
            else:
                self._scripts.append(script)

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
                    (self.counts if request.path in COUNT_PATHS else self.requests).append(request)
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
        asked = (request.method, request.path.partition("?")[0])
        if asked == ("GET", "/v1/models"):
            return self._unauthorised(request) or self.claude.model_list()
        try:
            request.body = json.loads(request.raw_body)
        except ValueError:
            return error(400, "The request body is not valid JSON")
        if asked == ("POST", "/v1/messages/count_tokens"):
            return self._unauthorised(request) or self._counted(request.body)
        if asked != ("POST", "/v1/messages"):
            return error(404, f"{request.method} {request.path}")
        if (refusal := self._unauthorised(request)) is not None:
            return refusal
        body, betas = request.body, request.headers.get("anthropic-beta", "")
        if (objection := self.claude.objection(body, betas)) is not None:
            return objection
        script = self.claude.refusal(body) or self._next_script(body)
        return self.claude.answer(body, betas, script)

    def _counted(self, body: dict[str, Any]) -> Script:
        if self.count_scripts:
            return self.count_scripts.popleft()
        [message] = body["messages"]
        return answer_json({"input_tokens": self.tokens_of(message["content"])})

    def _unauthorised(self, request: ReceivedRequest) -> ScriptedRefusal | None:
        key = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key")
        if not key or (self.api_key and key != self.api_key):
            return error(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return error(400, "anthropic-version: header is required")
        return None

    def _next_script(self, body: dict[str, Any]) -> Script:
        return self._scripts.popleft() if self._scripts else self.responder(body)


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server
