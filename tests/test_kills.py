"""Some of the kills of `make soak`, always the same ones, in the same order, by `make test-operate`."""

import pytest

from tests.soak_kills import Installation, installation, prove

__all__ = ["installation"]

KILLS, SEED = 8, 81
"""Each part once."""

pytestmark = [pytest.mark.timeout(300), pytest.mark.operate]


def test_nothing_acknowledged_is_lost_or_doubled_or_stuck_whatever_is_killed(installation: Installation) -> None:
    prove(installation, kills=KILLS, seed=SEED)
