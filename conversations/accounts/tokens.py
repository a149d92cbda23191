"""API tokens: issued once, stored as a digest, checked on REST and WebSocket.

A new password and the end of all sign-ins revoke them, unless their user chooses to keep them.
"""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import audit
from conversations.accounts import mailing, networks, notices, staff_networks
from conversations.accounts import scopes as scope_rights
from conversations.accounts.service_accounts import is_service
from conversations.accounts.sign_in import network_of
from conversations.errors import AddressNotAllowed, InsufficientScope
from conversations.models import ApiToken, Scope, UserLimits
from conversations.models.tokens import OWN_SCOPES
from conversations.runtime import clock
from conversations.runtime.db import columns_of, instance_of, run
from conversations.runtime.sql_files import read_statements

COLUMNS = f"{columns_of('token', ApiToken)}, {columns_of('"user"', User)}, {columns_of('limits', UserLimits)}"
VALID = f"SELECT {COLUMNS}, {read_statements(__file__, notices.STATEMENTS)['valid']}"
USED_RESOLUTION = timedelta(minutes=1)


def digest(token: str) -> bytes:
    # A token has 256 random bits, so that a plain hash is as good as a slow one.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def issue(
    *,
    user: User,
    name: str,
    scopes: Collection[str] = OWN_SCOPES,
    days: int | None = None,
    expires_at: datetime | None = None,
    addresses: Collection[str] = (),
    **limits: int | None,
) -> str:
    """A new token. Nobody can show it a second time. It lives for OPENBOOK_TOKEN_DAYS, or for fewer ``days``, or until
    ``expires_at`` where that is sooner.

    ``limits`` of its own are ``requests_minute``, ``running_replies`` and ``tokens_day``.
    """
    row = ApiToken(user=user, name=name, scopes=list(scopes), addresses=list(addresses), **limits)
    return store(row, days=days, expires_at=expires_at)


def store(row: ApiToken, *, days: int | None = None, expires_at: datetime | None = None) -> str:
    """Give a token that is not stored yet its secret and its end, and store it. Returns the secret."""
    token = f"ob_{secrets.token_urlsafe(32)}"
    most = most_days(row.user)
    row.digest = digest(token)
    row.scopes = [scope.value for scope in Scope if scope in row.scopes]
    latest = clock.now() + timedelta(days=min(days or most, most))
    row.expires_at = min(expires_at, latest) if expires_at else latest
    with transaction.atomic():
        row.save()
        details: audit.Details = {
            "user": row.user_id,
            "scopes": list(row.scopes),
            "expires_at": row.expires_at.isoformat(),
        }
        audit.record(
            audit.AuditKind.TOKEN_MADE, actor=audit.current_actor(or_else=row.user), target=row, details=details
        )
        mailing.notify(row.user, "token_made")
    return token


def most_days(user: User | None = None) -> int:
    """How long a token of this user, or of a person, lives at most."""
    days: int = settings.OPENBOOK_SERVICE_TOKEN_DAYS if user and is_service(user) else settings.OPENBOOK_TOKEN_DAYS
    return days


def valid(token: str, *, address: str = "") -> ApiToken | None:
    """The token with its user, or ``None`` where it is unknown, expired, revoked or its user is deactivated or leaving.

    Raises ``AddressNotAllowed`` where it is limited to networks, or is staff's, and ``address``, the client's, is in none of
    these.
    """
    row = valid_digest(digest(token))
    if row is None:
        return None
    if row.addresses and not networks.contain(row.addresses, address):
        raise AddressNotAllowed(
            f"This token does not work from {address or 'an address that is not known'}. "
            "Whoever made it chose the networks from which it may be used.",
            address=address,
        )
    staff_networks.demand(row.scopes, address, actor=row)
    now = clock.now()
    if row.last_used_at is None or row.last_used_at < now - USED_RESOLUTION:  # often enough to know
        ApiToken.objects.filter(id=row.id).update(last_used_at=now, last_used_from=network_of(address)[:43])
    return row


def valid_digest(digest: bytes) -> ApiToken | None:
    """As ``valid``, by what is stored of a token, wherever it is used from. Its ``scopes`` are those in force: without what
    its user has lost the right of. One statement that is written once: each call of a program begins with it."""
    rows = run(VALID, digest=digest, now=clock.now())
    if not rows:
        return None
    values = iter(rows[0])
    token, user, limits = instance_of(ApiToken, values), instance_of(User, values), instance_of(UserLimits, values)
    assert token and user
    token.user = user
    user.is_lacking_notice = next(values)  # type: ignore[attr-defined]  # see ``notices.is_lacking``
    User.limits.related.set_cached_value(user, limits)  # known to have none, or these
    token.scopes = scope_rights.in_force(user, token.scopes)
    return token


def of(user: User) -> QuerySet[ApiToken]:
    """The user's tokens that were not revoked, newest first."""
    return ApiToken.objects.filter(user=user, revoked_at__isnull=True).order_by("-id")


@transaction.atomic
def revoke(tokens: QuerySet[ApiToken]) -> int:
    """Take them back; they stop working at once. Returns how many were not revoked before."""
    ids = dict(tokens.filter(revoked_at__isnull=True).values_list("id", "user_id"))
    for id, user_id in ids.items():
        audit.record(audit.AuditKind.TOKEN_REVOKED, target=(ApiToken._meta.label, id), details={"user": user_id})
    if ids and mailing.is_possible():
        for user in User.objects.filter(pk__in=ids.values()):
            mailing.notify(user, "token_revoked")
    return ApiToken.objects.filter(id__in=ids, revoked_at__isnull=True).update(revoked_at=clock.now())


def demand(any_of: Collection[Scope], granted: Collection[str]) -> None:
    """Raise ``InsufficientScope`` unless one of the scopes is among those that a token has; where none is asked for, any token
    will do. The first names what is missing."""
    wanted = [scope.value for scope in any_of]
    if wanted and not set(wanted) & set(granted):
        raise InsufficientScope(
            f"This needs a token with the scope {' or '.join(f'`{scope}`' for scope in wanted)}; "
            f"this one has {' and '.join(granted) or 'none'}. Make one on the page /account/tokens/.",
            scope=wanted[0],
            scopes=list(granted),
        )
