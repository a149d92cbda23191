"""Work that runs beside one another: what fails is told, what runs at the end is cancelled."""

import asyncio

import pytest

from conversations.runtime.running_tasks import RunningTasks


async def test_what_one_raises_comes_out_and_the_others_go_on_until_they_are_cancelled() -> None:
    waiting, ended = asyncio.Event(), []

    async def fail() -> None:
        raise LookupError

    async def stay() -> None:
        try:
            await waiting.wait()
        finally:
            ended.append("stay")

    running = RunningTasks[str](look_seconds=30)
    running.begin("stay", stay())
    running.begin("fail", fail())
    with pytest.raises(LookupError):
        await running.settle()
    assert (running.keys, ended) == (["stay"], [])
    await running.cancel()
    assert ended == ["stay"]
