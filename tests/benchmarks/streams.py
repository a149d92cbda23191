"""A hundred streams at once, of twenty tokens a second each: how long after the model said it a reader has each token, and what
CPU of the server a token takes, beside a relay without anything else. Each token is the time at which it was sent.

The delay is time, so that it says something of a machine that does nothing else only.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

from tests.benchmarks.measuring import doing
from tests.benchmarks.message import PASSWORD, QUESTION, cpu_seconds
from tests.benchmarks.served import Served, served
from tests.clients import ServerClient
from tests.processes import server_process
from tests.services import fresh_database

STREAMS, TOKENS, PAUSE = 100, 400, 0.05
SETTLING, SECONDS = 1.0, 8.0
"""After all streams have begun, before it is measured, and how long it is."""
ROUNDS = 3
RELAY = "bare Daphne relay with the SDK's stream helper"


@dataclass
class Heard:
    """The delay of each token that came while it was measured, in milliseconds."""

    measuring: bool = False
    delays: list[float] = field(default_factory=list)
    begun: int = 0
    all_begun: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self) -> None:
        self.begun += 1
        if self.begun == STREAMS:
            self.all_begun.set()

    def note(self, text: str) -> None:
        now = time.time()
        if self.measuring:
            self.delays += [(now - int(stamp) / 1e6) * 1000 for stamp in text.split()]


def main() -> None:
    taken: dict[str, list[tuple[float, float, float]]] = {}
    with ExitStack() as stack:
        with doing("starting the servers"):
            candidates = start(stack)
        with doing("reading along"):
            for _ in range(ROUNDS):
                for name, (running, path, headers) in candidates.items():
                    taken.setdefault(name, []).append(asyncio.run(measured(running, path, headers)))
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"\n== {STREAMS} streams of {1 / PAUSE:.0f} tokens a second; load {load}")
    base = median(cpu for *_, cpu in taken[RELAY])
    for name, rounds in taken.items():
        p95, p99, cpu = (median(values) for values in zip(*rounds, strict=True))
        print(f"  {name:<50} delay p95 {p95:7.1f}  p99 {p99:7.1f} ms  CPU {cpu:6.0f} µs a token {cpu / base:6.2f}x")


def start(stack: ExitStack) -> dict[str, tuple[Served, str, Mapping[str, str]]]:
    """By name, the server, the address of a stream, and what is sent with it."""
    model = stack.enter_context(served("model", TOKENS, PAUSE))
    relay = stack.enter_context(served("relay", model.url))
    environment = {
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-bench",
        "ANTHROPIC_BASE_URL": model.url,
    }
    process = stack.enter_context(server_process(stack.enter_context(fresh_database()), **environment))
    ours = Served(url=process.url.rstrip("/"), pid=process.pid)
    token = ServerClient.signed_in(process.url, password=PASSWORD).token
    return {
        RELAY: (relay, "/stream/", {}),
        "Openbook": (ours, "/api/v1/threads/new/messages/stream/", {"Authorization": f"Token {token}"}),
    }


async def measured(running: Served, path: str, headers: Mapping[str, str]) -> tuple[float, float, float]:
    """p95 and p99 of the delay in milliseconds, and microseconds of CPU a token."""
    heard = Heard()
    async with asyncio.TaskGroup() as readers:
        for _ in range(STREAMS):
            readers.create_task(read(running, path, headers, heard))
        await heard.all_begun.wait()
        await asyncio.sleep(SETTLING)
        heard.measuring, before = True, cpu_seconds(running.pid)
        await asyncio.sleep(SECONDS)
        heard.measuring, cpu = False, cpu_seconds(running.pid) - before
        assert heard.begun == STREAMS, "streams ended before they were measured"
    cuts = quantiles(heard.delays, n=100)
    return cuts[94], cuts[98], cpu * 1e6 / len(heard.delays)


async def read(running: Served, path: str, headers: Mapping[str, str], heard: Heard) -> None:
    """One stream, to its end."""
    host = urlsplit(running.url)
    reader, writer = await asyncio.open_connection(host.hostname, host.port)
    body = json.dumps(QUESTION).encode()
    lines = {
        "Host": host.netloc,
        "Content-Type": "application/json",
        "Content-Length": len(body),
        "Connection": "close",
    }
    head = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in {**lines, **headers}.items()), "", ""]
    writer.write("\r\n".join(head).encode() + body)
    tokens = 0
    while line := await reader.readline():
        if line.startswith(b"data: "):
            for text in texts(json.loads(line[6:])):
                heard.note(text)
                if not tokens:
                    heard.begin()
                tokens += len(text.split())
    heard.begun -= 1
    writer.close()
    assert tokens == TOKENS, f"{tokens} tokens came of {TOKENS}"


def texts(data: Mapping[str, object]) -> Iterator[str]:
    """Of an event, ours or the relay's."""
    match data:
        case {"type": "reply.delta", "data": {"text": str(text)}}:
            yield text
        case {"text": str(text)} if "type" not in data:
            yield text
