"""ID tokens that no sign-in may believe, as a provider would answer with them: signed with its own key, over HTTP."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from conversations.accounts import provider_http, provider_settings
from conversations.runtime import rate_counters
from tests.identity_providers import Page, Person
from tests.other_services import Elsewhere, elsewhere

pytestmark = [pytest.mark.django_db, pytest.mark.process]

KEY = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
BEGIN, CALLBACK = "/accounts/oidc/signer/login/", "/accounts/oidc/signer/login/callback/"


@pytest.fixture(scope="module")
def signer() -> Iterator[Elsewhere]:
    """Describes itself, publishes its keys, and answers with whatever token a test puts there."""
    answers: dict[str, tuple[int, Mapping[str, str], str]] = {"*": (200, {}, "<title>Company</title>")}
    with elsewhere(answers) as server:
        configuration = {
            "issuer": server.url,
            "authorization_endpoint": f"{server.url}/auth",
            "token_endpoint": f"{server.url}/token",
            "jwks_uri": f"{server.url}/keys",
        }
        keys = [
            {**jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "one", "use": "sig"},
            {**jwt.algorithms.ECAlgorithm.to_jwk(CURVE.public_key(), as_dict=True), "kid": "two", "use": "sig"},
        ]
        answers["/.well-known/openid-configuration"] = (200, {}, json.dumps(configuration))
        answers["/keys"] = (200, {}, json.dumps({"keys": keys}))
        yield server


@pytest.fixture(autouse=True)
def named(signer: Elsewhere, settings: Settings) -> None:
    name(settings, signer.url)


def name(settings: Settings, server: str) -> None:
    table = {"id": "signer", "name": "Signer", "server": server, "client_id": "openbook", "sign_up": "anybody"}
    app = provider_settings.openid_app(table, client_secret="of the client")
    kind = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"] | {"APPS": [app]}
    settings.SOCIALACCOUNT_PROVIDERS = {**settings.SOCIALACCOUNT_PROVIDERS, "openid_connect": kind}
    rate_counters.HERE.clear()


def sign_in(signer: Elsewhere, make: Any) -> tuple[Person, Page]:
    """As far as the provider, which then answers with the token that ``make`` makes of right claims."""
    person = Person()
    person.get(BEGIN)
    asked = parse_qs(urlsplit(person.trail[-1]).query)
    now = int(time.time())
    claims = {
        "iss": signer.url,
        "aud": "openbook",
        "sub": "ann",
        "iat": now,
        "exp": now + 300,
        "nonce": asked["nonce"][0],
    }
    token = make(claims)
    body = {"access_token": "of access", "token_type": "Bearer"} | ({"id_token": token} if token else {})
    signer.answers["/token"] = (200, {}, json.dumps(body))  # type: ignore[index]
    return person, person.get(f"{CALLBACK}?code=of-the-person&state={asked['state'][0]}")


def signed(key: Any = KEY, algorithm: str | None = "RS256", kid: str | None = "one", **changes: Any) -> Any:
    """The claims with changes; of ``None`` the claim is left out. Times are seconds from now."""

    def make(claims: dict[str, Any]) -> str:
        now = claims["iat"]
        changed = {
            key: now + value if key in ("iat", "exp", "nbf") and value is not None else value
            for key, value in changes.items()
        }
        merged = {key: value for key, value in (claims | changed).items() if value is not None}
        return jwt.encode(merged, key, algorithm=algorithm, headers={"kid": kid} if kid else None)

    return make


def by_public_key(claims: dict[str, Any]) -> str:
    """HS256 with what everybody knows: PyJWT refuses to make such a token itself."""

    def coded(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = coded(json.dumps({"alg": "HS256", "typ": "JWT", "kid": "one"}).encode())
    text = f"{head}.{coded(json.dumps(claims).encode())}"
    return f"{text}.{coded(hmac.new(PEM, text.encode(), hashlib.sha256).digest())}"


def altered(claims: dict[str, Any]) -> str:
    head, _, signature = signed()(claims).split(".")
    body = signed(sub="root")(claims).split(".")[1]
    return f"{head}.{body}.{signature}"


REFUSED: dict[str, tuple[Any, str]] = {
    "no token": (lambda _: "", "no ID token"),
    "no JWT": (lambda _: "a.b", "segments"),
    "unsigned": (signed(None, "none"), "signed by 'none'"),
    "signed with the secret": (signed("of the client, which is long enough", "HS256"), "signed by 'HS256'"),
    "signed with the public key": (by_public_key, "signed by 'HS256'"),
    "signed by another key": (signed(OTHER), "Signature verification failed"),
    "signed by a key that is not known": (signed(kid="three"), "no such key"),
    "signed by one of two without a name": (signed(kid=None), "no such key"),
    "signed by a key of another kind": (signed(KEY, "RS256", "two"), "PEM-formatted"),
    "altered": (altered, "Signature verification failed"),
    "another issuer": (signed(iss="https://other.example"), "Invalid issuer"),
    "no issuer": (signed(iss=None), 'missing the "iss" claim'),
    "another audience": (signed(aud="another"), "Audience doesn't match"),
    "no audience": (signed(aud=None), 'missing the "aud" claim'),
    "several audiences without azp": (signed(aud=["openbook", "another"]), "another program"),
    "azp of another": (signed(azp="another"), "another program"),
    "over": (signed(iat=-600, exp=-70), "expired"),
    "without an end": (signed(exp=None), 'missing the "exp" claim'),
    "made in the future": (signed(iat=70), "not yet valid"),
    "good from the future on": (signed(nbf=70), "not yet valid"),
    "without a beginning": (signed(iat=None), 'missing the "iat" claim'),
    "another nonce": (signed(nonce="of-another-sign-in"), "another sign-in"),
    "no nonce": (signed(nonce=None), "another sign-in"),
    "of nobody": (signed(sub=None), 'missing the "sub" claim'),
}
BELIEVED: dict[str, Any] = {
    "RS256": signed(),
    "PS256": signed(algorithm="PS256"),
    "ES256": signed(CURVE, "ES256", "two"),
    "a clock that is slow": signed(iat=-600, exp=-50),
    "a clock that is fast": signed(iat=50, nbf=50),
    "several audiences": signed(aud=["openbook", "another"], azp="openbook"),
}


@pytest.mark.wide
def test_a_token_that_is_not_of_this_sign_in_signs_nobody_in(
    signer: Elsewhere, caplog: pytest.LogCaptureFixture
) -> None:
    causes = {}
    for kind, (make, words) in REFUSED.items():
        person, page = sign_in(signer, make)
        [record] = [each for each in caplog.records if hasattr(each, "cause")][-1:]
        causes[kind] = words if words in record.cause else record.cause
        assert (page.status, page.heading) == (401, "Not signed in by Signer"), kind
        assert "_auth_user_id" not in person.client.session, kind
        rate_counters.HERE.clear()
    assert causes == {kind: words for kind, (_, words) in REFUSED.items()}
    assert not User.objects.exists()
    assert not [
        kind for kind, make in BELIEVED.items() if "_auth_user_id" not in sign_in(signer, make)[0].client.session
    ]
    assert User.objects.count() == 1


def test_a_provider_that_calls_itself_another_is_not_asked(
    signer: Elsewhere, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever describes a provider can't make it stand for another: the issuer is what the operator wrote."""
    name(settings, f"{signer.url}/realms/staff")
    own = signer.answers["/.well-known/openid-configuration"]
    signer.answers["/realms/staff/.well-known/openid-configuration"] = own  # type: ignore[index]
    page = Person().get(BEGIN)
    assert (page.status, page.heading) == (401, "Not signed in by Signer")
    [record] = [each for each in caplog.records if hasattr(each, "cause")]
    assert record.cause.startswith(f"the provider calls itself {signer.url}, not {signer.url}/realms/staff")
    answer = Client().post("/accounts/oidc/signer/logout/", {"logout_token": "a.b.c"})
    assert (answer.status_code, "calls itself" in answer.json()["error_description"]) == (400, True)
    name(settings, f"{signer.url}/")
    provider_http._documents.clear()
    assert Person().get(BEGIN).text == "<title>Company</title>"
