"""What the ways to Claude share: its models, how long it may take, and what is told when it fails."""

import logging
import time

from django.conf import settings

from conversations.providers.base import ProviderError
from conversations.providers.errors import provider_error

DEFAULT_MODEL = "claude-sonnet-5-5"
SMALL_MODEL = "claude-haiku-5-5"
LONGEST_WAIT_SECONDS = 10.0
"""The longest that the service may ask to wait for; then the person is told."""

logger = logging.getLogger("openbook.providers")


class Deadline:
    """The moment at which a call is given up, and the code that says why."""

    def __init__(self) -> None:
        self.ends = time.monotonic() + settings.OPENBOOK_REPLY_SECONDS
        self.next_content = time.monotonic() + settings.OPENBOOK_FIRST_TOKEN_SECONDS
        self.content_seen = False

    def moved_on(self) -> None:
        self.content_seen = True
        self.next_content = time.monotonic() + settings.OPENBOOK_STALL_SECONDS

    def seconds_left(self) -> float:
        return min(self.ends, self.next_content) - time.monotonic()

    def error(self) -> ProviderError:
        return provider_error("stalled" if self.content_seen and self.next_content < self.ends else "timeout")


def reported(error: ProviderError, attempt_failed: str) -> ProviderError:
    fields = {"code": error.code, "status": error.status, "retryable": error.retryable, "failure": attempt_failed}
    logger.warning("model_request_failed", extra=fields)
    return error
