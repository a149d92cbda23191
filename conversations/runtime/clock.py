"""The time that is stored and that decides: that of the database where this machine's clock is wrong, so that the processes of
an installation agree. Between two looks it goes on by the monotonic clock, which nobody sets.
"""

import logging
import time
from datetime import UTC, datetime

from conversations.runtime.db import run

log = logging.getLogger("openbook.clock")

TOLERANCE_SECONDS = 10.0
"""Two clocks that are kept by NTP differ by less."""


class Clock:
    """``start`` is when the monotonic clock was zero, in seconds since 1970; ``None`` before the first look."""

    def __init__(self) -> None:
        self.start: float | None = None
        self.is_wrong = False

    def seconds(self) -> float:
        return time.time() if self.start is None else self.start + time.monotonic()

    def compare(self, theirs: float) -> None:
        """``theirs`` is the start by the database's clock."""
        own = time.time() - time.monotonic()
        was_wrong, self.is_wrong = self.is_wrong, abs(own - theirs) > TOLERANCE_SECONDS
        if not self.is_wrong:
            self.start = own
        elif self.start is None or abs(self.start - theirs) > TOLERANCE_SECONDS:
            self.start = theirs
        if self.is_wrong and not was_wrong:
            log.warning("this machine's clock is wrong; that of the database is used", extra={"ahead": own - theirs})


current = Clock()
"""Of this process. The demo has another in its place."""


def now() -> datetime:
    return datetime.fromtimestamp(seconds(), UTC)


def seconds() -> float:
    """Since 1970."""
    return current.seconds()


def look() -> None:
    """Compare with the database's; a process that stores or decides by time does it again and again. Raises what the database
    raises."""
    before = time.monotonic()
    ((theirs,),) = run("SELECT extract(epoch FROM clock_timestamp())::float8")
    after = time.monotonic()
    if after - before < TOLERANCE_SECONDS / 2:
        current.compare(theirs - (before + after) / 2)
