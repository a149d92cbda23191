"""The sending itself: many at once on an event loop, of which none waits for another."""

import asyncio
import threading
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from conversations.runtime.db import in_database
from conversations.runtime.running_tasks import RunningTasks
from conversations.webhooks import delivery
from conversations.webhooks.delivery import Attempt

LOOK_SECONDS = 0.5
"""Between two looks where nothing is being sent."""
LOOK_UPS = 2 * delivery.MOST
"""Threads for names of servers: a few that are never answered must not keep others waiting."""

type Send = Callable[[Attempt], Coroutine[Any, Any, None]]


async def send_until(ended: threading.Event, check: Callable[[], None]) -> None:
    """Send what is due until the event is set. ``check`` raises once another process has taken over."""
    look_ups = ThreadPoolExecutor(max_workers=LOOK_UPS, thread_name_prefix="webhook names")
    asyncio.get_running_loop().set_default_executor(look_ups)  # which ends it with the loop
    running = RunningTasks[uuid.UUID](look_seconds=LOOK_SECONDS)
    send: Send | None = None
    async with AsyncExitStack() as opened:
        try:
            while not ended.is_set():
                check()
                for attempt in await in_database(delivery.take)(Counter(running.keys)):
                    if send is None:
                        send = await opened.enter_async_context(sender())
                    running.begin(attempt.webhook, send(attempt))
                await running.settle()
        finally:
            await running.cancel()  # each is sent again, by whoever sends then


@asynccontextmanager
async def sender() -> AsyncIterator[Send]:
    """What makes an attempt. It is there from the first one on: its client takes long to load, and few have webhooks."""
    from conversations.webhooks import attempts  # noqa: PLC0415

    async with attempts.open_client() as client:
        yield partial(attempts.send, client)
