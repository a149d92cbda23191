"""Counting through Redis, where several processes begin a window at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import redis

from conversations.runtime import rate_counters


def test_those_who_begin_a_window_together_are_all_counted_and_the_window_ends(redis_url: str, settings: Any) -> None:
    settings.REDIS_URL = redis_url
    counting, rounds = 8, 20
    barrier = Barrier(counting)

    def count_once(key: str) -> int:
        barrier.wait(timeout=30)
        return rate_counters.count(key, seconds=3_600)[0]

    with ThreadPoolExecutor(counting) as threads:
        for round_ in range(rounds):
            counts = threads.map(count_once, [f"test.of.racing.{round_}"] * counting)
            assert sorted(counts) == [*range(1, counting + 1)]
    with redis.Redis.from_url(redis_url) as client:
        expiries = [client.ttl(name) for name in client.scan_iter("*test.of.racing*")]
    assert len(expiries) == rounds
    assert all(0 < seconds <= 3_602 for seconds in expiries)
