"""How long a model may take to answer, and what is told when a call fails."""

import logging
import math
import time

from django.conf import settings

from conversations.providers.base import (
    ProviderError,
    ThinkingDelta,
    ThinkingDone,
    ThinkingEvent,
    ThinkingStarted,
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
    the whole time counts: a connection that is dead ends by itself. While it writes, pings are no progress.
    """

    def __init__(self, seconds: float = math.inf, *, first_token_seconds: float | None = None) -> None:
        if first_token_seconds is None:
            first_token_seconds = settings.OPENBOOK_FIRST_TOKEN_SECONDS
        self._first_token_seconds, self._stall_seconds = first_token_seconds, settings.OPENBOOK_STALL_SECONDS
        self.ends = time.monotonic() + seconds
        self.next_sign = time.monotonic() + first_token_seconds
        self.content_seen = self.is_writing = False

    def lives(self) -> None:
        """There was something in the stream, be it a ping."""
        if not self.is_writing and self.next_sign < math.inf:
            self.next_sign = time.monotonic() + self._first_token_seconds

    def hears(self, heard: Heard) -> None:
        if isinstance(heard, UsageSoFar):
            return
        self.content_seen = True
        self.is_writing = not isinstance(heard, ThinkingEvent)
        match heard:
            case ThinkingStarted() | ThinkingDelta():
                self.next_sign = math.inf
            case ThinkingDone():
                self.next_sign = time.monotonic() + self._first_token_seconds
            case _:
                self.next_sign = time.monotonic() + self._stall_seconds

    def seconds_left(self) -> float:
        return min(self.ends, self.next_sign) - time.monotonic()

    def error(self) -> ProviderError:
        return provider_error("stalled" if self.is_writing and self.next_sign < self.ends else "timeout")


def reported(error: ProviderError, attempt_failed: str) -> ProviderError:
    fields = {"code": error.code, "status": error.status, "retryable": error.retryable, "failure": attempt_failed}
    logger.warning("model_request_failed", extra=fields)
    return error
