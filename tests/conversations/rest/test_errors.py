"""Every failure of the API has one shape, a fitting status, and the id under which the log tells more."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import AsyncClient
from django.utils import timezone

from conversations import threads
from conversations.accounts import tokens
from conversations.rest import messages_body
from conversations.runtime import rate_counters
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api, ApiResponse

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

THREAD_ID = "0198c0de-0000-7000-8000-000000000000"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A call that fails, and how it is told: status and code, and what stands in these headers."""

    call: str = "GET threads/"
    body: bytes = b""
    is_a: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    token: str = "full"
    broken: Exception | None = None
    status: int
    code: str
    told: dict[str, str] = field(default_factory=dict)


TYPES = {
    400: "invalid_request",
    401: "authentication",
    403: "permission",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "precondition_failed",
    413: "invalid_request",
    415: "unsupported_media_type",
    429: "rate_limited",
    500: "internal",
    503: "unavailable",
}
THEIR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "request_too_large",
    415: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
SEND = "POST threads/new/messages/"
MESSAGES = "POST /v1/messages"
THREAD = f"threads/{THREAD_ID}/"


def nested(depth: int, name: str = "content") -> bytes:
    return b'{"%s": %s%s}' % (name.encode(), b"[" * depth, b"]" * depth)


def asking(thread: str = "") -> bytes:
    call = {"model": "companion", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    return json.dumps(call | ({"metadata": {"thread": thread}} if thread else {})).encode()


CASES = {
    "no JSON": Case(call=SEND, body=b"{", status=400, code="parse_error"),
    "no body": Case(call=SEND, status=400, code="invalid_message"),
    "bad UTF-8": Case(call=f"{SEND}stream/", body=b'{"content": "\xff\xfe"}', status=400, code="parse_error"),
    "no number": Case(call=SEND, body=b'{"content": NaN}', status=400, code="parse_error"),
    "two values": Case(call=SEND, body=b'{"content": "x"} {}', status=400, code="parse_error"),
    "a huge number": Case(call=SEND, body=b"1" * 5_000, status=400, code="parse_error"),
    "nested": Case(call=SEND, body=nested(90), status=400, code="invalid_message"),
    "nested too deep": Case(call=SEND, body=nested(990), status=400, code="parse_error"),
    "manifold": Case(call=SEND, body=b'{"content": [%s[]]}' % (b"[]," * 30_000), status=400, code="parse_error"),
    "nested deeply": Case(call=f"{SEND}stream/", body=nested(9_995), status=400, code="parse_error"),
    "nested very deeply": Case(call="POST threads/new/context/", body=nested(100_000), status=400, code="parse_error"),
    "wrong value": Case(call="POST threads/", body=b'{"title": []}', status=400, code="invalid"),
    "unknown value": Case(call="POST threads/", body=b'{"assistant": "x"}', status=400, code="invalid_message"),
    "NUL": Case(call="POST threads/", body=b'{"title": "a\\u0000"}', status=400, code="invalid"),
    "unknown parameter": Case(call="GET threads/?sort=x", status=400, code="unknown_parameter"),
    "no cursor": Case(call="GET threads/?cursor=%00", status=400, code="invalid_page"),
    "a cursor of nothing": Case(call="GET threads/?cursor=AAAA", status=400, code="invalid_page"),
    "a cursor of another list": Case(call="GET threads/?cursor=cD14", status=400, code="invalid_page"),
    "foreign host": Case(headers={"Host": "evil.example"}, status=400, code="bad_request"),
    "nobody": Case(token="none", status=401, code="not_authenticated", told={"www-authenticate": "Token"}),
    "nobody, async": Case(call=f"GET {THREAD}messages/", token="none", status=401, code="not_authenticated"),
    "wrong token": Case(token="wrong", status=401, code="authentication_failed", told={"www-authenticate": "Token"}),
    "narrow token": Case(call="POST threads/", token="reader", status=403, code="insufficient_scope"),
    "unknown id": Case(call="GET threads/7/", status=404, code="thread_not_found"),
    "unknown call": Case(call="GET nothing/", status=404, code="not_found"),
    "unknown call of nobody": Case(call="PUT auth/", token="none", status=404, code="not_found"),
    "no slash": Case(call="POST threads/new/messages", status=404, code="not_found"),
    "dots": Case(call="DELETE ../../etc/", status=404, code="not_found"),
    "nothing": Case(call="GET /api/v1/", status=404, code="not_found"),
    "no such method": Case(
        call="PUT threads/", status=405, code="method_not_allowed", told={"allow": "GET, HEAD, POST, PATCH"}
    ),
    "no such method, async": Case(
        call="GET threads/new/messages/stream/", status=405, code="method_not_allowed", told={"allow": "POST"}
    ),
    "asking for methods": Case(
        call="OPTIONS requests/7/", status=405, code="method_not_allowed", told={"allow": "GET, HEAD"}
    ),
    "reply in progress": Case(
        call=f"POST {THREAD}messages/", body=b'{"content": "x"}', status=409, code="reply_in_progress"
    ),
    "changed meanwhile": Case(
        call=f"DELETE {THREAD}", headers={"If-Match": '"seen"'}, status=412, code="precondition_failed"
    ),
    "too large": Case(call=SEND, body=b"x" * 2_001, status=413, code="message_too_long"),
    "too large, unannounced": Case(
        call=SEND,
        body=b"x" * 2_001,
        headers={"Content-Length": "", "Transfer-Encoding": "chunked"},
        status=413,
        code="message_too_long",
    ),
    "a form": Case(
        call=SEND, body=b"x=1", is_a="application/x-www-form-urlencoded", status=415, code="unsupported_media_type"
    ),
    "too often": Case(token="slow", status=429, code="rate_limited", told={"retry-after": "45"}),
    "our failure": Case(broken=ZeroDivisionError("secret"), status=500, code="internal"),
    "our failure, async": Case(
        call=f"GET {THREAD}messages/", broken=ZeroDivisionError("secret"), status=500, code="internal"
    ),
    "no database": Case(broken=OperationalError("secret"), status=503, code="unavailable"),
}
THEIR_CASES = {
    "no JSON": Case(call=MESSAGES, body=b"{", status=400, code="parse_error"),
    "bad UTF-8": Case(call=MESSAGES, body=b'{"model": "\xff"}', status=400, code="parse_error"),
    "a huge number": Case(call=MESSAGES, body=b"1" * 5_000, status=400, code="parse_error"),
    "nested deeply": Case(call=MESSAGES, body=nested(100_000, "metadata"), status=400, code="parse_error"),
    "wrong value": Case(call=MESSAGES, body=b'{"messages": 7}', status=400, code="invalid_message"),
    "foreign host": Case(call=MESSAGES, headers={"Host": "evil.example"}, status=400, code="bad_request"),
    "nobody": Case(
        call=MESSAGES, token="none", status=401, code="authentication_failed", told={"www-authenticate": "Bearer"}
    ),
    "narrow token": Case(call=MESSAGES, body=asking(), token="reader", status=403, code="insufficient_scope"),
    "unknown id": Case(call=MESSAGES, body=asking("7"), status=404, code="thread_not_found"),
    "unknown model": Case(call="GET /v1/models/x", status=404, code="not_found"),
    "unknown call": Case(call="POST /v1/complete", status=404, code="not_found"),
    "no such method": Case(call="GET /v1/messages", status=405, code="method_not_allowed", told={"allow": "POST"}),
    "reply in progress": Case(call=MESSAGES, body=asking(THREAD_ID), status=409, code="reply_in_progress"),
    "too large": Case(call=MESSAGES, body=b"x" * 2_001, status=413, code="message_too_long"),
    "a form": Case(call=MESSAGES, body=b"x=1", is_a="text/plain", status=415, code="unsupported_media_type"),
    "too often": Case(call="GET /v1/models", token="slow", status=429, code="rate_limited", told={"retry-after": "45"}),
    "our failure": Case(
        call=MESSAGES, body=asking(THREAD_ID), broken=ZeroDivisionError("secret"), status=500, code="internal"
    ),
    "no database": Case(
        call=MESSAGES, body=asking(THREAD_ID), broken=OperationalError("secret"), status=529, code="unavailable"
    ),
}


def raising(error: Exception) -> Callable[..., None]:
    def broken(*_: Any) -> None:
        raise error

    return broken


@pytest.fixture
def tokens_of(user: User) -> dict[str, str]:
    """By what each can be used for; the slow one can't be used any more for the rest of the minute."""
    reader = tokens.issue(user=user, name="reader", scopes=["read"])
    slow = tokens.issue(user=user, name="slow", requests_minute=1)
    return {"full": tokens.issue(user=user, name="full"), "reader": reader, "slow": slow, "wrong": "ob_wrong"}


@pytest.fixture
def failing(
    user: User, tokens_of: dict[str, str], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Callable[[Case], Awaitable[ApiResponse]]:
    """Makes the call of a case, where a reply runs in the only thread."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 250_000
    thread = make_thread(user, ["Hello?"], id=THREAD_ID)
    make_reply(thread, status="running", lease_until=timezone.now() + timedelta(seconds=50))

    async def call(case: Case) -> ApiResponse:
        rate_counters.HERE.clear()
        if case.status == 413:
            settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2_000
            monkeypatch.setattr(messages_body, "LARGEST_BODY", 2_000)
        method, path = case.call.split(" ", 1)
        api, scheme = Api(), "Bearer" if path.startswith("/v1/") else "Token"
        if case.token in tokens_of:
            api.headers["Authorization"] = f"{scheme} {tokens_of[case.token]}"
        with time_machine.travel(timezone.now().replace(second=15), tick=False):
            if case.token == "slow":
                assert (await api.call(method, path)).status == 200
            if case.broken:
                monkeypatch.setattr(threads, "of", raising(case.broken))
            return await api.send(method, path, case.body, case.is_a, **case.headers)

    return call


@pytest.mark.parametrize("name", CASES)
async def test_every_failure_has_the_one_shape(name: str, failing: Callable[[Case], Awaitable[ApiResponse]]) -> None:
    case = CASES[name]
    answer = await failing(case)
    status, error = answer.refusal
    assert (status, error["type"], error["code"]) == (case.status, TYPES[case.status], case.code)
    assert "secret" not in str(error)
    assert {name: answer.headers.get(name) for name in case.told} == case.told


@pytest.mark.parametrize("name", THEIR_CASES)
async def test_every_failure_has_the_shape_of_the_messages_api(
    name: str, failing: Callable[[Case], Awaitable[ApiResponse]]
) -> None:
    case = THEIR_CASES[name]
    answer = await failing(case)
    error = answer.body["error"]
    assert answer.body == {"type": "error", "error": error, "request_id": answer.headers["request-id"]}
    assert error["details"].pop("code") == error["code"] == case.code
    assert (answer.status, error["type"]) == (case.status, THEIR_TYPES[case.status])
    assert set(error) == {"type", "message", "param", "code", "details"}
    assert "secret" not in str(error)
    assert {name: answer.headers.get(name) for name in case.told} == case.told


async def test_a_refusal_says_what_to_do(failing: Callable[[Case], Awaitable[ApiResponse]]) -> None:
    said = {name: (await failing(CASES[name])).refusal[1] for name in ("unknown call", "too large", "our failure")}
    assert {name: (error["message"], error["details"]) for name, error in said.items()} == {
        "unknown call": (
            "The API has no such call: addresses end with a slash, and the list of calls is at /api/v1/docs/.",
            {},
        ),
        "too large": (
            "The request body is too large; the limit is 2,000 bytes. Send a shorter message.",
            {"limit": 2_000},
        ),
        "our failure": ("Something went wrong on the server. It is in the log under this request_id.", {}),
    }


async def test_head_is_get_without_a_body(user: User, api: Api) -> None:
    answer = await api.call("HEAD", "threads/")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")


async def test_answers_are_json_whatever_the_caller_would_rather_have(user: User, api: Api) -> None:
    cases: list[str] = ["text/html", "text/event-stream", "application/xml", "nonsense", "*/*"]
    for accept in cases:
        answer = await api.get("threads/", Accept=accept)
        assert (answer.status, answer.body["results"]) == (200, []), accept


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


async def test_a_form_without_its_token_gets_a_page() -> None:
    page = await AsyncClient(enforce_csrf_checks=True).post("/accounts/login/", {"username": "x", "password": "y"})
    assert page.status_code == 403
    assert "<h1>Please try that again</h1>" in page.content.decode()
