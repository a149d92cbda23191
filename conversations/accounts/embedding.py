"""Visitors of other sites, in the small chat that these show: what a site signs about one is exchanged for a short token.

Each visitor has a service account of their own, made on first use: nobody signs in with it, and all of it is that
visitor's alone.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction

from conversations.accounts import service_accounts, tokens
from conversations.accounts.embed_sites import EmbedSite
from conversations.errors import EmbeddingRefused
from conversations.models import ApiToken, Scope
from conversations.runtime import clock

AUDIENCE = "openbook"
LONGEST_ASSERTION = timedelta(minutes=5)
LIFETIME = timedelta(minutes=15)
LEEWAY_SECONDS = 30
"""By which clocks may differ."""
SUBJECT_CHARS = 200
CLAIMS = ["iss", "sub", "aud", "exp"]


def exchange(assertion: str, origin: str) -> tuple[str, datetime]:
    """A token for the visitor whom the assertion names, and its end. Raises ``EmbeddingRefused``."""
    name, site, subject = _read(assertion)
    if origin not in site.origins:
        raise EmbeddingRefused(reason="origin")
    user = account(name, site, subject)
    if not user.is_active:
        raise EmbeddingRefused(reason="account")
    ends = clock.now() + LIFETIME
    with transaction.atomic():
        ApiToken.objects.filter(user=user, name=_token_name(name), expires_at__lt=clock.now()).delete()
        token = tokens.issue(user=user, name=_token_name(name), scopes=[Scope.CHAT], expires_at=ends)
    return token, ends


def _token_name(site: str) -> str:
    return f"chat on {site}"


def _read(assertion: str) -> tuple[str, EmbedSite, str]:
    """The site's name, the site, and the visitor's name there."""
    try:
        name = jwt.decode(assertion, options={"verify_signature": False}).get("iss")
        site = settings.OPENBOOK_EMBED_SITES.get(name) if isinstance(name, str) else None
        if site is None:
            raise EmbeddingRefused(reason="site")
        claims: Mapping[str, Any] = jwt.decode(
            assertion,
            site.secret,
            algorithms=["HS256"],
            audience=AUDIENCE,
            leeway=LEEWAY_SECONDS,
            options={"require": CLAIMS, "strict_aud": True},
        )
    except (jwt.PyJWTError, TypeError, ValueError) as error:
        raise EmbeddingRefused(reason="assertion", problem=str(error)) from None
    latest = clock.now() + LONGEST_ASSERTION + timedelta(seconds=LEEWAY_SECONDS)
    if datetime.fromtimestamp(claims["exp"], UTC) > latest:
        raise EmbeddingRefused(reason="assertion", problem="It may live for five minutes at most")
    subject = claims["sub"]
    if not 0 < len(subject) <= SUBJECT_CHARS:
        raise EmbeddingRefused(reason="assertion", problem="Its `sub` is empty or too long")
    return str(name), site, subject


def account(name: str, site: EmbedSite, subject: str) -> User:
    """The visitor's, made where it is the first time."""
    username = f"embed-{name}-{hashlib.sha256(subject.encode()).hexdigest()[:40]}"
    purpose = f"Visitor of {name}: {subject}"[:200]
    user = User.objects.filter(username=username).first()
    if user is None:
        try:
            groups = Group.objects.filter(name=site.group) if site.group else []
            return service_accounts.make(username=username, purpose=purpose, groups=list(groups))
        except IntegrityError:  # another call made it meanwhile
            user = User.objects.get(username=username)
    if not service_accounts.is_service(user):
        raise EmbeddingRefused(reason="account")
    return user
