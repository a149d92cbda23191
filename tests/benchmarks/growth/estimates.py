"""What is needed of everything, at sizes and rates: what was measured of a message, times how many there are. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from conversations.models import ModelPrice
from conversations.providers.prices import cost_of
from tests.benchmarks.growth.measured import Measured, Table
from tests.benchmarks.growth.people import Year

BUSY = 0.6
"""Of a core: what is planned for, so that a burst does not queue."""
WORKERS = 0.25
"""CPU of workers by that of servers: consolidation ten quiet minutes later, upkeep."""
CONNECTIONS_EACH, CONNECTIONS_OF_POSTGRES = 16, 97
"""Of a process of Openbook at most, and of PostgreSQL as it is shipped, but for those kept for superusers."""
PRIMARY_CORES, PRIMARY_WAL = 32, 200e6
"""The largest PostgreSQL that is planned for: cores, and bytes of WAL a second."""
EVENTS_KEPT = 3_600
"""Seconds of events that are told of; they go with their day."""
CORE_HOUR, GB_MONTH, STORAGE_GB_MONTH = 0.04, 0.12, 0.023
"""USD of a core with 4 GB of memory, of a GB of fast disk, of a GB of object storage."""
COPIES = 2
"""Of the database: primary and standby."""
HOURS_OF_MONTH = 730

TURNS, RECORD, RECALL, REST = "turns", "record of requests", "index for recall", "rest"
KINDS: Mapping[str, Sequence[str]] = {
    TURNS: ("conversations_message", "conversations_thread", "conversations_reply"),
    RECORD: ("conversations_contextsnapshot", "conversations_contextblock"),
    RECALL: ("memory_indexedpassage", "memory_vocabulary"),
}
EVENTS = "conversations_replyevent"
"""Goes with its day."""


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The database at the end of each day, in bytes by kind."""

    kinds: Mapping[str, Sequence[float]]

    @property
    def total(self) -> list[float]:
        return [sum(day) for day in zip(*self.kinds.values(), strict=True)]


def by_kind(tables: Mapping[str, Table]) -> dict[str, float]:
    """Bytes of a message, without events."""
    known = {name: kind for kind, names in KINDS.items() for name in names}
    found = dict.fromkeys([*KINDS, REST], 0.0)
    for name, table in tables.items():
        if name != EVENTS:
            found[known.get(name, REST)] += table.bytes
    return found


def growth(measured: Measured, year: Year, snapshot_days: int = 0) -> Growth:
    """``snapshot_days``: as ``OPENBOOK_SNAPSHOT_DAYS``; the newest request of each thread stays."""
    said, begun = list(accumulate(year.messages)), list(accumulate(year.threads))
    kept = said
    if snapshot_days:
        kept = [
            now - (said[day - snapshot_days] - begun[day - snapshot_days] if day >= snapshot_days else 0)
            for day, now in enumerate(said)
        ]
    sizes = by_kind(measured.tables)
    kinds = {kind: [count * size for count in (kept if kind == RECORD else said)] for kind, size in sizes.items()}
    return Growth(kinds=kinds | {"files": [count * measured.page_table for count in accumulate(year.pages)]})


@dataclass(frozen=True, kw_only=True)
class Need:
    """At so many messages a second. Cores are as planned for, MB and bytes as they are."""

    rate: float
    servers: int
    server_cores: float
    postgres_cores: float
    worker_cores: float
    connections: int
    running: float
    wal: float
    events: float
    memory_mb: float
    input_minute: float
    output_minute: float


def need(measured: Measured, rate: float) -> Need:
    server_cores = rate * measured.server_ms / 1000 / BUSY
    servers = max(1, math.ceil(server_cores))  # the event loop of a process has one core
    return Need(
        rate=rate,
        servers=servers,
        server_cores=server_cores,
        postgres_cores=rate * measured.postgres_ms / 1000 / BUSY,
        worker_cores=server_cores * WORKERS,
        connections=servers * CONNECTIONS_EACH,
        running=rate * measured.reply_seconds,
        wal=rate * measured.wal_after_checkpoint,
        events=rate * EVENTS_KEPT * measured.tables[EVENTS].bytes,
        memory_mb=servers * measured.server_mb,
        input_minute=rate * 60 * measured.tokens.prompt,
        output_minute=rate * 60 * measured.tokens.output,
    )


def limits(measured: Measured) -> dict[str, float]:
    """Messages a second at which each of these is used up, the first first."""
    one = BUSY * 1000 / measured.server_ms
    all_of_it = measured.server_ms * (1 + WORKERS) + measured.postgres_ms
    found = {
        "two cores for everything": 2 * BUSY * 1000 / all_of_it,
        "the core of one server": one,
        f"{CONNECTIONS_OF_POSTGRES} connections": CONNECTIONS_OF_POSTGRES // CONNECTIONS_EACH * one,
        f"a primary of {PRIMARY_CORES} cores": PRIMARY_CORES * BUSY * 1000 / measured.postgres_ms,
        f"{PRIMARY_WAL / 1e6:.0f} MB/s of WAL": PRIMARY_WAL / measured.wal_after_checkpoint,
    }
    return dict(sorted(found.items(), key=lambda limit: limit[1]))


@dataclass(frozen=True, kw_only=True)
class Bill:
    """USD of a month."""

    cores: float
    disk: float
    files: float
    model: float

    @property
    def machines(self) -> float:
        return self.cores + self.disk + self.files


def bill(measured: Measured, year: Year, price: ModelPrice) -> Bill:
    """Of the last month: cores for the peak all day long, the disk as it is at the end."""
    peak = need(measured, year.peak)
    cores = max(1.0, peak.server_cores + peak.worker_cores) + COPIES * max(1.0, peak.postgres_cores)
    database = growth(measured, year).total[-1] + peak.events
    return Bill(
        cores=cores * CORE_HOUR * HOURS_OF_MONTH,
        disk=database * COPIES / 1e9 * GB_MONTH,
        files=sum(year.pages) * measured.page_storage / 1e9 * STORAGE_GB_MONTH,
        model=sum(year.messages) / 12 * float(cost_of(price, measured.tokens)),
    )


def rates(until: float = 2_000) -> Iterator[float]:
    """From 0.1 on, twenty to each power of ten."""
    return (10 ** (step / 20 - 1) for step in range(1 + int(20 * (math.log10(until) + 1))))
