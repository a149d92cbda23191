"""Waiting for what another process does."""

import time
from collections.abc import Callable

DEADLINE_SECONDS = 60
SHORTEST_PAUSE, LONGEST_PAUSE = 0.005, 0.1
"""Between two looks, which may cost both processes something."""


def until(condition: Callable[[], object], *, seconds: float = DEADLINE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    pause = SHORTEST_PAUSE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE)
