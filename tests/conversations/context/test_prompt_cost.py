"""The window costs little with a provider that caches prefixes: the benchmark's own simulation, held to its limits."""

from statistics import mean

import pytest

from tests.benchmarks.cache import CONVERSATIONS, LIMITS, PACES, Choose, ours, simulate, sliding


@pytest.mark.parametrize("pace", PACES)
def test_a_window_that_drops_in_steps_costs_a_third_of_one_that_slides(pace: str) -> None:
    def cost(choose: Choose, *, caches: bool) -> float:
        talks = [simulate(choose, pauses=PACES[pace], caches=caches, seed=seed) for seed in range(CONVERSATIONS)]
        return mean(request.cost for talk in talks for request in talk)

    assert cost(ours, caches=True) <= LIMITS[pace] * cost(sliding, caches=False)
