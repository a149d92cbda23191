"""One stream of a model, read to its end, in whichever of the two protocols it comes."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from conversations.providers.base import UsageSoFar
from conversations.providers.deadline import Deadline
from conversations.providers.event_stream import StreamEvent
from conversations.providers.message_stream import Heard

DRAIN_SECONDS = 0.5
"""How long is waited for the end of the body, so that the connection can be used again."""


class Reading(Protocol):
    """What a stream has said so far."""

    @property
    def is_over(self) -> bool:
        """The server said that nothing more comes."""

    @property
    def may_be_over(self) -> bool:
        """It said why the model stopped, after all that came. It is not over before its end: some servers say so midway."""

    @property
    def is_settled(self) -> bool:
        """It said what comes last, too: hardly anything will follow."""

    def take(self, event: StreamEvent) -> Iterable[Heard]:
        """Note one event. Raises ``StreamError`` and ``ValueError``."""

    def end(self, request_id: str) -> Iterable[Heard]:
        """What is whole now, and its ``Finished``. Raises ``StreamError`` where what came is not the whole."""


async def read_stream(
    events: AsyncGenerator[StreamEvent],
    reading: Reading,
    deadline: Deadline,
    request_id: str,
    failures: tuple[type[Exception], ...],
) -> AsyncGenerator[Heard]:
    """All that a stream says. What goes wrong after all was there costs nothing. Raises ``TimeoutError`` and ``failures``."""
    broken: tuple[type[Exception], ...] = (TimeoutError, *failures)
    try:
        while not reading.is_over:
            event = await deadline.wait(anext(events, None))
            if event is None:
                break
            deadline.lives()
            for heard in reading.take(event):
                deadline.hears(heard)
                yield replace(heard, request_id=request_id) if isinstance(heard, UsageSoFar) else heard
            if reading.may_be_over:
                deadline.may_end(DRAIN_SECONDS if reading.is_settled else None)
    except broken:
        if not reading.may_be_over:
            raise
    with suppress(*broken):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in events:
                pass
    for heard in reading.end(request_id):
        yield heard
