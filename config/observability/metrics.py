"""``/metrics``: what Prometheus is told of this process, and of the installation.

The figures of the installation are the same from each server. They are read from the database, some statements of a millisecond
each, and kept for some seconds, so that several who ask cost no more than one. Workers have no address of their own: what they
leave undone is seen in the queues and leases, and what they ask of models is told to a collector of OpenTelemetry.
"""

import asyncio
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from config.observability import figures, installation, label_values
from config.observability.installation import Disk, Installation
from config.observability.version import code_version
from config.server import pacing
from config.server.proxies import DIRECT
from conversations.replies import journal
from conversations.runtime import lagging
from conversations.runtime.db import in_database
from conversations.web import consumers

KEPT_SECONDS = 5.0
DATABASE_SECONDS = 3.0


@dataclass
class LastLook:
    """At the installation; ``None`` where the database did not answer."""

    installation: Installation | None = None
    at: float = -KEPT_SECONDS
    guard: asyncio.Lock = field(default_factory=asyncio.Lock)


last_look = LastLook()


async def metrics(request: HttpRequest) -> HttpResponse:
    """Told to programs on this machine, and to whoever has the token; to all others there is nothing here."""
    if request.method not in {"GET", "HEAD"} or not may_read(request):
        return HttpResponse("Not found.\n", status=404, content_type="text/plain; charset=utf-8")
    found = await looked()
    text = await asyncio.to_thread(rendered, found, installation.disks())
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    token = settings.OPENBOOK_METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if token and secrets.compare_digest(given.encode(), token.encode()):
        return True
    scope = getattr(request, "scope", {})
    return bool(scope.get(DIRECT))


async def looked() -> Installation | None:
    async with last_look.guard:
        if time.monotonic() - last_look.at >= KEPT_SECONDS:
            try:
                last_look.installation = await asyncio.wait_for(in_database(installation.look)(), DATABASE_SECONDS)
            except (Error, TimeoutError):
                last_look.installation = None
            last_look.at = time.monotonic()
        return last_look.installation


def rendered(found: Installation | None, disks: list[Disk]) -> bytes:
    once = CollectorRegistry()
    once.register(Families([*process_families(), *disk_families(disks), *installation_families(found)]))
    return generate_latest(figures.REGISTRY) + generate_latest(once)


class Families(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def gauge(name: str, description: str, value: float | None) -> Iterator[GaugeMetricFamily]:
    """Nothing where it is not known."""
    if value is not None:
        yield GaugeMetricFamily(name, description, value=value)


def gauges(
    name: str, description: str, labels: list[str], values: list[tuple[list[str], float]]
) -> Iterator[GaugeMetricFamily]:
    family = GaugeMetricFamily(name, description, labels=labels)
    for names, value in values:
        family.add_metric(names, value)
    yield family


def process_families() -> Iterator[Metric]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield from gauges("openbook_info", "What runs here.", ["version", "python"], [([code_version(), python], 1)])
    yield from gauge("openbook_replies_running", "Replies that this process runs.", journal.running_here())
    yield from gauge("openbook_sockets", "Open WebSockets of this process.", len(consumers.OPEN))
    fallbacks = CounterMetricFamily(
        "openbook_replica_fallbacks", "Reads of this process that the primary answered.", labels=["reason"]
    )
    for reason, reads in dict(lagging.watch.fallbacks).items():
        fallbacks.add_metric([reason], reads)
    yield fallbacks
    yield from gauge(
        "openbook_http_requests_in_flight",
        "Requests and event streams that this process has not answered to their end.",
        pacing.in_flight.count,
    )


def recent_requests(found: Installation) -> Counter[tuple[str, str]]:
    """How many, by status and code of the error."""
    numbers = Counter[tuple[str, str]]()
    for each in found.requests:
        status = label_values.bounded("openbook.request_status", each.status)
        numbers[status, label_values.bounded("error.type", each.error)] += each.number
    return numbers


def disk_families(disks: list[Disk]) -> Iterator[GaugeMetricFamily]:
    values = [([disk.folder], disk) for disk in disks]
    yield from gauges("openbook_disk_free_bytes", "Of this machine.", ["folder"], [(k, d.free) for k, d in values])
    yield from gauges("openbook_disk_size_bytes", "Of this machine.", ["folder"], [(k, d.size) for k, d in values])


def installation_families(found: Installation | None) -> Iterator[GaugeMetricFamily]:
    yield from gauge("openbook_database_up", "1: the database answers.", int(found is not None))
    if found is None:
        return
    one = gauge
    yield from one("openbook_database_size_bytes", "Size of the database.", found.size)
    yield from one("openbook_database_connections", "Connections to PostgreSQL, of all.", found.connections)
    yield from one("openbook_database_connections_limit", "How many it allows.", found.most_connections)
    yield from one(
        "openbook_database_oldest_transaction_seconds", "How long the oldest is open.", found.oldest_transaction
    )
    yield from one("openbook_workers", "Workers that are alive.", found.workers)
    yield from one("openbook_leases", "Leases that are held, but for those of workers.", found.leases)
    yield from one("openbook_installation_replies_running", "Replies that run anywhere.", found.running)
    yield from one("openbook_installation_replies_stuck", "Replies whose server has gone.", found.stuck)
    yield from one("openbook_mails_waiting", "Mails that wait to be sent or tried again.", found.mails)
    yield from one("openbook_mails_failed", "Mails that were given up, of the last 30 days.", found.failed_mails)
    yield from work_families(found)
    yield from upkeep_families(found)


def work_families(found: Installation) -> Iterator[GaugeMetricFamily]:
    queue = ["queue"]
    yield from gauges(
        "openbook_queue_length",
        "Tasks that could be run, at most 10000.",
        queue,
        [([each.name], each.length) for each in found.queues],
    )
    yield from gauges(
        "openbook_queue_oldest_seconds",
        "For how long the oldest of them waits.",
        queue,
        [([each.name], each.oldest) for each in found.queues],
    )
    yield from gauges(
        "openbook_requests_recent",
        "Model requests of the last five minutes, of the newest 10000.",
        ["status", "error"],
        [([status, error], number) for (status, error), number in recent_requests(found).items()],
    )


def upkeep_families(found: Installation) -> Iterator[GaugeMetricFamily]:
    now = found.at.timestamp()
    yield from gauges(
        "openbook_replica_up",
        "1: the standby follows.",
        ["standby"],
        [([each.name], int(each.up)) for each in found.standbys],
    )
    yield from gauges(
        "openbook_replica_lag_seconds",
        "How far a standby is behind.",
        ["standby"],
        [([each.name], each.lag) for each in found.standbys if each.lag is not None],
    )
    yield from gauges(
        "openbook_partition_ahead_seconds",
        "Until a table has no partition for new rows.",
        ["table"],
        [([name], seconds) for name, seconds in found.ahead.items()],
    )
    yield from gauges(
        "openbook_last_success_age_seconds",
        "Since the last backup and drill that succeeded; since 1970 where there was none.",
        ["kind"],
        [
            ([kind], now - (found.maintenance[kind].timestamp() if kind in found.maintenance else 0))
            for kind in ("backup", "drill")
        ],
    )
    yield from audit_families(found)


def audit_families(found: Installation) -> Iterator[GaugeMetricFamily]:
    destination = ["destination"]
    yield from gauges(
        "openbook_audit_push_waiting",
        "Audit events that a destination has not taken.",
        destination,
        [([each.destination], each.waiting) for each in found.deliveries],
    )
    yield from gauges(
        "openbook_audit_push_lag_seconds",
        "Since the oldest of them happened.",
        destination,
        [([each.destination], each.behind) for each in found.deliveries],
    )
