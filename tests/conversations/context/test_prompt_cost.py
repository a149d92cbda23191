"""The window costs little with a provider that caches prefixes: the benchmark's own simulation, held to its limits."""

from statistics import mean

import pytest

from tests.benchmarks.cache import (
    CONVERSATIONS,
    LIMITS,
    PACES,
    Choose,
    Lives,
    chosen,
    five_minutes,
    ours,
    simulate,
    sliding,
)

pytestmark = pytest.mark.wide


@pytest.mark.parametrize("pace", PACES)
def test_a_window_that_drops_in_steps_costs_a_part_of_one_that_slides(pace: str) -> None:
    assert cost(ours, pace, chosen) <= LIMITS[pace] * cost(sliding, pace, None)


@pytest.mark.parametrize("pace", PACES)
def test_entries_that_live_as_the_pauses_say_cost_no_more_than_those_of_five_minutes(pace: str) -> None:
    assert cost(ours, pace, chosen) <= 1.02 * cost(ours, pace, five_minutes)


def cost(choose: Choose, pace: str, lives: Lives | None) -> float:
    talks = [simulate(choose, pace=pace, lives=lives, seed=seed) for seed in range(CONVERSATIONS)]
    return mean(request.cost for talk in talks for request in talk)
