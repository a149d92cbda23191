"""A clock that can be set: the demo lives through a month in half a minute.

Nothing of Openbook asks anything but these for the time; PostgreSQL's own is asked for leases alone, which are to be true.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from conversations.runtime import clock

MOMENT = timedelta(milliseconds=2)


class Clock(clock.Clock):
    def __init__(self, now: datetime) -> None:
        super().__init__()
        self.now = now
        self.waited = 0.0  # since the last model call began

    def wait(self, seconds: float) -> None:
        """Let so much time go by, also for what is measured within a model call."""
        self.now += timedelta(seconds=seconds)
        self.waited += seconds

    def read(self) -> datetime:
        """No two answers are the same, as it is in life."""
        self.now += MOMENT
        return self.now

    def seconds(self) -> float:
        return self.read().timestamp()

    def compare(self, theirs: float) -> None:
        """Whatever the database's says."""

    def nanoseconds(self) -> int:
        return int(self.now.timestamp() * 1e9)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """For this process, it is what this clock says."""
        measure = time.perf_counter
        with ExitStack() as stack:
            stack.enter_context(replaced(clock, "current", self))
            stack.enter_context(replaced(timezone, "now", self.read))
            stack.enter_context(replaced(time, "time_ns", self.nanoseconds))
            stack.enter_context(replaced(time, "perf_counter", lambda: measure() + self.waited))
            yield


@contextmanager
def replaced(owner: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
