"""What a scrape of ``/metrics`` takes while a million requests are stored: of a real server, over HTTP.

Alone: ``make bench ONLY=metrics``.
"""

import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from config.observability import installation
from config.observability.metrics import KEPT_SECONDS
from conversations.runtime.db import run
from tests.benchmarks import inspection
from tests.benchmarks.measuring import p50_p95, side_by_side
from tests.benchmarks.message import PASSWORD, cpu_seconds
from tests.benchmarks.served import Served, connected
from tests.clients import ServerClient
from tests.processes import server_process

STATEMENTS = ("database", "queues", "replies", "transactions", "standbys", "maintenance")
MESSAGES = 20
"""That the server answers before, so that its figures hold something."""
FIRST, KEPT = 8, 200
"""Scrapes that come after what was read is too old, and those that come right after another."""


def main(database_url: str) -> None:
    inspection.fill()
    statements: dict[str, Callable[[], object]] = {
        "look at the installation, whole": installation.look,
        **{name: partial(run, installation.SQL[name]) for name in STATEMENTS},
    }
    print(f"\n== the installation, {inspection.REQUESTS:,} requests stored; load {load()}")
    for name, values in side_by_side(statements, 10).items():
        tell(name, values)
    with server_process(database_url, DJANGO_SUPERUSER_PASSWORD=PASSWORD, OPENBOOK_OFFLINE_WORD_SECONDS="0") as running:
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        for _ in range(MESSAGES):
            client.call("POST", "threads/new/messages/", {"content": "Hello"})
        served = Served(url=running.url.rstrip("/"), pid=running.pid)
        with closing(connected(served)) as connection:
            scrape(connection)
            first, first_cpu = measured(served, connection, FIRST, KEPT_SECONDS + 0.1)
            kept, kept_cpu = measured(served, connection, KEPT, 0)
            size = scrape(connection)[1]
    print(f"\n== a scrape of {size:,} bytes, {inspection.REQUESTS:,} requests stored; load {load()}")
    tell(f"what was read is older than {KEPT_SECONDS:.0f} s", first, first_cpu)
    tell("right after another", kept, kept_cpu)


def scrape(connection: HTTPConnection) -> tuple[float, int]:
    """Milliseconds, and bytes."""
    began = time.perf_counter()
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return (time.perf_counter() - began) * 1000, len(text)


def measured(served: Served, connection: HTTPConnection, count: int, pause: float) -> tuple[list[float], float]:
    """Milliseconds of each scrape, and of the server's CPU for one, with what the server does meanwhile."""
    taken, cpu = list[float](), 0.0
    for _ in range(count):
        time.sleep(pause)
        before = cpu_seconds(served.pid)
        taken.append(scrape(connection)[0])
        cpu += cpu_seconds(served.pid) - before
    return taken, cpu * 1000 / count


def tell(name: str, values: list[float], cpu: float | None = None) -> None:
    p50, p95 = p50_p95(values)
    of_cpu = "" if cpu is None else f"  CPU {cpu:6.2f} ms"
    print(f"  {name:<62} p50 {p50:9.3f}  p95 {p95:9.3f} ms{of_cpu}")


def load() -> str:
    return Path("/proc/loadavg").read_text().split()[0]
