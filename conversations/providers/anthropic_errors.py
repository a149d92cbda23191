"""What went wrong with a call of the Messages API by the SDK: pure."""

import math
from collections.abc import Mapping

import anthropic
import httpx2

from conversations.providers.base import ProviderError
from conversations.providers.errors import StreamError, code_for_status, code_for_type, provider_error

FAILURES = (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, StreamError)
"""All that a call can raise; the SDK wraps some of it only, and broken JSON or UTF-8 is a ValueError."""


def describe(failure: Exception, *, secret: str) -> ProviderError:
    """The failure as a person can read it. ``secret`` never appears, even where the service repeats it."""
    match failure:
        case StreamError():
            return provider_error(failure.code, detail=failure.detail, secret=secret)
        case anthropic.APIStatusError():
            code = code_for_type(failure.type) or code_for_status(failure.status_code)
            return provider_error(code, detail=failure.api_message, secret=secret, status=failure.status_code)
        case anthropic.APIConnectionError() | httpx2.InvalidURL():
            return provider_error("unreachable")
        case httpx2.HTTPError():
            return provider_error("cut_off")
        case UnicodeEncodeError():  # a lone surrogate in the request
            return provider_error("invalid_request")
        case _:
            return provider_error("bad_stream")


def requested_wait(failure: Exception) -> float | None:
    """The seconds that the service asks to wait for, where it does."""
    headers: Mapping[str, str] = failure.response.headers if isinstance(failure, anthropic.APIStatusError) else {}
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:  # absent, or a date
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
