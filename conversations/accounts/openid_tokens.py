"""Tokens of an OpenID provider, checked: signature, issuer, audience, time. Pure, but for the keys, which are fetched."""

from collections.abc import Mapping
from typing import Any

import jwt

from conversations.accounts import provider_http

ALGORITHMS = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)] + ["EdDSA"]
"""Signatures by a key that the provider alone has; so neither ``none`` nor one by a shared secret."""
LEEWAY_SECONDS = 60
"""By which clocks may differ."""
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"


class TokenRefused(Exception):
    """The token is not what the provider would send to this server now."""


def identity(token: str, *, configuration: Mapping[str, Any], client_id: str, nonce: str) -> dict[str, Any]:
    """The claims of an ID token. Raises ``TokenRefused`` and ``ProviderAway``."""
    claims = _claims(token, configuration, client_id, required=["iss", "aud", "exp", "iat", "sub"])
    if claims.get("nonce") != nonce:
        raise TokenRefused("the token was made for another sign-in")
    is_for_several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", "" if is_for_several else client_id) != client_id:
        raise TokenRefused("the token was made for another program")
    return claims


def logout(token: str, *, configuration: Mapping[str, Any], client_id: str) -> dict[str, Any]:
    """The claims of a logout token (OpenID Connect Back-Channel Logout 1.0). Raises ``TokenRefused`` and ``ProviderAway``."""
    claims = _claims(token, configuration, client_id, required=["iss", "aud", "iat", "exp", "jti", "events"])
    events = claims["events"]
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise TokenRefused("the token says nothing of signing out")
    if "nonce" in claims:
        raise TokenRefused("the token is an ID token")
    if not any(isinstance(claims.get(name), str) and claims[name] for name in ("sub", "sid")):
        raise TokenRefused("the token names nobody")
    return claims


def _claims(token: str, configuration: Mapping[str, Any], client_id: str, required: list[str]) -> dict[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise TokenRefused(f"the token is signed by {algorithm!r}")
        claims: dict[str, Any] = jwt.decode(
            token,
            _key(configuration["jwks_uri"], header.get("kid")),
            algorithms=[algorithm],
            audience=client_id,
            issuer=configuration["issuer"],
            leeway=LEEWAY_SECONDS,
            options={"require": required},
        )
    except (jwt.PyJWTError, TypeError, ValueError) as error:
        raise TokenRefused(str(error)) from error
    return claims


def _key(address: str, key_id: str | None) -> Any:
    for is_renewed in (False, True):  # a key may be newer than what is kept of them
        keys = jwt.PyJWKSet.from_dict(provider_http.document(address, is_renewed=is_renewed)).keys
        signing = [key for key in keys if key.public_key_use in (None, "sig")]
        found = [key for key in signing if key.key_id == key_id] if key_id else signing
        if len(found) == 1:
            return found[0].key
    raise TokenRefused("the provider has no such key")
