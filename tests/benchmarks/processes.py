"""What a second server process gives: messages a second of one on one core, and of two on two, with everything that serves them
– PostgreSQL, Redis, a model that costs next to nothing, and who asks – held to the same cores.

Beside it, one process that may use both cores: PostgreSQL and the others leave it more than half of them, so that two can't be
twice as fast there. The CPU of a message says by whom it is taken. A quiet machine with two cores or more is needed.
"""

import asyncio
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from tests.benchmarks.measuring import doing
from tests.benchmarks.message import PASSWORD, QUESTION, TURNS, WORDS, cpu_seconds, long_thread
from tests.benchmarks.served import served
from tests.clients import ServerClient
from tests.processes import ServerProcess, server_process
from tests.services import administration, fresh_database, redis

PEOPLE = 16
"""Who ask at once, one message after the other, each in a thread of their own; half of them each server."""
SECONDS = 8.0
ROUNDS = 3
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Arrangement:
    """How many servers are asked, and the number of cores that everything is held to."""

    name: str
    servers: int
    cores: int


ONE_EACH = Arrangement(name="one process, everything on one core", servers=1, cores=1)
TWO_EACH = Arrangement(name="two processes, everything on two cores", servers=2, cores=2)
ONE_OF_TWO = Arrangement(name="one process, everything on two cores", servers=1, cores=2)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Messages a second, and milliseconds of CPU a message by who takes them."""

    rate: float
    cpu: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Place:
    servers: Sequence[ServerProcess]
    model: int
    redis: int
    postgres: int
    token: str
    threads: Sequence[str]

    def pids(self) -> dict[str, list[int]]:
        """All who take part, by what they are."""
        return {
            "servers": [server.pid for server in self.servers],
            "PostgreSQL": [self.postgres, *children(self.postgres)],
            "model": [self.model],
            "Redis": [self.redis, *children(self.redis)],
            "who asks": [os.getpid()],
        }


def main() -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    assert len(cores) == 2, "this takes two cores"
    with ExitStack() as stack:
        with doing("starting the servers"):
            place = start(stack)
        arrangements = (ONE_EACH, TWO_EACH, ONE_OF_TWO)
        taken: dict[str, list[Figures]] = {each.name: [] for each in arrangements}
        with doing("sending messages"):
            for number in range(ROUNDS + 1):
                for each in arrangements:
                    hold(place, cores[: each.cores])
                    figures = measured(place, each.servers)
                    if number:
                        taken[each.name].append(figures)
        hold(place, cores)
    load = Path("/proc/loadavg").read_text().split()[0]
    print(f"\n== messages of {WORDS} words, {PEOPLE} people at once, {TURNS} turns before them; load {load}")
    base = median(figures.rate for figures in taken[ONE_EACH.name])
    for name, rounds in taken.items():
        rate = median(figures.rate for figures in rounds)
        cpu = {who: median(figures.cpu[who] for figures in rounds) for who in rounds[0].cpu}
        told = ", ".join(f"{who} {value:.1f}" for who, value in cpu.items())
        print(f"  {name:<40} {rate:6.1f} messages a second  {rate / base:5.2f}x; ms of CPU a message: {told}")
    ratios = [two.rate / one.rate for one, two in zip(taken[ONE_EACH.name], taken[TWO_EACH.name], strict=True)]
    print(f"  two by one, round by round: {', '.join(f'{ratio:.2f}' for ratio in ratios)} (at least 1.6)")


def start(stack: ExitStack) -> Place:
    model = stack.enter_context(served("precomputed", WORDS))
    redis_url = stack.enter_context(redis())
    database = stack.enter_context(fresh_database())
    environment = {
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "key-of-the-bench",
        "ANTHROPIC_BASE_URL": model.url,
        "REDIS_URL": redis_url,
    }
    servers = [stack.enter_context(server_process(database, **environment)) for _ in range(2)]
    client = ServerClient.signed_in(servers[0].url, password=PASSWORD)
    client.call("POST", "import/", {"format": "openbook/1", "threads": [long_thread() for _ in range(PEOPLE)]}, 300)
    threads = [thread["id"] for thread in client.call("GET", f"threads/?page_size={PEOPLE}")["results"]]
    with administration() as connection:
        told = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchone()
    assert told
    return Place(
        servers=servers,
        model=model.pid,
        redis=listening(redis_url),
        postgres=int(told[0].split()[0]),
        token=client.token,
        threads=threads,
    )


def listening(redis_url: str) -> int:
    """The shell that ``redis`` started, by the port in its command."""
    port = str(urlsplit(redis_url).port).encode()
    return next(pid for pid in children(os.getpid()) if port in Path(f"/proc/{pid}/cmdline").read_bytes())


def children(pid: int) -> list[int]:
    """Those that run now."""
    return [child for child, parent in parents() if parent == pid]


def parents() -> Iterator[tuple[int, int]]:
    """Each process with the one that started it."""
    for path in Path("/proc").iterdir():
        try:
            told = (path / "stat").read_text() if path.name.isdecimal() else ""
        except OSError:  # it has ended
            continue
        if told:
            yield int(path.name), int(told.rpartition(")")[2].split()[1])


def hold(place: Place, cores: Sequence[int]) -> None:
    """Everything runs on these cores only, whatever it starts from now on too."""
    for pids in place.pids().values():
        for pid in pids:
            for thread in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), cores)


def measured(place: Place, servers: int) -> Figures:
    before = spent(place)
    began = time.perf_counter()
    count = asyncio.run(asked(place, servers))
    seconds = time.perf_counter() - began
    after = spent(place)
    return Figures(rate=count / seconds, cpu={who: (after[who] - before[who]) * 1000 / count for who in after})


def spent(place: Place) -> dict[str, float]:
    """Seconds of CPU so far. Of PostgreSQL's, those that run now: the servers keep their connections."""
    return {who: sum(map(cpu_seconds, pids)) for who, pids in place.pids().items()}


async def asked(place: Place, servers: int) -> int:
    """How many messages were answered; those that were begun in time are waited for."""
    until = time.perf_counter() + SECONDS
    people = (ask(place, place.servers[number % servers], number, until) for number in range(PEOPLE))
    return sum(await asyncio.gather(*people))


async def ask(place: Place, running: ServerProcess, number: int, until: float) -> int:
    """The least that asks over HTTP: one connection, one message after the other."""
    host = urlsplit(running.url).netloc
    reader, writer = await asyncio.open_connection(*host.split(":"))
    body = json.dumps(QUESTION).encode()
    lines = [
        f"POST /api/v1/threads/{place.threads[number]}/messages/ HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Token {place.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    request = "\r\n".join([*lines, "", ""]).encode() + body
    count = 0
    while time.perf_counter() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 201"), head
        size = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        assert size, head
        await reader.readexactly(int(size))
        count += 1
    writer.close()
    return count
