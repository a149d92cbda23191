"""How long a model may take to answer, and what is told when a call fails."""

import asyncio
import logging
import math
import sys
import time
from collections.abc import Awaitable

from django.conf import settings

from conversations.providers.base import (
    ProviderError,
    ThinkingDelta,
    ThinkingDone,
    ThinkingEvent,
    ThinkingStarted,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    UsageSoFar,
)
from conversations.providers.errors import provider_error
from conversations.providers.message_stream import Heard

LONGEST_WAIT_SECONDS = 10.0
"""The longest that the service may ask to wait for; then the person is told."""

logger = logging.getLogger("openbook.providers")


class Deadline:
    """The moment at which a call is given up, and the code that says why.

    Before the model says anything, any sign of life will do. While it thinks, which may be silent for minutes, nothing but
    the whole time counts: a connection that is dead ends by itself. While it writes, pings are no progress. A call of a tool
    may be written in silence: while one is open, or might be where the server tells of ``silent_calls`` once they are whole,
    again nothing but the whole time counts.
    """

    def __init__(
        self, seconds: float = math.inf, *, first_token_seconds: float | None = None, silent_calls: bool = False
    ) -> None:
        if first_token_seconds is None:
            first_token_seconds = settings.OPENBOOK_FIRST_TOKEN_SECONDS
        self._first_token_seconds, self._stall_seconds = first_token_seconds, settings.OPENBOOK_STALL_SECONDS
        self.ends = time.monotonic() + seconds
        self.next_sign = time.monotonic() + first_token_seconds
        self.content_seen = self.is_writing = False
        self._silent_calls, self._open_calls, self._may_end = silent_calls, set[str](), False
        self._timer: asyncio.TimerHandle | None = None
        self._looks_at = math.inf
        self._waiting: asyncio.Task[object] | None = None
        self._is_over = False

    async def wait[T](self, coming: Awaitable[T]) -> T:
        """What comes. Raises ``TimeoutError`` at the deadline, as ``asyncio.timeout`` does; but that sets a timer and takes it
        back, which for each event of a stream takes as long as to read it. Here one timer serves all: it looks again where
        the deadline has moved on."""
        task = asyncio.current_task()
        assert task
        cancelling = task.cancelling()
        self._waiting, self._is_over = task, False
        self._set_timer()
        try:
            return await coming
        finally:
            self._waiting = None
            if self._is_over and task.uncancel() <= cancelling and isinstance(sys.exception(), asyncio.CancelledError):
                raise TimeoutError

    def close(self) -> None:
        """Nobody waits any longer."""
        if self._timer:
            self._timer.cancel()
        self._timer, self._looks_at = None, math.inf

    def _set_timer(self) -> None:
        ends = min(self.ends, self.next_sign)
        if ends < self._looks_at:
            self.close()
            self._timer, self._looks_at = asyncio.get_running_loop().call_at(ends, self._look), ends

    def _look(self) -> None:
        self.close()
        if self._waiting and self.seconds_left() > 0:
            self._set_timer()
        elif self._waiting:
            self._is_over = True
            self._waiting.cancel()

    def lives(self) -> None:
        """There was something in the stream, be it a ping."""
        if not (self.is_writing or self._may_end) and self.next_sign < math.inf:
            self.next_sign = time.monotonic() + self._first_token_seconds

    def hears(self, heard: Heard) -> None:
        if isinstance(heard, UsageSoFar):
            return
        self.content_seen, self._may_end = True, False
        self.is_writing = not isinstance(heard, ThinkingEvent)
        match heard:
            case ThinkingStarted() | ThinkingDelta():
                self.next_sign = math.inf
            case ThinkingDone():
                self.next_sign = time.monotonic() + self._first_token_seconds
            case ToolStarted() | ToolDelta():
                self._open_calls.add(heard.id)
                self.next_sign = math.inf
            case _:
                if isinstance(heard, ToolCalled):
                    self._open_calls.discard(heard.id)
                is_silent = self._silent_calls or self._open_calls
                self.next_sign = math.inf if is_silent else time.monotonic() + self._stall_seconds

    def may_end(self, seconds: float | None = None) -> None:
        """All is there, by what the server said. If more is to come it comes within ``seconds``, or the time between two
        words."""
        ends = time.monotonic() + (self._stall_seconds if seconds is None else seconds)
        self.next_sign = min(self.next_sign, ends) if self._may_end else ends
        self._may_end = True

    def seconds_left(self) -> float:
        return min(self.ends, self.next_sign) - time.monotonic()

    def error(self) -> ProviderError:
        return provider_error("stalled" if self.is_writing and self.next_sign < self.ends else "timeout")


def reported(error: ProviderError, attempt_failed: str) -> ProviderError:
    fields = {"code": error.code, "status": error.status, "retryable": error.retryable, "failure": attempt_failed}
    logger.warning("model_request_failed", extra=fields)
    return error
