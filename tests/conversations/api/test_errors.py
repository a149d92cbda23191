"""Every failure of the API has one shape, a fitting status, and the id under which the log tells more."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from conversations import threads
from tests.conversations.api.client import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NO_CALL = "The API has no such call: addresses end with a slash, and the list of calls is at /api/v1/docs/."


def error(type: str, code: str, message: str, **details: Any) -> dict[str, Any]:
    return {"type": type, "code": code, "message": message, "details": details}


@pytest.mark.parametrize(
    "body",
    [b"{", b"", b"\xff\xfe", b'{"content": NaN}', b'{"content": "x"} {}', b"1" * 5_000],
    ids=lambda body: body[:20],
)
@pytest.mark.parametrize("path", ["threads/new/messages/", "threads/new/messages/stream/", "threads/new/context/"])
async def test_what_is_no_json_is_refused(user: User, api: Api, path: str, body: bytes) -> None:
    answer = await api.send("POST", path, body)
    assert (answer.status, answer.refusal[1]["type"]) == (400, "invalid_request")


@pytest.mark.parametrize("depth", [990, 1_000, 3_000, 9_000, 9_990, 9_995, 9_999, 10_000, 100_000])
@pytest.mark.parametrize("field", ["content", "client_message_id", "else"])
async def test_json_of_any_depth_is_refused_in_words(user: User, api: Api, depth: int, field: str) -> None:
    body = b'{"%s": %s%s}' % (field.encode(), b"[" * depth, b"]" * depth)
    answer = await api.send("POST", "threads/new/messages/", body)
    assert (answer.status, answer.refusal[1]["type"]) == (400, "invalid_request")


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"])
async def test_what_is_no_json_by_its_own_word_is_refused(user: User, api: Api, content_type: str) -> None:
    answer = await api.send("POST", "threads/new/messages/", b'{"content": "Hello"}', content_type)
    assert answer.refusal == (
        415,
        error(
            "unsupported_media_type",
            "unsupported_media_type",
            f'Unsupported media type "{content_type}" in request.',
        ),
    )


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_is_refused_and_the_limit_named(
    user: User, api: Api, settings: Any, chunked: bool
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    body = json.dumps({"content": "x" * 1_000}).encode()
    lengths = {"Content-Length": "", "Transfer-Encoding": "chunked"} if chunked else {}
    assert (await api.send("POST", "threads/new/messages/", body, **lengths)).refusal == (
        413,
        error(
            "invalid_request",
            "message_too_long",
            "The request body is too large; the limit is 1,000 bytes. Send a shorter message.",
            limit=1_000,
        ),
    )


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "path", ["", "nothing/", "threads", "threads//", "threads/new/messages", "auth/", "../../etc/"]
)
async def test_an_unknown_call_is_named_as_such(_shipped_assistants: None, method: str, path: str) -> None:
    client = Api()
    client.client = AsyncClient(enforce_csrf_checks=True, raise_request_exception=False)
    answer = await client.call(method, path)
    assert answer.refusal in [
        (404, error("not_found", "not_found", NO_CALL)),
        (401, error("authentication", "not_authenticated", "Authentication credentials were not provided.")),
    ]
    assert answer.status == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "threads/", "GET, POST, HEAD"),
        ("DELETE", "threads/", "GET, POST, HEAD"),
        ("OPTIONS", "threads/", "GET, POST, HEAD"),
        ("OPTIONS", "threads/new/messages/", "GET, POST, HEAD"),
        ("PATCH", "threads/new/messages/", "GET, POST, HEAD"),
        ("GET", "threads/new/messages/stream/", "POST"),
        ("GET", "threads/new/context/", "POST"),
        ("DELETE", "requests/7/", "GET, HEAD"),
        ("GET", "replies/7/stop/", "POST"),
    ],
)
async def test_a_method_that_a_call_has_not_is_refused(
    user: User, api: Api, method: str, path: str, allowed: str
) -> None:
    answer = await api.call(method, path)
    message = f'Method "{method}" not allowed.'
    assert answer.refusal == (405, error("method_not_allowed", "method_not_allowed", message))
    assert sorted(answer.headers["allow"].split(", ")) == sorted(allowed.split(", "))


async def test_head_is_get_without_a_body(user: User, api: Api) -> None:
    answer = await api.call("HEAD", "threads/")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", "application/xml", "nonsense", "*/*"])
async def test_answers_are_json_whatever_the_caller_would_rather_have(user: User, api: Api, accept: str) -> None:
    answer = await api.get("threads/", Accept=accept)
    assert (answer.status, answer.body["results"]) == (200, [])


@pytest.mark.parametrize("path", ["threads/", "threads/0/messages/"])
async def test_whoever_is_unknown_is_challenged(_shipped_assistants: None, path: str) -> None:
    answer = await Api().get(path)
    assert answer.refusal == (
        401,
        error("authentication", "not_authenticated", "Authentication credentials were not provided."),
    )
    assert answer.headers["www-authenticate"] == "Token"


@pytest.mark.parametrize("path", ["threads/", "threads/0198c0de-0000-7000-8000-000000000000/messages/"])
async def test_a_failure_of_ours_is_told_without_its_details(
    user: User, api: Api, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(threads, "of", broken)
    answer = await api.get(path)
    assert answer.refusal == (
        500,
        error("internal", "internal", "Something went wrong on the server. It is in the log under this request_id."),
    )


async def test_a_host_that_is_not_ours_is_refused_before_any_view(user: User, api: Api) -> None:
    answer = await api.get("threads/", Host="evil.example")
    assert answer.refusal == (
        400,
        error("invalid_request", "bad_request", "The request can't be read. Check its address, host and headers."),
    )


async def test_a_callers_own_request_id_is_kept_where_it_is_plain(user: User, api: Api) -> None:
    kept = await api.get("requests/x/", **{"X-Request-ID": "trace:7-a.b"})
    replaced = await api.get("requests/x/", **{"X-Request-ID": 'a"b c'})
    assert kept.body["error"]["request_id"] == kept.headers["x-request-id"] == "trace:7-a.b"
    assert replaced.refusal[0] == 404
    assert replaced.headers["x-request-id"] != 'a"b c'


@pytest.mark.parametrize(
    ("path", "headers", "status", "title"),
    [
        ("/nothing/", {}, 404, "There is nothing here"),
        ("/threads/0198c0de-0000-7000-8000-000000000000/", {}, 404, "There is nothing here"),
        ("/", {"Host": "evil.example"}, 400, "That request can’t be read"),
    ],
)
async def test_people_get_a_page(user: User, path: str, headers: dict[str, str], status: int, title: str) -> None:
    client = AsyncClient(raise_request_exception=False)
    await client.aforce_login(user)
    page = await client.get(path, headers=headers)
    assert (page.status_code, page.headers["Content-Type"].split(";")[0]) == (status, "text/html")
    assert f"<h1>{title}</h1>" in page.content.decode()
    assert page.headers["X-Request-ID"]


async def test_the_page_of_a_failure_of_ours_needs_no_database(
    user: User, monkeypatch: pytest.MonkeyPatch, django_db_blocker: Any
) -> None:
    client = AsyncClient(raise_request_exception=False)
    await client.aforce_login(user)

    def broken(*args: Any) -> None:
        django_db_blocker.block()
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(threads, "get", broken)
    try:
        page = await client.get("/threads/0198c0de-0000-7000-8000-000000000000/")
    finally:
        django_db_blocker.restore()
    assert page.status_code == 500
    assert "<h1>Something went wrong</h1>" in page.content.decode()
    assert "secret" not in page.content.decode()


async def test_a_form_without_its_token_gets_a_page(_shipped_assistants: None) -> None:
    page = await AsyncClient(enforce_csrf_checks=True).post("/accounts/login/", {"username": "x", "password": "y"})
    assert page.status_code == 403
    assert "<h1>Please try that again</h1>" in page.content.decode()
