"""How often something happened in the current window of time: in Redis for all processes where there is one, else in this
process, which then is the only one."""

import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from django.conf import settings
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

from conversations.runtime.redis_client import unreachable

log = logging.getLogger("openbook.limits")

HERE = LocMemCache("rate counters", {"OPTIONS": {"MAX_ENTRIES": 50_000}})
"""Where there are too many, those that nothing was counted in for longest are forgotten."""
PATIENCE = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5}
"""Seconds."""


def count(key: str, *, seconds: int) -> tuple[int, int]:
    """Count one more. Returns how many there are in this window, and the seconds until the next one."""
    now = time.time()
    name, wait = _name(key, seconds, now), seconds - now % seconds

    def add(counts: BaseCache) -> int:
        with suppress(ValueError):  # nothing was counted yet
            return counts.incr(name)
        counts.add(name, 0, timeout=wait + 2)  # nothing where another process was first
        return counts.incr(name)

    return _in_redis(add) or add(HERE), max(1, math.ceil(wait))


def take_back(key: str, *, seconds: int) -> None:
    """Count one less. In the next window already there is nothing to take back."""
    name = _name(key, seconds, time.time())

    def subtract(counts: BaseCache) -> None:
        with suppress(ValueError):  # nothing was counted
            counts.decr(name)

    subtract(HERE)
    _in_redis(subtract)


def forget(key: str, *, seconds: int) -> None:
    """Begin this window anew."""
    name = _name(key, seconds, time.time())
    HERE.delete(name)
    _in_redis(lambda counts: counts.delete(name))


def is_first(key: str, *, seconds: int) -> bool:
    """Whether this did not happen within so many seconds."""
    added = _in_redis(lambda counts: counts.add(key, 1, timeout=seconds))
    return HERE.add(key, 1, timeout=seconds) if added is None else added


def _in_redis[R](step: Callable[[BaseCache], R]) -> R | None:
    """``None`` where there is no Redis, or it does not answer."""
    if settings.REDIS_URL:
        try:
            return step(_redis(settings.REDIS_URL))
        except unreachable() as error:
            log.warning("Redis can't be reached; each process counts alone", extra={"cause": str(error)})
    return None


@cache
def _redis(url: str) -> RedisCache:
    return RedisCache(url, {"OPTIONS": PATIENCE, "KEY_PREFIX": "openbook.count"})


def _name(key: str, seconds: int, now: float) -> str:
    return f"{key}.{now // seconds:.0f}"
