"""Waiting for what another process does."""

import time
from collections.abc import Callable

DEADLINE_SECONDS = 60


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
