"""Waiting for a model until a deadline that moves."""

import asyncio
from contextlib import closing

import pytest
from pytest_django import Settings

from conversations.providers.base import TextDelta
from conversations.providers.deadline import Deadline


async def test_what_is_late_is_given_up_and_the_task_goes_on() -> None:
    with closing(Deadline(0, first_token_seconds=60)) as deadline, pytest.raises(TimeoutError):
        await deadline.wait(asyncio.Event().wait())
    task = asyncio.current_task()
    assert task
    assert task.cancelling() == 0


async def test_a_deadline_that_comes_nearer_holds(settings: Settings) -> None:
    settings.OPENBOOK_STALL_SECONDS = 0.0
    with closing(Deadline(first_token_seconds=60)) as deadline:
        assert await deadline.wait(asyncio.sleep(0, "a word")) == "a word"
        deadline.hears(TextDelta(text="a word"))
        with pytest.raises(TimeoutError):
            await deadline.wait(asyncio.Event().wait())


async def test_a_deadline_that_moved_on_is_looked_at_again() -> None:
    with closing(Deadline(first_token_seconds=0)) as deadline:
        arrival = asyncio.Event()
        waiting = asyncio.create_task(deadline.wait(arrival.wait()))
        await asyncio.sleep(0)  # it waits now, with a timer that is due
        deadline.next_sign += 60
        await asyncio.sleep(0)
        arrival.set()
        assert await waiting is True


async def test_whoever_is_stopped_was_not_late() -> None:
    with closing(Deadline(60, first_token_seconds=60)) as deadline:
        waiting = asyncio.create_task(deadline.wait(asyncio.Event().wait()))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
