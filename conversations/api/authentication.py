from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from conversations import tokens


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Token …``"""

    def offered(self, request: Request) -> str | None:
        """The token of the request, if it has one of this kind."""
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        return token.strip() if scheme.lower() == "token" else None

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        token = self.offered(request)
        if token is None:
            return None
        user = tokens.user_of(token)
        if user is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked. Get one at POST /api/v1/auth/token/.")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return "Token"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema describes it. Known to drf-spectacular by its mere definition."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        about = "`Authorization: Token …`, with a token from POST auth/token/."
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": about}
