"""What one user may use, and what part of it one token: requests a minute, replies running at once, tokens a day (UTC). 0 is
no limit.

Requests are counted at the doors of programs and pages (``conversations.runtime.rate_counters``); what replies take is reserved
by the statement that stores them (``conversations.accounts.allowances``).
"""

from dataclasses import dataclass, replace

from django.conf import settings
from django.contrib.auth.models import User

from conversations.errors import RateLimited
from conversations.models import ApiToken, UserLimits
from conversations.runtime import rate_counters
from conversations.runtime.wording import worded

MINUTE = 60
DAY = 86_400
REQUESTS, RUNNING, TOKENS = "requests_minute", "running_replies", "tokens_day"
KINDS = (REQUESTS, RUNNING, TOKENS)
FILES = "files_mb"
"""Of a user only."""
USER, TOKEN = "user", "token"
"""Whose limit it is."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Those of one user, or of one token."""

    requests_minute: int
    running_replies: int
    tokens_day: int


NO_LIMITS = Limits(requests_minute=0, running_replies=0, tokens_day=0)


@dataclass(frozen=True, kw_only=True)
class Quota:
    """How much of the requests of this minute is left. ``most`` 0: no limit."""

    most: int
    left: int
    seconds: int


NO_QUOTA = Quota(most=0, left=0, seconds=0)


def by_default() -> Limits:
    return Limits(
        requests_minute=settings.OPENBOOK_LIMIT_REQUESTS_MINUTE,
        running_replies=settings.OPENBOOK_LIMIT_RUNNING_REPLIES,
        tokens_day=settings.OPENBOOK_LIMIT_TOKENS_DAY,
    )


def limits_of(user: User) -> Limits:
    """The user's own where staff set any. Reads the database, unless the row came along with the user."""
    own: UserLimits | None = getattr(user, "limits", None)
    return replace(by_default(), **{kind: most for kind in KINDS if (most := getattr(own, kind, None)) is not None})


def files_limit_of(user: User) -> int:
    """How many bytes the user's files may have together; 0 is no limit. Reads the database, as ``limits_of`` does."""
    own: UserLimits | None = getattr(user, "limits", None)
    own_most = own.files_mb if own else None
    most: int = settings.OPENBOOK_LIMIT_FILES_MB if own_most is None else own_most
    return most * 2**20


def limits_of_token(token: ApiToken) -> Limits:
    """Its own, which are a part of its user's."""
    return Limits(**{kind: getattr(token, kind) or 0 for kind in KINDS})


def tighter(one: Limits, other: Limits) -> Limits:
    """Of each kind the one that is reached first."""
    both = {kind: (getattr(one, kind), getattr(other, kind)) for kind in KINDS}
    return Limits(**{kind: min(filter(None, mosts), default=0) for kind, mosts in both.items()})


def count_request(user: User, token: ApiToken | None) -> Quota:
    """Count a request of the user's, and of the token that it came with. Raises ``RateLimited``."""
    # The token first: what is refused to one program takes nothing from the others.
    own = _count(f"requests.{user.pk}.{token.pk}", token.requests_minute or 0, TOKEN) if token else NO_QUOTA
    all_of_them = _count(f"requests.{user.pk}", limits_of(user).requests_minute, USER)
    return min((quota for quota in (own, all_of_them) if quota.most), key=lambda quota: quota.left, default=NO_QUOTA)


TOO_MANY = {
    USER: "Too many requests: {most} a minute are allowed. Go on in {seconds} s.",
    TOKEN: "Too many requests: {most} a minute are allowed with this token. Go on in {seconds} s.",
}
"""By whose limit it is."""


def _count(key: str, most: int, whose: str) -> Quota:
    if not most:
        return NO_QUOTA
    used, seconds = rate_counters.count(key, seconds=MINUTE)
    if used > most:
        message = worded(TOO_MANY[whose], most=most, seconds=seconds)
        raise RateLimited(message, limit=REQUESTS, whose=whose, most=most, retry_after=seconds)
    return Quota(most=most, left=most - used, seconds=seconds)
