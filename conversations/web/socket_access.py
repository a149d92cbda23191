"""Who may open a socket, and who still may."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import parse_cookie

from conversations.accounts import notices, second_factors, session_times, tokens
from conversations.accounts import session_user as accounts_session_user
from conversations.errors import NoticeNotAccepted, SecondFactorNeeded
from conversations.models import ApiToken, Scope
from conversations.runtime import origins

Connection = dict[str, Any]
"""What Channels calls the scope of a socket."""
TOKEN_PROTOCOL = "Token"  # noqa: S105  (the name of the subprotocol, not a token)


def header(scope: Connection, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def offered_token(scope: Connection) -> str | None:
    """The token of ``Sec-WebSocket-Protocol: Token, <token>``."""
    match scope.get("subprotocols"):
        case [protocol, token] if protocol == TOKEN_PROTOCOL:
            return str(token)
    return None


def same_origin(scope: Connection) -> bool:
    """Whether the page that opens the socket is ours. A browser always says where the page is from; a program that brings a
    token need not."""
    origin, host = header(scope, b"origin"), header(scope, b"host")
    if not origin:
        return offered_token(scope) is not None
    return origins.is_ours(origin, host=host, is_secure=scope.get("scheme") == "wss")


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """Whose socket it is, and what it may be used for."""

    user: User
    token: ApiToken | None = None
    is_lacking_factor: bool = False
    is_lacking_notice: bool = False
    idle: timedelta | None = None
    """After which their session ends if they do nothing."""

    def demand(self, scope: Scope) -> None:
        """Raise ``InsufficientScope``, ``SecondFactorNeeded`` or ``NoticeNotAccepted`` unless it may. Else a session may do
        everything."""
        if self.is_lacking_factor:
            raise SecondFactorNeeded
        if self.token:
            tokens.demand([scope], self.token.scopes)
        if self.is_lacking_notice:
            raise NoticeNotAccepted


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What a socket was opened with: a token, or a session."""

    token: str | None = field(default=None, repr=False)
    session_key: str | None = field(default=None, repr=False)
    address: str = ""

    def visitor(self) -> Visitor | None:
        """Whose it is now. Reads the database. Raises ``AddressNotAllowed``."""
        return token_user(self.token, self.address) if self.token else session_user(self.session_key)


def address_of(scope: Connection) -> str:
    """Of the client: ``config.server.proxies`` has put it there."""
    return str((scope.get("client") or [""])[0])


def identify(scope: Connection) -> Identity:
    if token := offered_token(scope):
        return Identity(token=token, address=address_of(scope))
    return Identity(session_key=parse_cookie(header(scope, b"cookie")).get(settings.SESSION_COOKIE_NAME))


def touch(identity: Identity) -> None:
    """The person of a session does something."""
    accounts_session_user.as_of_now(identity.session_key, is_active=True)


def token_user(secret: str, address: str) -> Visitor | None:
    """The active user of a token; ``None`` once it is expired or revoked. Raises ``AddressNotAllowed``."""
    token = tokens.valid(secret, address=address)
    return Visitor(user=token.user, token=token, is_lacking_notice=notices.is_lacking(token.user)) if token else None


def session_user(key: str | None) -> Visitor | None:
    """The active user of a session; ``None`` after sign-out, a changed password or deactivation."""
    request = accounts_session_user.as_of_now(key)
    if request is None or not isinstance(request.user, User):
        return None
    idle = session_times.times_of(request.user).idle
    return Visitor(
        user=request.user,
        is_lacking_factor=second_factors.is_lacking(request.user),
        is_lacking_notice=notices.is_lacking(request.user),
        idle=idle,
    )
