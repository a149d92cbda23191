"""What can go wrong, and when it is tried again."""

import random
from collections.abc import Mapping
from typing import Any

from openbook.call import Call

FIRST_PAUSE, LONGEST_PAUSE = 0.3, 30.0
"""Seconds."""
BUSY = {"rate_limited", "no_place", "long_work_running"}
"""Codes of calls that were not begun, so that any can be made again."""
PASSING = {500, 502, 503, 504}
"""Statuses after which the same call may succeed."""


class OpenbookError(Exception):
    """Whatever this package raises about a server."""


class ConnectionFailed(OpenbookError):
    """The server could not be reached, or broke off."""


class ApiError(OpenbookError):
    """The server refused, and says why. ``code`` is for programs, ``message`` for people; ``details`` is what belongs to the
    code. ``retry_after`` is in seconds, ``None`` where the server does not say."""

    def __init__(self, status: int, error: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.type: str = error.get("type", "")
        self.code: str = error.get("code", "")
        self.message: str = error.get("message", "")
        self.details: dict[str, Any] = error.get("details") or {}
        self.request_id: str | None = error.get("request_id")
        self.retry_after = retry_after
        super().__init__(f"{self.message} ({self.code or status})")


class ReplyFailed(ApiError):
    """The message is stored, and its reply ended without an answer. ``reply`` and ``thread`` are ids; ``retryable`` says
    whether ``calls.replies_retry_create(reply)`` can help."""

    def __init__(self, error: Mapping[str, Any], *, thread: str, reply: str) -> None:
        super().__init__(502, error)
        self.thread, self.reply = thread, reply
        self.retryable = bool(self.details.get("retryable"))


def api_error(status: int, body: Any, retry_after: str | None) -> ApiError:
    """Of an answer; ``body`` is its JSON, or whatever something between here and the server wrote."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        error = {"message": f"The server answered {status}."}
    details = error.get("details") or {}
    if status == 502 and "reply" in details:
        return ReplyFailed(error, thread=details.get("thread", ""), reply=details["reply"])
    return ApiError(status, error, float(retry_after) if retry_after and retry_after.isdecimal() else None)


class Attempts:
    """How often a call has failed since there was progress."""

    def __init__(self, retries: int) -> None:
        self.retries, self.failures = retries, 0

    def succeed(self) -> None:
        self.failures = 0

    def fail(self, call: Call[Any], failure: OpenbookError) -> float:
        """Seconds to wait before the call is made again. Raises the failure where that would not help, or be one too many."""
        self.failures += 1
        seconds = pause(call, failure, self.failures)
        if seconds is None or self.failures > self.retries:
            raise failure
        return seconds


def pause(call: Call[Any], failure: OpenbookError, failures: int) -> float | None:
    """Seconds to wait before the call is made again; ``None``: it can't be, or would fail again."""
    seconds: float = min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE) * random.uniform(0.75, 1.25)  # noqa: S311
    if isinstance(failure, ReplyFailed):
        return None
    if not isinstance(failure, ApiError):
        return seconds if call.is_repeatable else None
    if failure.retry_after is not None and failure.retry_after > LONGEST_PAUSE:
        return None
    if failure.code in BUSY or (failure.status in PASSING and call.is_repeatable):
        return max(seconds, failure.retry_after or 0)
    return None
