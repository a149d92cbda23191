"""Who calls a tool."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from conversations.accounts import tokens
from conversations.models import ApiToken, Scope

CALLER = "openbook.caller"
"""Where a request's scope has its ``Caller``."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    user: User
    token: ApiToken

    def may(self, *any_of: Scope) -> bool:
        return any(scope in self.token.scopes for scope in any_of)

    def demand(self, *any_of: Scope) -> None:
        """Raises ``InsufficientScope`` unless the token has one of them."""
        tokens.demand(any_of, self.token.scopes)
