"""API tokens: issued once, stored as a digest, checked on REST and WebSocket."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from conversations.models import ApiToken

USED_RESOLUTION = timedelta(minutes=1)


def digest(token: str) -> bytes:
    # A token has 256 random bits, so that a plain hash is as good as a slow one.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def issue(*, user: User, name: str) -> str:
    """A new token. Nobody can show it a second time."""
    token = f"ob_{secrets.token_urlsafe(32)}"
    ApiToken.objects.create(
        user=user,
        name=name,
        digest=digest(token),
        expires_at=timezone.now() + timedelta(days=settings.OPENBOOK_TOKEN_DAYS),
    )
    return token


def user_of(token: str) -> User | None:
    """Whose token this is, or ``None`` where it is unknown, expired, revoked or its user is deactivated."""
    now = timezone.now()
    found = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest(token), expires_at__gt=now, revoked_at__isnull=True, user__is_active=True)
        .first()
    )
    if found is None:
        return None
    # Once a minute is often enough to know, and spares a write a request.
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - USED_RESOLUTION)
    ApiToken.objects.filter(stale, id=found.id).update(last_used_at=now)
    return found.user
