"""API tokens: issued once, stored as a digest, checked on REST and WebSocket.

A new password and the end of all sign-ins revoke them, unless their user chooses to keep them.
"""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from conversations.errors import InsufficientScope
from conversations.models import ApiToken, Scope, UserLimits
from conversations.runtime import clock
from conversations.runtime.db import columns_of, instance_of, run
from conversations.runtime.sql_files import read_statements

COLUMNS = f"{columns_of('token', ApiToken)}, {columns_of('"user"', User)}, {columns_of('limits', UserLimits)}"
VALID = f"SELECT {COLUMNS} {read_statements(__file__)['valid']}"
USED_RESOLUTION = timedelta(minutes=1)


def digest(token: str) -> bytes:
    # A token has 256 random bits, so that a plain hash is as good as a slow one.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def issue(
    *,
    user: User,
    name: str,
    scopes: Collection[str] = tuple(Scope),
    days: int | None = None,
    **limits: int | None,
) -> str:
    """A new token. Nobody can show it a second time. It lives for OPENBOOK_TOKEN_DAYS, or for fewer ``days``.

    ``limits`` of its own are ``requests_minute``, ``running_replies`` and ``tokens_day``.
    """
    row = ApiToken(user=user, name=name, scopes=list(scopes), **limits)
    token = prepare(row, days=days)
    row.save()
    return token


def prepare(row: ApiToken, *, days: int | None = None) -> str:
    """Give a token that is not stored yet its secret and its end. Returns the secret."""
    token = f"ob_{secrets.token_urlsafe(32)}"
    row.digest = digest(token)
    row.scopes = [scope.value for scope in Scope if scope in row.scopes]
    row.expires_at = clock.now() + timedelta(days=min(days or most_days(), most_days()))
    return token


def most_days() -> int:
    days: int = settings.OPENBOOK_TOKEN_DAYS
    return days


def valid(token: str) -> ApiToken | None:
    """The token with its user, or ``None`` where it is unknown, expired, revoked or its user is deactivated or leaving."""
    return valid_digest(digest(token))


def valid_digest(digest: bytes) -> ApiToken | None:
    """As ``valid``, by what is stored of a token. One statement that is written once: each call of a program begins with it."""
    now = clock.now()
    rows = run(VALID, digest=digest, now=now)
    if not rows:
        return None
    values = iter(rows[0])
    token, user, limits = instance_of(ApiToken, values), instance_of(User, values), instance_of(UserLimits, values)
    assert token and user
    token.user = user
    User.limits.related.set_cached_value(user, limits)  # known to have none, or these
    if token.last_used_at is None or token.last_used_at < now - USED_RESOLUTION:  # often enough to know
        ApiToken.objects.filter(id=token.id).update(last_used_at=now)
    return token


def of(user: User) -> QuerySet[ApiToken]:
    """The user's tokens that were not revoked, newest first."""
    return ApiToken.objects.filter(user=user, revoked_at__isnull=True).order_by("-id")


def revoke(tokens: QuerySet[ApiToken]) -> int:
    """Take them back; they stop working at once. Returns how many were not revoked before."""
    return tokens.filter(revoked_at__isnull=True).update(revoked_at=clock.now())


def demand(scope: Scope | None, granted: Collection[str]) -> None:
    """Raise ``InsufficientScope`` where the scope is not among those that a token has."""
    if scope is not None and scope.value not in granted:
        has = " and ".join(granted)
        raise InsufficientScope(
            f"This needs a token with the scope `{scope.value}`; this one has {has}. Make one on the page /account/tokens/.",
            scope=scope.value,
            scopes=list(granted),
        )
