from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from conversations.accounts import notices, second_factors, sign_in, staff_networks, tokens
from conversations.errors import SecondFactorNeeded
from conversations.models import ApiToken, Scope


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Token …`` or ``Bearer …``"""

    def offered(self, request: Request) -> str | None:
        """The token of the request, if it has one."""
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        return token.strip() if scheme.lower() in ("token", "bearer") else None

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        token = self.offered(request)
        if token is None:
            return None
        valid_token = tokens.valid(token, address=sign_in.address_of(request._request))
        if valid_token is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked. Get one at POST /api/v1/auth/token/.")
        return valid_token.user, valid_token

    def authenticate_header(self, request: Request) -> str:
        return "Token"


class HeaderSession(SessionAuthentication):
    """A session whose token against forgery is looked for in the headers alone: to look for it in the body would read that,
    files and all, before anybody knows whether it may come. Refuses who has to have a second factor and has none."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        """Raises ``SecondFactorNeeded``."""
        signed_in = super().authenticate(request)
        if signed_in and second_factors.is_lacking(signed_in[0]):
            raise SecondFactorNeeded
        return signed_in

    def enforce_csrf(self, request: HttpRequest | Request) -> None:
        plain = request._request if isinstance(request, Request) else request
        plain._post, plain._files = QueryDict(), MultiValueDict()  # type: ignore[attr-defined]
        super().enforce_csrf(plain)  # type: ignore[arg-type]  # Django's own check, of either


class HasScope(BasePermission):
    """That a token is meant for the call. ``view.scopes`` names, by method, what the rule gets wrong: that GET reads and all
    else writes; ``view.part`` a narrower scope that does as well. A session may do everything,
    but staff's alone from their networks alone.

    And that its person has accepted the notice, unless ``view.needs_acceptance`` is False."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, ApiToken):
            tokens.demand(needed(view, str(request.method)), request.auth.scopes)
        elif isinstance(request.user, User):
            address = sign_in.address_of(request._request)
            staff_networks.demand(needed(view, str(request.method)), address, actor=request.user)
        if isinstance(request.user, User) and getattr(view, "needs_acceptance", True):
            notices.demand(request.user)
        return True


def needed(view: Any, method: str) -> tuple[Scope, ...]:
    """The scopes of which a call needs one, the wide one first; none where any token will do."""
    by_rule = Scope.READ if method in SAFE_METHODS else Scope.WRITE
    own: dict[str, Scope | None] = getattr(view, "scopes", {})
    wide = own.get("GET" if method == "HEAD" else method, by_rule)
    part: Scope | None = getattr(view, "part", None)
    return tuple(scope for scope in (wide, part) if scope) if wide else ()
