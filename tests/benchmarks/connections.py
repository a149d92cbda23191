"""One server with 500 sockets that are silent, and 100 readers that never read what they asked for: by how much its memory
grows, and how much longer 50 people who talk meanwhile wait for each token. Each token is the time at which it was sent.

The delay is time, so that it says something of a machine that does nothing else only; its ratio is of one run.
"""

import asyncio
import json
import socket
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.benchmarks.exchange import memory
from tests.benchmarks.measuring import doing
from tests.benchmarks.message import PASSWORD, long_thread
from tests.benchmarks.served import LONG, served
from tests.clients import ServerClient
from tests.processes import ServerProcess, server_process
from tests.services import fresh_database

IDLE, ACTIVE, DEAF = 500, 50, 100
"""Sockets that are silent, people who talk, and readers that never read: half of them event streams, half sockets."""
PIECES, SIZE = 1_500, 2_000
"""Of the reply that nobody reads: 3 MB, more than the kernel takes for a connection."""
WORDS, PAUSE, REST = 40, 0.1, 1.0
"""Of the others' replies, and how long a person rests between two."""
SECONDS = 12.0
ROUNDS = 2
SMALL_WINDOW = 4_096
"""Bytes that the kernel takes for a reader that doesn't read."""
AT_ONCE = 25
"""Sockets that are opened at the same time."""


@dataclass
class Heard:
    """Delays of tokens while it was measured, in milliseconds."""

    measuring: bool = False
    delays: list[float] = field(default_factory=list)

    def note(self, text: str) -> None:
        now = time.time()
        if self.measuring:
            self.delays += [(now - int(stamp) / 1e6) * 1000 for stamp in text.split()]


def main() -> None:
    with ExitStack() as stack:
        with doing("starting the servers"):
            model = stack.enter_context(served("long_or_short", PIECES, SIZE, WORDS, PAUSE))
            environment = {
                "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
                "OPENBOOK_PROVIDER": "anthropic",
                "ANTHROPIC_API_KEY": "key-of-the-bench",
                "ANTHROPIC_BASE_URL": model.url,
            }
            running = stack.enter_context(server_process(stack.enter_context(fresh_database()), **environment))
        with doing("making threads and a long reply"):
            place = prepare(running)
        with doing("talking"):
            rounds, grown = asyncio.run(measured(place))
    load = Path("/proc/loadavg").read_text().split()[0]
    alone, beside = (median(p99) for p99 in zip(*rounds, strict=True))
    print(f"\n== {ACTIVE} people talk beside {IDLE} silent sockets and {DEAF} readers that never read; load {load}")
    print(f"  delay of a token, p99: alone {alone:7.1f} ms, beside them {beside:7.1f} ms  {beside / alone:6.2f}x")
    print(f"  the server's memory grows by {grown:6.1f} MB")


@dataclass(frozen=True, kw_only=True)
class Place:
    """The server, and what is read there: ``threads`` of the silent and the active, and the reply that nobody reads."""

    server: ServerProcess
    token: str
    threads: list[str]
    long_thread: str
    long_reply: str

    @property
    def host(self) -> str:
        return urlsplit(self.server.url).netloc

    def socket(self, thread: str, **options: Any) -> connect:
        return connect(
            f"{self.server.websocket_url}ws/threads/{thread}/",
            subprotocols=[Subprotocol("Token"), Subprotocol(self.token)],
            open_timeout=60,
            max_size=None,
            **options,
        )


def prepare(running: ServerProcess) -> Place:
    client = ServerClient.signed_in(running.url, password=PASSWORD)
    documents = [{**long_thread(), "id": str(uuid.uuid4())} for _ in range(IDLE)]
    for first in range(0, IDLE, 100):
        client.call("POST", "import/", {"format": "openbook/1", "threads": documents[first : first + 100]}, 300)
    threads: list[str] = []
    page = "threads/?page_size=100"
    while page:
        listed = client.call("GET", page)
        threads += [thread["id"] for thread in listed["results"]]
        page = (listed["next"] or "").partition("/api/v1/")[2]
    answer = client.call("POST", "threads/new/messages/", {"content": LONG}, 300)
    return Place(
        server=running,
        token=client.token,
        threads=threads,
        long_thread=answer["thread"],
        long_reply=answer["reply"]["id"],
    )


async def measured(place: Place) -> tuple[list[tuple[float, float]], float]:
    """p99 of the delay alone and beside the others, for each round; the megabytes by which the server grew in the first."""
    heard = Heard()
    rounds: list[tuple[float, float]] = []
    grown = 0.0
    talking = [asyncio.create_task(talk(place, place.threads[number], heard)) for number in range(ACTIVE)]
    await listened(heard)  # warms up
    for number in range(ROUNDS):
        alone = await listened(heard)
        forget_peak(place.server.pid)
        before = memory(place.server.pid, "VmRSS")
        async with crowd(place):
            beside = await listened(heard)
            grown = grown if number else memory(place.server.pid, "VmHWM") - before
        rounds.append((alone, beside))
    for task in talking:
        assert not task.done(), task.exception()
        task.cancel()
    await asyncio.gather(*talking, return_exceptions=True)
    return rounds, grown


def forget_peak(pid: int) -> None:
    """The most memory that a process has had is counted anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


async def listened(heard: Heard) -> float:
    heard.delays = []
    heard.measuring = True
    await asyncio.sleep(SECONDS)
    heard.measuring = False
    return quantiles(heard.delays, n=100)[98]


async def talk(place: Place, thread: str, heard: Heard) -> None:
    """One message after the other, over one socket."""
    async with place.socket(thread) as connection:
        while True:
            await connection.send(json.dumps({"type": "message.send", "content": "And then?"}))
            await answered(connection, heard)
            await asyncio.sleep(REST)


async def answered(connection: ClientConnection, heard: Heard) -> None:
    async for frame in connection:
        event = json.loads(frame)
        assert event["type"] != "error", event
        if event["type"] == "reply.delta":
            heard.note(event["data"]["text"])
        elif event["type"] in {"reply.completed", "reply.failed"}:
            assert event["type"] == "reply.completed", event
            return


@asynccontextmanager
async def crowd(place: Place) -> AsyncIterator[None]:
    """Those who are silent, and those who never read."""
    async with AsyncExitStack() as stack:
        for first in range(0, IDLE, AT_ONCE):
            threads = place.threads[first : first + AT_ONCE]
            await asyncio.gather(*(stack.enter_async_context(place.socket(thread)) for thread in threads))
        for _ in range(DEAF // 2):
            connection = await stack.enter_async_context(
                place.socket(place.long_thread, sock=narrow(place), max_queue=1)
            )
            await connection.send(json.dumps({"type": "reply.resume", "reply": place.long_reply, "after": 0}))
            stack.callback(ask_for_events(place).close)
        yield


def narrow(place: Place) -> socket.socket:
    """A connection that the kernel takes little for."""
    host, port = place.host.split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
    connection.connect((host, int(port)))
    return connection


def ask_for_events(place: Place) -> socket.socket:
    """An event stream of the long reply, of which nothing is read."""
    connection = narrow(place)
    lines = [
        f"GET /api/v1/replies/{place.long_reply}/events/ HTTP/1.1",
        f"Host: {place.host}",
        f"Authorization: Token {place.token}",
    ]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection
