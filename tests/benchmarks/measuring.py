"""Timing side by side: the candidates take turns in blocks, so that a drifting machine drifts for all."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import quantiles

from django.db import connection

BLOCK = 8


@contextmanager
def database() -> Iterator[None]:
    """A migrated database of its own for the run."""
    connection.creation.create_test_db(verbosity=0)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)


def side_by_side(candidates: Mapping[str, Callable[[], object]], rounds: int = 40) -> dict[str, list[float]]:
    """Milliseconds of each call, sorted, by candidate. The first block warms up and doesn't count."""
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, call in candidates.items():
            for _ in range(BLOCK):
                started = time.perf_counter()
                call()
                elapsed = (time.perf_counter() - started) * 1000
                if number:
                    taken[name].append(elapsed)
    return {name: sorted(values) for name, values in taken.items()}


def table(title: str, taken: Mapping[str, list[float]], *, limit: str) -> None:
    """p50 and p95 of each, and p50 as a multiple of the limit's."""
    base = quantiles(taken[limit], n=20)[9]
    print(f"\n== {title}")
    for name, values in taken.items():
        cuts = quantiles(values, n=20)
        print(f"  {name:<62} p50 {cuts[9]:8.3f}  p95 {cuts[18]:8.3f} ms  {cuts[9] / base:6.2f}x")
