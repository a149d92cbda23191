"""Timing side by side: the candidates take turns in blocks, so that a drifting machine drifts for all."""

import gc
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import quantiles

from django.db import connection

BLOCK = 8
LEAST_VALUES = 5


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Say what takes a while, and how long it took, apart from the tables."""
    print(f"  {what} ...", end="", file=sys.stderr, flush=True)
    started = time.perf_counter()
    yield
    print(f" {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)


@contextmanager
def database() -> Iterator[str]:
    """The name of a migrated database of its own for the run."""
    with doing("making a database"):
        name = connection.creation.create_test_db(verbosity=0)
    try:
        yield name
    finally:
        with connection.cursor() as cursor:  # threads that have ended may not have closed theirs yet
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)


def side_by_side[Name](
    candidates: Mapping[Name, Callable[[], object]], rounds: int = 40, seconds: float = math.inf
) -> dict[Name, list[float]]:
    """Milliseconds of each call, sorted, by candidate. The first block warms up and doesn't count.

    Given seconds, a candidate that has taken them rests while the others go on, and a slow one has shorter blocks.
    """
    taken: dict[Name, list[float]] = {name: [] for name in candidates}
    gc.collect()
    gc.freeze()  # what other benchmarks have loaded is not searched for garbage at the expense of this one
    for number in range(rounds + 1):
        for name, call in candidates.items():
            if len(taken[name]) >= LEAST_VALUES and sum(taken[name]) >= seconds * 1000:
                continue
            block = list(_block(call, seconds / rounds))
            if number:
                taken[name] += block
    gc.unfreeze()
    return {name: sorted(values) for name, values in taken.items()}


def _block(call: Callable[[], object], seconds: float) -> Iterator[float]:
    end = time.perf_counter() + seconds
    for _ in range(BLOCK):
        started = time.perf_counter()
        call()
        stopped = time.perf_counter()
        yield (stopped - started) * 1000
        if stopped > end:
            return


def p50_p95(values: list[float]) -> tuple[float, float]:
    cuts = quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]


def table(title: str, taken: Mapping[str, list[float]], *, limit: str) -> None:
    """p50 and p95 of each, and p50 as a multiple of the limit's."""
    base, _ = p50_p95(taken[limit])
    print(f"\n== {title}")
    for name, values in taken.items():
        p50, p95 = p50_p95(values)
        print(f"  {name:<62} p50 {p50:9.3f}  p95 {p95:9.3f} ms  {p50 / base:8.2f}x")
