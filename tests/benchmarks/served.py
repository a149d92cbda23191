"""Processes that the benchmarks of messages and streams ask: the model, and the least that can stand before it.

``python -m tests.benchmarks.served NAME [ARGUMENTS]`` prints its address and runs until its standard input ends.
"""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import batched, cycle, islice
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from tests import model_scripts
from tests.chat_server import ChatServer
from tests.chat_server.kinds import DONE, KINDS
from tests.chat_server.scripts import USAGE, event
from tests.model_scripts import Delay, Raw, ScriptedStream, Step
from tests.model_server import ModelServer
from tests.model_server.transport import server_sent_event
from tests.services import free_port, until_left

SENTENCE = "They came at first light and the harbour master wrote it down in his book as every day."
MODEL = "claude-sonnet-5-5"
LONG = "Tell all of it."
BREATH = 0.005
"""Seconds before each piece of a long answer."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running process. ``url`` has no slash at its end."""

    url: str
    pid: int


def served(name: str, *arguments: object) -> AbstractContextManager[Served]:
    return running(sys.executable, "-m", __name__, name, *arguments)


@contextmanager
def running(*command: object) -> Iterator[Served]:
    """A program that prints its address and runs until its standard input ends."""
    with until_left([*map(str, command)]) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url, f"{command} did not start"
        yield Served(url=url, pid=process.pid)


def connected(running: Served) -> HTTPConnection:
    return HTTPConnection(urlsplit(running.url).netloc, timeout=60)


def post(
    connection: HTTPConnection,
    path: str,
    body: Mapping[str, Any] | Sequence[Any],
    headers: Mapping[str, str] = MappingProxyType({}),
    status: int = 200,
) -> None:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    answer = response.read()
    assert response.status == status, answer[:500]


def words(count: int) -> list[str]:
    return [word + " " for word in islice(cycle(SENTENCE.split()), count)]


def model(count: str, pause: str, words_an_event: str = "1") -> None:
    """The Messages API: so many words, with so many seconds before each event. With a pause, each word is the time at which it
    is sent, in microseconds."""
    with ModelServer(responder=lambda _: _spoken(int(count), float(pause), int(words_an_event))) as server:
        server.claude.verbatim = bool(float(pause))  # else it counts tokens as the real one does
        _serve(server.url)


def long_or_short(pieces: str, size: str, count: str, pause: str) -> None:
    """The Messages API: who asks for ``LONG`` hears so many pieces of so many characters at once, anybody else words as above,
    each the time at which it is sent."""
    piece = (SENTENCE * (int(size) // len(SENTENCE) + 1))[: int(size)]
    long = model_scripts.stream(
        *model_scripts.opening_steps(),
        *(step for _ in range(int(pieces)) for step in (Delay(BREATH), model_scripts.text_delta(piece))),
        *model_scripts.closing_steps(),
        thinks=False,
    )

    def respond(body: dict[str, Any]) -> ScriptedStream:
        return long if LONG in str(body["messages"][-1]) else _spoken(int(count), float(pause))

    with ModelServer(responder=respond) as server:
        server.claude.verbatim = True
        _serve(server.url)


def _spoken(count: int, pause: float, words_an_event: int = 1) -> ScriptedStream:
    pieces = ("".join(group) for group in batched(words(count), words_an_event))
    steps: list[Step] = [model_scripts.text_delta(piece) for piece in pieces]
    if pause:
        steps = [step for _ in range(count) for step in (Delay(pause), Stamp())]
    return model_scripts.stream(*model_scripts.opening_steps(), *steps, *model_scripts.closing_steps(), thinks=False)


class Stamp(Raw):
    """The time when it is sent, as an event of a text."""

    def __init__(self) -> None:
        pass

    @property
    def data(self) -> bytes:
        return server_sent_event(model_scripts.text_delta(f"{time.time_ns() // 1000} "))


def precomputed(count: str) -> None:
    """The Messages API as cheap as can be, for who measures how much others take: the same bytes whatever was asked."""
    steps = [*model_scripts.opening_steps(), *map(model_scripts.text_delta, words(int(count)))]
    steps += model_scripts.closing_steps()
    body = b"".join(server_sent_event(step) for step in steps if isinstance(step, dict))
    _always(
        f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )


def receiver() -> None:
    """A webhook's target, as cheap as can be."""
    _always(b"HTTP/1.1 204 No Content\r\n\r\n")


def _always(whole: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                request = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = request.partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(size or 0))
                writer.write(whole)

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        _tell(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await server.serve_forever()

    threading.Thread(target=_end_with_input, daemon=True).start()
    asyncio.run(serve())


def chats(count: str) -> None:
    """Chat Completions, with as many words."""
    told: dict[str, Any] = {"id": "chatcmpl-local", "object": "chat.completion.chunk", "created": 0, "model": MODEL}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> Raw:
        return event({**told, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    pieces = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": word}) for word in words(int(count)))]
    ending = [chunk({}, "stop"), event({**told, "choices": [], "usage": USAGE}), Raw(DONE)]
    with ChatServer() as server:
        server.kind = KINDS["vllm"]
        server.say(lambda _: model_scripts.stream(*pieces, *ending))
        _serve(server.base_url)


def relay(model_url: str) -> None:
    """Daphne and the SDK, nothing else: ``/`` answers with the whole text, ``/stream/`` with its pieces as they come."""
    from anthropic import AsyncAnthropic  # noqa: PLC0415
    from daphne.server import Server  # noqa: PLC0415

    client: list[AsyncAnthropic] = []

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if not client:
            client.append(AsyncAnthropic(api_key="key-of-the-bench", base_url=model_url, max_retries=0))
        body = b""
        while (event := await receive())["type"] == "http.request":
            body += event["body"]
            if not event.get("more_body"):
                break
        is_stream = scope["path"] == "/stream/"
        kind = b"text/event-stream" if is_stream else b"application/json"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        messages: Any = [{"role": "user", "content": json.loads(body)["content"]}]
        said = ""
        async with client[0].messages.stream(model=MODEL, max_tokens=4_096, messages=messages) as stream:
            async for text in stream.text_stream:
                if is_stream:
                    data = json.dumps({"text": text}).encode()
                    await send({"type": "http.response.body", "body": b"data: %s\n\n" % data, "more_body": True})
                else:
                    said += text
        last = b"" if is_stream else json.dumps({"text": said}).encode()
        await send({"type": "http.response.body", "body": last})

    port = free_port()
    server = Server(
        application=application,
        endpoints=[f"tcp:port={port}:interface=127.0.0.1"],
        signal_handlers=False,
        ready_callable=lambda: _tell(f"http://127.0.0.1:{port}"),
        verbosity=0,
    )
    threading.Thread(target=_end_with_input, daemon=True).start()
    server.run()


def agents(database_url: str, model_url: str) -> None:
    """A chat on the OpenAI Agents SDK with its PostgreSQL sessions, on uvicorn; ``/{session}/`` answers with the whole text."""
    from tests.benchmarks.peers import agents_chat  # noqa: PLC0415

    threading.Thread(target=_end_with_input, daemon=True).start()
    asyncio.run(agents_chat.serve(database_url, model_url, _tell))


def _tell(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


def _serve(url: str) -> None:
    _tell(url)
    sys.stdin.read()


def _end_with_input() -> None:
    import os  # noqa: PLC0415

    sys.stdin.read()
    os._exit(0)


SERVERS: dict[str, Callable[..., None]] = {
    "model": model,
    "long_or_short": long_or_short,
    "precomputed": precomputed,
    "receiver": receiver,
    "chats": chats,
    "relay": relay,
    "agents": agents,
}

if __name__ == "__main__":
    SERVERS[sys.argv[1]](*sys.argv[2:])
