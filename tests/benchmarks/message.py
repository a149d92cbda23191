"""CPU of one message over REST: the server's process alone, beside the least that can stand before a model, and beside
chats that keep their turns in PostgreSQL.

CPU and not time, so that what else the machine does hardly counts; the candidates take turns, and the ratios are of one run.
"""

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks import chats
from tests.benchmarks.chats import Call
from tests.benchmarks.measuring import doing
from tests.benchmarks.served import Served, connected, post, served
from tests.clients import ServerClient
from tests.processes import server_process
from tests.services import fresh_database

WORDS = 60
TURNS = 80
AT_ONCE = 4
ROUNDS, CALLS = 9, 15
"""Calls of each of those who ask at once, in a round. The first round warms up and doesn't count."""
PASSWORD = "benchmarks only"
QUESTION = {
    "content": "The harbour master keeps a book of every boat that comes in, and of the weather at first light."
}
SAID = "Turn {}: the harbour lay quiet, and nobody had yet come down to the boats."
RELAY = "bare Daphne relay, whole text"


EVENTS = (60, 12)
"""In how many events a model sends its words: the more, the dearer is the relay itself."""


def main() -> None:
    for events in EVENTS:
        measure(events)


def measure(events: int) -> None:
    with ExitStack() as stack:
        with doing("starting the servers"):
            candidates = start(stack, events)
        cpu: dict[str, list[float]] = {name: [] for name in candidates}
        with doing("sending messages"):
            for number in range(ROUNDS + 1):
                for name, (running, call) in candidates.items():
                    taken = measured(running, call)
                    if number:
                        cpu[name].append(taken)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(
        f"\n== CPU of a message of {WORDS} words in {events} events over REST, {AT_ONCE} at once, {TURNS} turns before it; "
        f"load {load}"
    )
    for name, values in cpu.items():
        print(f"  {name:<62} {median(values):8.2f} ms  {median(values) / median(cpu[RELAY]):8.2f}x")


def start(stack: ExitStack, events: int) -> dict[str, tuple[Served, Call]]:
    """By name, the server and how it is asked. The chats of others hear each word as an event of its own."""
    model = stack.enter_context(served("model", WORDS, 0, WORDS // events))
    relay = stack.enter_context(served("relay", model.url))
    url = stack.enter_context(fresh_database())
    environment = {
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-bench",
        "ANTHROPIC_BASE_URL": model.url,
    }
    process = stack.enter_context(server_process(url, **environment))
    ours = Served(url=process.url.rstrip("/"), pid=process.pid)
    client = ServerClient.signed_in(process.url, password=PASSWORD)
    client.call("POST", "import/", {"format": "openbook/1", "threads": [long_thread() for _ in range(AT_ONCE)]})
    threads = [thread["id"] for thread in client.call("GET", f"threads/?page_size={AT_ONCE}")["results"]]
    headers = {"Authorization": f"Token {client.token}"}

    def to_thread(action: str, status: int = 200) -> tuple[Served, Call]:
        paths = [f"/api/v1/threads/{thread}/{action}" for thread in threads]
        return ours, lambda connection, number: post(connection, paths[number], QUESTION, headers, status)

    items = [{"role": ("user", "assistant")[n % 2], "content": SAID.format(n)} for n in range(TURNS)]
    return {
        RELAY: (relay, lambda connection, _: post(connection, "/", QUESTION)),
        "the same, its pieces as they come": (relay, lambda connection, _: post(connection, "/stream/", QUESTION)),
        "Openbook, messages/": to_thread("messages/", 201),
        "Openbook, messages/stream/": to_thread("messages/stream/"),
        "Openbook, context/": to_thread("context/"),
    } | (
        chats.start(stack, words=WORDS, at_once=AT_ONCE, turns=items, question=QUESTION["content"])
        if events == WORDS
        else {}
    )


def long_thread() -> dict[str, Any]:
    """As a document brings it."""
    messages = [
        {
            "role": ("user", "assistant")[n % 2],
            "content": SAID.format(n),
            "created_at": f"2026-01-01T{n // 60:02}:{n % 60:02}:00Z",
        }
        for n in range(TURNS)
    ]
    return {"id": str(uuid.uuid4()), "title": "The harbour", "messages": messages}


def measured(running: Served, call: Call) -> float:
    """Milliseconds of the server's CPU that a call takes."""

    def ask(number: int) -> None:
        with closing(connected(running)) as connection:
            for _ in range(CALLS):
                call(connection, number)

    before = cpu_seconds(running.pid)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(ask, range(AT_ONCE)))
    return (cpu_seconds(running.pid) - before) * 1000 / (AT_ONCE * CALLS)


def cpu_seconds(pid: int) -> float:
    """That a process has taken, all its threads together."""
    return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid() gives it on Linux
