"""OAuth for a server, by the SDK's pieces and the protocol's rules of now. Who signs people in is found by the server's
metadata (RFC 9728) and describes itself (RFC 8414); this installation is known there by the address of a document about it,
or by registration (RFC 7591). Codes are bound by PKCE, tokens to the server by ``resource`` (RFC 8707), answers to their issuer
(RFC 9207).

Nothing is followed to where it redirects. What is kept between the steps is JSON, which whoever keeps it encrypts.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NoReturn
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from django.conf import settings
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import PKCEParameters, check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_info_from_metadata_url,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    handle_token_response_scopes,
    is_valid_client_metadata_url,
    should_use_client_metadata_url,
    validate_authorization_response_iss,
    validate_metadata_issuer,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from mcp_types import LATEST_PROTOCOL_VERSION
from pydantic import AnyUrl, BaseModel

from conversations.mcp_client.client import open_bounded, problem_of
from conversations.mcp_client.endpoints import (
    Beginning,
    ClientAddress,
    Endpoint,
    Granted,
    SignInFailed,
    SignInRefused,
)
from conversations.models.mcp import URL_CHARS
from conversations.providers import written_urls

SECONDS = 8.0
"""That one step may take."""
REFUSED = (400, 401)
"""What an endpoint for tokens answers to a code or a token that it takes no more."""
MOST_SECONDS = 10 * 366 * 86_400
PROBE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": LATEST_PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": "Openbook", "version": "1"},
    },
}
PROBE_HEADERS = {"Accept": "application/json, text/event-stream"}


class Client(BaseModel):
    """Where tokens of a server are had, and as who. ``server`` is the one address that they are for."""

    server: str
    resource: str
    redirect_uri: str
    metadata: OAuthMetadata
    client: OAuthClientInformationFull
    scope: str | None


class Pending(Client):
    """A sign-in under way."""

    state: str
    verifier: str


class Grant(Client):
    """A sign-in that was made."""

    token: OAuthToken


async def begin(server: str, address: ClientAddress) -> Beginning:
    """Find who signs people in to a server, and be known there. Raises ``SignInFailed``."""
    async with steps() as http:
        challenge = await http.send(http.build_request("POST", server, json=PROBE, headers=PROBE_HEADERS), stream=True)
        await challenge.aclose()
        if challenge.status_code != 401:
            raise SignInFailed("it asks for no sign-in")
        resource = await _protected_resource(http, server, challenge)
        metadata = await _authorization_server(http, server, str(resource.authorization_servers[0]))
        scope = get_client_metadata_scopes(
            extract_scope_from_www_auth(challenge), resource, metadata, ["authorization_code", "refresh_token"]
        )
        client = await _client(http, metadata, address, scope)
        codes = PKCEParameters.generate()
        pending = Pending(
            server=server,
            resource=resource_url_from_server_url(server),
            redirect_uri=address.callback,
            metadata=metadata,
            client=client,
            scope=scope,
            state=secrets.token_urlsafe(32),
            verifier=codes.code_verifier,
        )
    return Beginning(
        url=_address_for(pending, codes.code_challenge), issuer=str(metadata.issuer), pending=pending.model_dump_json()
    )


async def finish(pending_json: str, *, state: str, code: str, issuer: str | None) -> Granted:
    """Tokens for the code that the callback brought. Raises ``SignInFailed``."""
    pending = Pending.model_validate_json(pending_json)
    if not secrets.compare_digest(state.encode(), pending.state.encode()):
        raise SignInFailed("the answer is to no sign-in of yours")
    async with steps() as http:
        validate_authorization_response_iss(issuer, pending.metadata)
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": pending.redirect_uri}
        token = await _token(http, pending, form | {"code_verifier": pending.verifier})
    return _granted(pending, token)


async def renew(grant_json: str) -> Granted:
    """Raises ``SignInRefused`` where the person has to sign in again, ``SignInFailed`` where that can't be told."""
    grant = Grant.model_validate_json(grant_json)
    if not grant.token.refresh_token:
        raise SignInRefused("you have to sign in to it again")
    async with steps() as http:
        token = await _token(http, grant, {"grant_type": "refresh_token", "refresh_token": grant.token.refresh_token})
    token.refresh_token = token.refresh_token or grant.token.refresh_token
    return _granted(grant, token)


async def revoke(grants: Sequence[str]) -> None:
    """As far as whoever gave them takes them back, and can be reached: of each the token that lives longest (RFC 7009)."""
    await asyncio.gather(*map(_revoke, map(Grant.model_validate_json, grants)), return_exceptions=True)


async def _revoke(grant: Grant) -> None:
    endpoint, token = grant.metadata.revocation_endpoint, grant.token
    if endpoint is None:
        return
    kind = "refresh_token" if token.refresh_token else "access_token"
    form = {"token": token.refresh_token or token.access_token, "token_type_hint": kind}
    async with steps() as http:
        await http.send(_as_client(http, grant, str(endpoint), form))


@asynccontextmanager
async def steps() -> AsyncIterator[httpx2.AsyncClient]:
    """For the requests of one step. What goes wrong in it raises ``SignInFailed``, without a word of what a server said."""
    try:
        async with asyncio.timeout(SECONDS), open_bounded(Endpoint(url="", headers={})) as http:
            yield http
    except SignInFailed:
        raise
    except (OAuthFlowError, OAuthTokenError, OAuthRegistrationError) as error:
        raise SignInFailed("who signs people in to it answers what can't be trusted or understood") from error
    except Exception as error:
        raise SignInFailed(problem_of(error)) from error


async def _protected_resource(
    http: httpx2.AsyncClient, server: str, challenge: httpx2.Response
) -> ProtectedResourceMetadata:
    written = extract_resource_metadata_from_www_auth(challenge)
    for url in build_protected_resource_metadata_discovery_urls(written, server):
        _judge(url, server)
        found = await handle_protected_resource_response(await http.send(create_oauth_metadata_request(url)))
        if found is not None:
            if not check_resource_allowed(resource_url_from_server_url(server), str(found.resource)):
                raise SignInFailed("it leads to the sign-in of another server")
            return found
    raise SignInFailed("it does not say who signs people in")


async def _authorization_server(http: httpx2.AsyncClient, server: str, issuer: str) -> OAuthMetadata:
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, server):
        _judge(url, server)
        goes_on, found = await handle_auth_metadata_response(await http.send(create_oauth_metadata_request(url)))
        if found is not None:
            validate_metadata_issuer(found, issuer)
            for endpoint in (
                found.authorization_endpoint,
                found.token_endpoint,
                found.registration_endpoint,
                found.revocation_endpoint,
            ):
                _judge(str(endpoint or issuer), server)
            if "S256" not in (found.code_challenge_methods_supported or ()):
                raise SignInFailed("who signs people in to it does not bind codes (PKCE)")
            return found
        if not goes_on:
            break
    raise SignInFailed("who signs people in to it does not describe itself")


async def _client(
    http: httpx2.AsyncClient, metadata: OAuthMetadata, address: ClientAddress, scope: str | None
) -> OAuthClientInformationFull:
    document = address.document if is_valid_client_metadata_url(address.document) else None
    if document and should_use_client_metadata_url(metadata, document):
        return create_client_info_from_metadata_url(document, [AnyUrl(address.callback)])
    if metadata.registration_endpoint is None:
        raise SignInFailed("who signs people in to it takes no client that it does not know")
    described = OAuthClientMetadata.model_validate(address.description | {"scope": scope})
    client = await handle_registration_response(
        await http.send(create_client_registration_request(metadata, described, ""))
    )
    check_registration_usable(client)
    return client


def _address_for(pending: Pending, challenge: str) -> str:
    """Where the person signs in."""
    endpoint = str(pending.metadata.authorization_endpoint)
    values = {
        "response_type": "code",
        "client_id": pending.client.client_id,
        "redirect_uri": pending.redirect_uri,
        "state": pending.state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "resource": pending.resource,
    }
    if pending.scope:
        values["scope"] = pending.scope
        if "offline_access" in pending.scope.split():
            values["prompt"] = "consent"
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(values)}"


async def _token(http: httpx2.AsyncClient, client: Client, form: dict[str, str]) -> OAuthToken:
    endpoint = str(client.metadata.token_endpoint)
    response = await http.send(_as_client(http, client, endpoint, form | {"resource": client.resource}))
    if response.status_code in REFUSED:
        raise SignInRefused("you have to sign in to it again")
    if response.status_code not in (200, 201):
        _fail(response)
    token = await handle_token_response_scopes(response)
    if not (token.access_token.isascii() and token.access_token.isprintable()):
        raise SignInFailed("its token is none that a header can hold")
    token.scope = token.scope or client.scope
    return token


def _fail(response: httpx2.Response) -> NoReturn:
    raise SignInFailed(f"who signs people in to it answered {response.status_code}")


def _as_client(http: httpx2.AsyncClient, client: Client, url: str, form: dict[str, str]) -> httpx2.Request:
    """A form, with what proves who sends it."""
    known = client.client
    headers, form = {}, form | {"client_id": known.client_id}
    if known.client_secret and known.token_endpoint_auth_method == "client_secret_post":  # noqa: S105
        form["client_secret"] = known.client_secret
    elif known.client_secret and known.token_endpoint_auth_method != "none":  # noqa: S105
        basic = httpx2.BasicAuth(quote(known.client_id, safe=""), quote(known.client_secret, safe=""))
        proof = next(basic.auth_flow(httpx2.Request("POST", url)))
        headers["Authorization"] = proof.headers["Authorization"]
    return http.build_request("POST", url, data=form, headers=headers)


def _granted(client: Client, token: OAuthToken) -> Granted:
    grant = Grant(**{name: getattr(client, name) for name in Client.model_fields}, token=token)
    seconds = None if token.expires_in is None else min(max(token.expires_in, 0), MOST_SECONDS)
    return Granted(issuer=str(client.metadata.issuer), grant=grant.model_dump_json(), seconds=seconds)


def _judge(url: str, server: str) -> None:
    """Raises ``SignInFailed`` where an address may not be asked: as every one that others wrote, and never without TLS for a
    server that is reached with it."""
    problem = written_urls.problem_of(url, most=URL_CHARS, networks=settings.OPENBOOK_INNER_NETWORKS)
    if problem or (urlsplit(server).scheme == "https" and urlsplit(url).scheme != "https"):
        raise SignInFailed("it leads to an address that is not asked")
