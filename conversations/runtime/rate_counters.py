"""How often something happened in the current window of time: in Redis for all processes where there is one, else in this
process, which then is the only one."""

import logging
import math
import threading
import time

from django.conf import settings

from conversations.runtime.redis_client import blocking, unreachable

log = logging.getLogger("openbook.limits")

MOST_KEYS = 10_000
PATIENCE = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5}
"""Seconds."""


class RateCounts:
    """Counts of this process, those of the windows that go on."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], tuple[int, float]] = {}
        self._most = MOST_KEYS
        self._lock = threading.Lock()

    def add(self, key: str, window: int, ends: float) -> int:
        with self._lock:
            if len(self._counts) >= self._most:
                now = time.time()
                self._counts = {name: held for name, held in self._counts.items() if held[1] > now}
                self._most = max(MOST_KEYS, 2 * len(self._counts))  # seldom, however many there are
            count = self._counts.get((key, window), (0, ends))[0] + 1
            self._counts[key, window] = count, ends
            return count

    def take_back(self, key: str, window: int) -> None:
        with self._lock:
            if held := self._counts.get((key, window)):
                self._counts[key, window] = held[0] - 1, held[1]

    def forget(self, key: str, window: int) -> None:
        with self._lock:
            self._counts.pop((key, window), None)


HERE = RateCounts()


def count(key: str, *, seconds: int) -> tuple[int, int]:
    """Count one more. Returns how many there are in this window, and the seconds until the next one."""
    now = time.time()
    window = int(now // seconds)
    ends = (window + 1) * seconds
    return _added(key, window, ends), max(1, math.ceil(ends - now))


def take_back(key: str, *, seconds: int) -> None:
    """Count one less. In the next window already there is nothing to take back."""
    window = int(time.time() // seconds)
    HERE.take_back(key, window)
    if settings.REDIS_URL:
        try:
            step = blocking(settings.REDIS_URL, **PATIENCE).pipeline()
            step.decr(_name(key, window))
            step.expireat(_name(key, window), (window + 1) * seconds + 1)
            step.execute()
        except unreachable() as error:
            _lost(error)


def forget(key: str, *, seconds: int) -> None:
    """Begin this window anew."""
    window = int(time.time() // seconds)
    HERE.forget(key, window)
    if settings.REDIS_URL:
        try:
            blocking(settings.REDIS_URL, **PATIENCE).delete(_name(key, window))
        except unreachable() as error:
            _lost(error)


def _added(key: str, window: int, ends: int) -> int:
    if settings.REDIS_URL:
        try:
            step = blocking(settings.REDIS_URL, **PATIENCE).pipeline()
            step.incr(_name(key, window))
            step.expireat(_name(key, window), ends + 1)
            counts: list[int] = step.execute()
        except unreachable() as error:
            _lost(error)
        else:
            return counts[0]
    return HERE.add(key, window, ends)


def _lost(error: Exception) -> None:
    log.warning("Redis can't be reached; each process counts alone", extra={"cause": str(error)})


def _name(key: str, window: int) -> str:
    return f"openbook.count.{key}.{window}"
