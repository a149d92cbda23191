"""The watchdog: what keeps the event loop from everything else is told with its place."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from config.observability import stalls
from config.observability.figures import STALL_SECONDS
from conversations.context.tokens.estimate import estimate_tokens
from tests.waiting import until

LIMIT = 0.15


def busy() -> None:
    """In a function of the product, for longer than the limit; each call of it is much shorter."""
    ends = time.monotonic() + 4 * LIMIT
    while time.monotonic() < ends:
        estimate_tokens("The harbour lay quiet. " * 2_000)


async def watched(step: Callable[[], object]) -> None:
    watchdog = stalls.Watchdog(LIMIT)
    watchdog.begin()
    await asyncio.sleep(2 * stalls.BEAT_SECONDS)
    step()
    await asyncio.sleep(4 * stalls.BEAT_SECONDS)
    watchdog.end()


ESTIMATE = "conversations/context/tokens/estimate.py:"


def records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == "openbook.stalls"]


def test_a_step_that_keeps_the_loop_is_told_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    def in_step() -> list[dict[str, Any]]:
        """On a busy machine others may keep the loop, too."""
        return [vars(each) for each in records(caplog) if vars(each)["code_stack"][0].startswith(ESTIMATE)]

    def is_told() -> bool:
        """On a busy machine the watchdog itself may come too late."""
        asyncio.run(watched(busy))
        return bool(in_step())

    until(is_told)
    told = in_step()[0]
    assert told["stalled_ms"] >= 1000 * LIMIT
    assert (told["in_thread"], told["place"]) in {
        ("loop", name) for name in ("estimate_tokens", "_weigh", "_weigh.<locals>.<genexpr>")
    }
    samples = [sample for metric in STALL_SECONDS._kept.collect() for sample in metric.samples]
    assert {sample.labels["code_function_name"] for sample in samples} >= {told["place"]}


def test_one_that_only_waits_is_told_as_that(caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(watched(lambda: time.sleep(4 * LIMIT)))
    until(lambda: bool(records(caplog)))
    assert vars(records(caplog)[0])["place"] == stalls.WAITING


def test_what_takes_turns_with_the_loop_is_no_stall(caplog: pytest.LogCaptureFixture) -> None:
    """Another thread that works gives the interpreter's lock away in time."""
    thread = threading.Thread(target=busy)
    asyncio.run(watched(thread.start))
    thread.join()
    assert all(vars(record)["stalled_ms"] < 4000 * LIMIT for record in records(caplog))
