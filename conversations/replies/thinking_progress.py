"""How long a model has been thinking, told to the readers of its reply while nothing else comes."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TICK_SECONDS = 1.0


class ThinkingClock:
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Tell at once, and every second from now on."""
        self.stop()
        self._tell()
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self.start)

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


@contextmanager
def clock(tell: Callable[[], None]) -> Iterator[ThinkingClock]:
    """It stands still when it is left, whatever has happened."""
    clock = ThinkingClock(tell)
    try:
        yield clock
    finally:
        clock.stop()
