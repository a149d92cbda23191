"""Tokens: issued for a password, stored as a digest, and worth nothing once expired or revoked."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone

from conversations.accounts import tokens
from conversations.models import ApiToken
from conversations.runtime.db import in_database
from conversations.runtime.shapes import moment
from tests.conversations.factories import make_user
from tests.conversations.rest.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

PASSWORD = "correct horse battery"
NOT_VALID = "The token is unknown, expired or revoked. Get one at POST /api/v1/auth/token/."
NOT_GIVEN = "You are not signed in. Sign in, or send a valid token, then try again."


@pytest.fixture
def person() -> User:
    return make_user("carol", password=PASSWORD)


async def test_a_password_buys_a_token_that_works(person: User) -> None:
    answer = await Api().post("auth/token/", {"username": "carol", "password": PASSWORD})
    assert (answer.status, list(answer.body), answer.headers["cache-control"]) == (200, ["token"], "no-store")

    for scheme in ("Token", "Bearer"):
        listed = await Api(Authorization=f"{scheme} {answer.body['token']}").get("threads/")
        assert (listed.status, listed.body) == (200, {"next": None, "previous": None, "results": []})


async def test_only_the_digest_of_a_token_is_stored(person: User) -> None:
    token = (await Api().post("auth/token/", {"username": "carol", "password": PASSWORD, "name": "My script"})).body[
        "token"
    ]
    row = await ApiToken.objects.aget(user=person)
    assert (bytes(row.digest), row.name) == (hashlib.sha256(token.encode()).digest(), "My script")
    assert token not in str(vars(row))
    assert timedelta(days=89) < row.expires_at - timezone.now() <= timedelta(days=90)


@pytest.mark.parametrize(
    "body",
    [
        {"username": "carol", "password": "wrong"},
        {"username": "carol", "password": PASSWORD + " "},
        {"username": "nobody", "password": PASSWORD},
    ],
)
async def test_a_wrong_password_buys_nothing(person: User, body: dict[str, Any]) -> None:
    answer = await Api().post("auth/token/", body)
    assert answer.refusal == (
        401,
        {
            "type": "authentication",
            "code": "authentication_failed",
            "message": "The username or the password is wrong.",
            "details": {},
        },
    )
    assert answer.headers["www-authenticate"] == "Token"
    assert await ApiToken.objects.acount() == 0


async def test_a_deactivated_user_gets_no_token(person: User) -> None:
    await User.objects.filter(id=person.id).aupdate(is_active=False)
    answer = await Api().post("auth/token/", {"username": "carol", "password": PASSWORD})
    assert answer.code == (401, "authentication", "authentication_failed")


async def test_what_is_missing_or_malformed_is_named(person: User) -> None:
    cases: list[tuple[Any, list[str]]] = [
        ({}, ["username", "password"]),
        ({"username": "carol"}, ["password"]),
        ({"username": "car\0ol", "password": "x"}, ["username"]),
        ({"username": "carol", "password": "\ud800"}, ["password"]),
        ({"username": ["carol"], "password": {}}, ["username", "password"]),
        ([], ["non_field_errors"]),
        ("carol", ["non_field_errors"]),
    ]
    for body, fields in cases:
        answer = await Api().post("auth/token/", body)
        assert (answer.code, list(answer.refusal[1]["details"]["fields"])) == (
            (400, "invalid_request", "invalid"),
            fields,
        ), body


@pytest.mark.parametrize(
    "change",
    [
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"revoked_at": timezone.now()},
    ],
    ids=["expired", "revoked"],
)
async def test_an_expired_or_revoked_token_opens_nothing(user: User, api: Api, change: dict[str, Any]) -> None:
    assert (await api.get("threads/")).status == 200
    await ApiToken.objects.filter(user=user).aupdate(**change)
    assert (await api.get("threads/")).refusal == (401, refused("authentication_failed", NOT_VALID))


async def test_a_token_is_got_for_as_much_and_as_long_as_asked(person: User) -> None:
    limits = {"requests_minute": 5, "running_replies": 2, "tokens_day": 2**40}
    asked = {"username": "carol", "password": PASSWORD, "scopes": ["export", "read"], "days": 3, **limits}
    token = (await Api().post("auth/token/", asked)).body["token"]
    described = (await Api(Authorization=f"Token {token}").get("tokens/current/")).body
    row = await ApiToken.objects.aget(user=person)
    assert described == {
        "id": row.pk,
        "name": "API",
        "scopes": ["read", "export"],
        "addresses": [],
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "last_used_at": None,
        "last_used_from": "",
        **limits,
    }
    assert timedelta(days=2) < row.expires_at - timezone.now() <= timedelta(days=3)


async def test_a_token_for_more_than_is_offered_is_refused(person: User) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"scopes": []}, "scopes"),
        ({"scopes": ["admin"]}, "scopes"),
        ({"days": 91}, "days"),
        ({"days": 0}, "days"),
        ({"running_replies": 0}, "running_replies"),
        ({"tokens_day": 2**63}, "tokens_day"),
    ]
    for asked, field in cases:
        answer = await Api().post("auth/token/", {"username": "carol", "password": PASSWORD, **asked})
        assert (answer.code, list(answer.refusal[1]["details"]["fields"])) == (
            (400, "invalid_request", "invalid"),
            [field],
        ), asked


async def test_tokens_are_listed_without_themselves_and_revoked_by_their_id(user: User, api: Api) -> None:
    spare = await in_database(tokens.issue)(user=user, name="spare", scopes=["read"])
    listed = (await api.get("tokens/")).body["results"]
    assert [(each["name"], each["scopes"]) for each in listed] == [
        ("spare", ["read"]),
        ("tests", ["read", "write", "export"]),
    ]
    assert spare not in str(listed)
    assert (await api.call("DELETE", f"tokens/{listed[0]['id']}/")).status == 204
    assert (await Api(Authorization=f"Token {spare}").get("threads/")).status == 401
    assert [each["name"] for each in (await api.get("tokens/")).body["results"]] == ["tests"]


async def test_a_token_in_an_address_opens_nothing_and_none_is_logged(
    user: User, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    token = api.headers["Authorization"].removeprefix("Token ")
    caplog.set_level("DEBUG")
    for name in ("token", "api_key", "access_token", "authorization"):
        answer = await Api().get(f"threads/?{name}=ob_of_somebody")
        assert answer.code == (401, "authentication", "not_authenticated")
    sent = await api.post("threads/new/messages/", {"content": "Hello"})
    assert sent.status == 201
    assert (await api.get("threads/nonsense/")).status == 404
    await api.post("auth/token/", {"username": "ada", "password": token})
    said = " ".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    assert "reply ended" in said
    assert token not in said


async def test_the_token_of_a_deactivated_user_opens_nothing(user: User, api: Api) -> None:
    await User.objects.filter(id=user.id).aupdate(is_active=False)
    assert (await api.get("threads/")).refusal == (401, refused("authentication_failed", NOT_VALID))


async def test_a_malformed_header_is_refused_with_a_challenge() -> None:
    cases: list[tuple[str, str, str]] = [
        ("Token", "authentication_failed", NOT_VALID),
        ("Token ", "authentication_failed", NOT_VALID),
        ("Token ob_one two", "authentication_failed", NOT_VALID),
        ("Token tökén", "authentication_failed", NOT_VALID),
        ("Bearer ob_one", "authentication_failed", NOT_VALID),
        ("Basic ob_one", "not_authenticated", NOT_GIVEN),
        ("", "not_authenticated", NOT_GIVEN),
    ]
    for given, code, message in cases:
        answer = await Api(Authorization=given).get("threads/")
        assert (answer.refusal, answer.headers["www-authenticate"]) == ((401, refused(code, message)), "Token"), given


async def test_a_token_is_marked_as_used(user: User, api: Api) -> None:
    before = timezone.now()
    await api.get("threads/")
    row = await ApiToken.objects.aget(user=user)
    assert row.last_used_at is not None
    assert before <= row.last_used_at <= timezone.now()


def refused(code: str, message: str) -> dict[str, Any]:
    return {"type": "authentication", "code": code, "message": message, "details": {}}


async def test_the_session_of_a_page_opens_the_api_and_writes_need_its_csrf_token(user: User) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(user)
    page = await client.get("/")
    assert (await client.get("/api/v1/threads/")).json() == {"next": None, "previous": None, "results": []}

    body = {"title": "From the page"}
    without = await client.post("/api/v1/threads/", body, content_type="application/json")
    assert (without.status_code, without.json()["error"]["type"]) == (403, "permission")
    assert without.json()["error"]["message"].startswith("CSRF Failed")
    token = page.context["csrf_token"]
    allowed = await client.post(
        "/api/v1/threads/", body, content_type="application/json", headers={"X-CSRFToken": str(token)}
    )
    assert (allowed.status_code, allowed.json()["title"]) == (201, "From the page")


async def test_a_token_needs_no_csrf_token(user: User) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    token = await in_database(tokens.issue)(user=user, name="script")
    answer = await client.post(
        "/api/v1/threads/", {}, content_type="application/json", headers={"Authorization": f"Token {token}"}
    )
    assert answer.status_code == 201


async def test_a_session_makes_a_token_once_it_was_proved_whose_it_is(person: User) -> None:
    body = {"name": "Backup", "scopes": ["files", "memory"], "addresses": ["127.0.0.1", "10.1.0.0/8"]}
    stale = Api()
    await stale.client.aforce_login(person)
    assert (await stale.post("auth/tokens/", body)).code == (403, "permission", "fresh_sign_in_needed")
    browser = stale
    await browser.client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    made = await browser.post("auth/tokens/", body)
    assert made.status == 201, made.body
    assert (made.status, made.body["scopes"], made.body["addresses"]) == (
        201,
        ["memory", "files"],
        ["127.0.0.1/32", "10.0.0.0/8"],
    )
    api = Api(Authorization=f"Token {made.body['token']}")
    assert [(await api.get(path)).status for path in ("files/", "memories/", "threads/")] == [200, 200, 403]
    (listed,) = (await browser.get("auth/tokens/")).body["results"]
    assert (listed["last_used_from"], "token" in listed) == ("127.0.0.1", False)
    assert (await browser.post("auth/tokens/", body | {"scopes": ["scim"]})).code[2] == "beyond_own_rights"
    for wrong in ({"addresses": ["here"]}, {"expires_at": "2020-01-01T00:00:00Z"}, {"scopes": ["root"]}, {"name": ""}):
        assert (await browser.post("auth/tokens/", body | wrong)).status == 400
    assert (await browser.call("DELETE", f"auth/tokens/{listed['id']}/")).status == 204
    assert (await api.get("files/")).status == 401


async def test_a_token_makes_none_that_may_more_than_itself(person: User) -> None:
    networks = ["127.0.0.0/8"]
    limited: dict[str, Any] = {"requests_minute": 20, "addresses": networks, "scopes": ["read", "write"], "days": 3}
    token = await in_database(tokens.issue)(user=person, name="parent", **limited)
    parent = await ApiToken.objects.aget(name="parent")
    api = Api(Authorization=f"Token {token}")
    refused: list[dict[str, Any]] = [{"scopes": ["read", "export"]}, {"scopes": ["read"], "addresses": ["10.0.0.0/8"]}]
    for body in refused:
        assert (await api.post("auth/tokens/", {"name": "child"} | body)).code[2] == "beyond_own_rights"
    made = (await api.post("auth/tokens/", {"name": "child", "scopes": ["read"], "requests_minute": 500})).body
    assert {name: made[name] for name in ("scopes", "addresses", "requests_minute", "expires_at")} == {
        "scopes": ["read"],
        "addresses": networks,
        "requests_minute": 20,
        "expires_at": moment(parent.expires_at),
    }


async def test_a_token_does_not_work_from_elsewhere(person: User) -> None:
    token = await in_database(tokens.issue)(user=person, name="office", addresses=["192.0.2.0/24"])
    answer = await Api(Authorization=f"Token {token}").get("threads/")
    assert (answer.code, answer.refusal[1]["details"]) == (
        (403, "permission", "address_not_allowed"),
        {"address": "127.0.0.1"},
    )
    assert (await ApiToken.objects.aget(name="office")).last_used_at is None
