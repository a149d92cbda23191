"""Memory for so much at once: what comes on top waits for its turn, first come, first served."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class MemoryRoom:
    """Of one process. ``size`` is in bytes, or whatever is counted."""

    def __init__(self, size: int) -> None:
        self._size = self._left = size
        self._line: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def for_size(self, size: int) -> AsyncIterator[None]:
        """What is larger than the whole room gets all of it."""
        size = min(size, self._size)
        turn = asyncio.get_running_loop().create_future()
        self._line.append((size, turn))
        self._let_in()
        try:
            await turn
            yield
        finally:
            if not turn.cancelled():
                self._left += size
            self._let_in()

    def _let_in(self) -> None:
        while self._line and (self._line[0][1].cancelled() or self._line[0][0] <= self._left):
            size, turn = self._line.popleft()
            if not turn.cancelled():
                self._left -= size
                turn.set_result(None)
