"""Room for so much at once: in order, never more, and whoever gives up loses nothing for others."""

import asyncio
import random

from conversations.runtime.memory_budget import MemoryRoom


async def test_there_is_never_more_in_it_than_its_size_and_all_come_to_their_turn() -> None:
    room, chance, inside, done = MemoryRoom(10), random.Random(5), 0, 0

    async def visit(size: int) -> None:
        nonlocal inside, done
        async with room.for_size(size):
            inside += min(size, 10)
            assert inside <= 10
            try:
                await asyncio.sleep(0)
            finally:
                inside -= min(size, 10)
        done += 1

    visits = [asyncio.create_task(visit(chance.randint(0, 14))) for _ in range(300)]
    await asyncio.sleep(0)
    left = chance.sample(visits, 100)
    for visit_ in left:
        visit_.cancel()
        await asyncio.sleep(0)
    ended = await asyncio.gather(*visits, return_exceptions=True)
    assert {type(each) for each in ended} <= {type(None), asyncio.CancelledError}
    assert done >= 200
    async with room.for_size(10):
        assert room._left == 0
    assert (room._left, len(room._line)) == (10, 0)


async def test_what_is_small_does_not_pass_what_waits() -> None:
    room, order = MemoryRoom(2), []

    async def visit(name: str, size: int) -> None:
        async with room.for_size(size):
            order.append(name)

    async with room.for_size(1):
        waiting = [asyncio.create_task(visit(name, size)) for name, size in (("large", 2), ("small", 1))]
        await asyncio.sleep(0)
        assert order == []
    await asyncio.gather(*waiting)
    assert order == ["large", "small"]
