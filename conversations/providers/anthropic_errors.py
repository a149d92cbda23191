"""What went wrong with a call of the Messages API by the SDK: pure."""

import email.utils
import math
import re
import time
from collections.abc import Mapping

import anthropic
import httpx2

from conversations.providers.base import ProviderError
from conversations.providers.errors import StreamError, code_for_status, code_for_type, provider_error

FAILURES = (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, StreamError)
"""All that a call can raise; the SDK wraps some of it only, and broken JSON or UTF-8 is a ValueError."""
TOO_LARGE = re.compile(
    r"prompt is too long|exceeds? (?:the )?context (?:limit|window)|too many (?:total )?tokens", re.IGNORECASE
)
"""How the API says it, with the type of any other request that it can't take."""
SPENT = "enforced_spend_limit_reached"


def describe(failure: Exception, *, secret: str) -> ProviderError:
    """The failure as a person can read it. ``secret`` never appears, even where the service repeats it."""
    match failure:
        case StreamError():
            return provider_error(failure.code, detail=failure.detail, secret=secret)
        case anthropic.APIStatusError():
            return provider_error(
                code_of(failure),
                detail=failure.api_message,
                secret=secret,
                status=failure.status_code,
                retry_after=requested_wait(failure),
            )
        case anthropic.APIConnectionError() | httpx2.InvalidURL():
            return provider_error("unreachable")
        case httpx2.HTTPError():
            return provider_error("cut_off")
        case UnicodeEncodeError():  # a lone surrogate in the request
            return provider_error("invalid_request")
        case _:
            return provider_error("bad_stream")


def code_of(failure: anthropic.APIStatusError) -> str:
    code = code_for_type(failure.type) or code_for_status(failure.status_code)
    if code == "rate_limited" and failure.error_code == SPENT:
        return "spending_limit"
    if code == "invalid_request" and TOO_LARGE.search(failure.api_message or ""):
        return "request_too_large"
    return code


def requested_wait(failure: Exception) -> float | None:
    """The seconds that the service asks to wait for, where it does."""
    headers: Mapping[str, str] = failure.response.headers if isinstance(failure, anthropic.APIStatusError) else {}
    said, milliseconds = headers.get("retry-after", ""), headers.get("retry-after-ms", "")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(said)
    except ValueError:
        date = email.utils.parsedate_tz(said)
        seconds = email.utils.mktime_tz(date) - time.time() if date else math.nan
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def may_be_repeated(failure: Exception) -> bool:
    """What the service itself says of trying again, where it says anything."""
    headers: Mapping[str, str] = failure.response.headers if isinstance(failure, anthropic.APIStatusError) else {}
    return headers.get("x-should-retry") != "false"
