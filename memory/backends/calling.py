"""A thread with an event loop of its own for calls to memory services: from there a call that hangs can be broken off."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any


def started[T](call: Coroutine[Any, Any, T]) -> Future[T]:
    """The call under way. Whoever is asynchronous awaits it by ``asyncio.wrap_future``, others by ``result()``."""
    return asyncio.run_coroutine_threadsafe(call, _loop())


@cache
def _loop() -> asyncio.AbstractEventLoop:
    # Never closed: that would wait for a look-up of a name which takes as long as it likes.
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="memory-service", daemon=True).start()
    return loop
