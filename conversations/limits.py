"""What one user may use: requests a minute, replies running at once, tokens a day (UTC). 0 is no limit.

Requests are counted at the doors of programs and pages (``conversations.counting``); what replies take is reserved by the
statement that stores them (``conversations.allowances``).
"""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User

from conversations import counting
from conversations.errors import RateLimited
from conversations.models import ApiToken, UserLimits

MINUTE = 60
DAY = 86_400
REQUESTS, RUNNING, TOKENS = "requests_minute", "running_replies", "tokens_day"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Those of one user."""

    requests_minute: int
    running_replies: int
    tokens_day: int


@dataclass(frozen=True, kw_only=True)
class Quota:
    """How much of the requests of this minute is left. ``most`` 0: no limit."""

    most: int
    left: int
    seconds: int


def by_default() -> Limits:
    return Limits(
        requests_minute=settings.OPENBOOK_LIMIT_REQUESTS_MINUTE,
        running_replies=settings.OPENBOOK_LIMIT_RUNNING_REPLIES,
        tokens_day=settings.OPENBOOK_LIMIT_TOKENS_DAY,
    )


def limits_of(user: User) -> Limits:
    """The user's own where staff set any. Reads the database, unless the row came along with the user."""
    default: Limits = by_default()
    own: UserLimits | None = getattr(user, "limits", None)
    if own is None:
        return default
    return Limits(
        requests_minute=_first(own.requests_minute, default.requests_minute),
        running_replies=_first(own.running_replies, default.running_replies),
        tokens_day=_first(own.tokens_day, default.tokens_day),
    )


def count_request(user: User, token: ApiToken | None) -> Quota:
    """Count a request of the user's, and of the token that it came with. Raises ``RateLimited``."""
    quota = _counted(f"requests.{user.pk}", limits_of(user).requests_minute)
    if token and token.requests_minute is not None:
        own = _counted(f"requests.{user.pk}.{token.pk}", token.requests_minute)
        quota = min(quota, own, key=lambda each: each.left) if quota.most else own
    return quota


def _counted(key: str, most: int) -> Quota:
    if not most:
        return Quota(most=0, left=0, seconds=0)
    used, seconds = counting.count(key, seconds=MINUTE)
    if used > most:
        message = f"Too many requests: {most:,} a minute are allowed. Go on in {seconds} s."
        raise RateLimited(message, limit=REQUESTS, most=most, retry_after=seconds)
    return Quota(most=most, left=most - used, seconds=seconds)


def _first(own: int | None, default: int) -> int:
    return default if own is None else own
