"""Who signs people in, by the official SDK's authorization server, and a server of tools that takes only its tokens.

The two are at different addresses. Everybody who comes to ``/authorize`` is signed in at once and sent back with a code.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import (
    build_resource_metadata_url,
    create_auth_routes,
    create_protected_resource_routes,
)
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.routing import Mount

from tests.asgi_server import serving
from tests.conversations.mcp_client.tool_server import ToolServer

SECONDS = 3600


@dataclass
class Accounts(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """What was registered, given and taken back. ``resource`` is the one that a token must be for."""

    issuer: str = ""
    names_issuer: bool = True
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)
    revoked: list[str] = field(default_factory=list)
    renewals: int = 0
    held: asyncio.Event | None = None
    """While it is not set no sign-in is renewed."""

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(20),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.codes[code.code] = code
        issuer = {"iss": self.issuer} if self.names_issuer else {}
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state, **issuer)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self.given(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.renewals += 1
        if self.held:
            await self.held.wait()
        return self.given(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.revoked.append(token.token)

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise NotImplementedError

    def given(self, client: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access = AccessToken(token=secrets.token_urlsafe(20), client_id=client, scopes=scopes, resource=resource)
        renewing = RefreshToken(token=secrets.token_urlsafe(20), client_id=client, scopes=scopes, resource=resource)
        self.access[access.token], self.refresh[renewing.token] = access, renewing
        return OAuthToken(access_token=access.token, refresh_token=renewing.token, expires_in=SECONDS)


@dataclass
class GuardedServer:
    """Of tools. ``accounts`` is who signs people in to it; ``asked`` are the paths that were asked for there."""

    tools: ToolServer
    accounts: Accounts
    asked: list[str] = field(default_factory=list)


async def signed_in_at(url: str) -> str:
    """Where a browser is sent back to, once its person has signed in there."""
    async with httpx2.AsyncClient() as browser:
        answer = await browser.get(url)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


def values_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


@asynccontextmanager
async def guarded(tools: ToolServer) -> AsyncIterator[GuardedServer]:
    """The tools, for those who bring a token of the accounts that is for them."""
    server = GuardedServer(tools, Accounts())
    routed: dict[str, Any] = {}

    async def accounts_app(scope: Any, receive: Any, send: Any) -> None:
        server.asked.append(scope["path"])
        await routed["accounts"](scope, receive, send)

    async def tools_app(scope: Any, receive: Any, send: Any) -> None:
        await routed["tools"](scope, receive, send)

    async with serving(accounts_app) as issuer, serving(tools_app) as site:
        server.accounts.issuer, tools.url = str(AnyHttpUrl(issuer)), f"{site}/mcp"
        registration = ClientRegistrationOptions(enabled=True, valid_scopes=["tools"], default_scopes=["tools"])
        revocation = RevocationOptions(enabled=True)
        routed["accounts"] = Starlette(
            routes=create_auth_routes(
                server.accounts,
                AnyHttpUrl(issuer),
                client_registration_options=registration,
                revocation_options=revocation,
            )
        )
        resource = AnyHttpUrl(tools.url)
        guard = RequireAuthMiddleware(tools.application, ["tools"], build_resource_metadata_url(resource))
        backend = BearerAuthBackend(server.accounts, resource_server_url=resource)
        metadata = create_protected_resource_routes(resource, [AnyHttpUrl(issuer)], ["tools"])
        mounted = Mount("/", app=AuthenticationMiddleware(guard, backend=backend))
        routed["tools"] = Starlette(routes=[*metadata, mounted])
        yield server
