"""How two versions differ on the same cases. Pure.

The interval is the adjusted one of Bonett and Price (2012), which holds for few cases too; the p-value is McNemar's, exact.
"""

import math
from collections.abc import Iterable
from statistics import NormalDist, median
from typing import TypedDict

Z = NormalDist().inv_cdf(0.975)


class Difference(TypedDict):
    """Of shares of cases that pass, the second less the first, with its 95 % interval. ``gained`` pass in the second alone."""

    cases: int
    gained: int
    lost: int
    difference: float
    low: float
    high: float
    p: float


def difference(pairs: Iterable[tuple[bool, bool]]) -> Difference:
    """Each pair says whether a case passes in the first and in the second."""
    results = list(pairs)
    cases = len(results)
    gained = sum(not before and after for before, after in results)
    lost = sum(before and not after for before, after in results)
    up, down = (gained + 1) / (cases + 2), (lost + 1) / (cases + 2)
    middle = up - down
    width = Z * math.sqrt((up + down - middle**2) / (cases + 2))
    return {
        "cases": cases,
        "gained": gained,
        "lost": lost,
        "difference": (gained - lost) / cases if cases else 0.0,
        "low": max(-1.0, middle - width),
        "high": min(1.0, middle + width),
        "p": exact_p(gained, lost),
    }


def exact_p(gained: int, lost: int) -> float:
    """Of as uneven a split by chance, in whole numbers, so that nothing is rounded before the end."""
    changed = gained + lost
    tail = sum(math.comb(changed, number) for number in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / (1 << changed))


class MedianDifference(TypedDict):
    """The median of the second less the first, with its 95 % interval by the order of the differences, which supposes nothing
    of how they are spread; ``None`` where there are too few cases for one (fewer than six)."""

    cases: int
    median: float
    low: float | None
    high: float | None


def median_difference(pairs: Iterable[tuple[float, float]]) -> MedianDifference:
    """Each pair is a figure of the first and of the second."""
    found = sorted(after - before for before, after in pairs)
    cases = len(found)
    place = _place(cases)
    return {
        "cases": cases,
        "median": median(found) if found else 0.0,
        "low": found[place - 1] if place else None,
        "high": found[cases - place] if place else None,
    }


def _place(cases: int) -> int:
    """The number of the ordered differences, from both ends, between which the median lies in 95 % at least; 0 where none is
    so."""
    tail = place = 0
    while 40 * (tail := tail + math.comb(cases, place)) <= 1 << cases:
        place += 1
    return place
