"""Who may call the server of the Model Context Protocol, with what and from where."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from conversations.accounts import tokens
from conversations.models import ApiToken, Scope
from conversations.runtime.db import in_database
from tests.conversations.rest.client import Api, ApiResponse
from tests.memory.mcp.conftest import token_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

JSON = {"Accept": "application/json, text/event-stream"}


async def listed(token: str = "", method: str = "POST", body: Any = None, **headers: str) -> ApiResponse:
    asked = body or {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    known = {"Authorization": f"Bearer {token}"} if token else {}
    return await Api(None, **JSON, **known).call(method, "/mcp/", asked, **headers)


async def test_a_token_opens_it_and_nothing_else_does(user: User) -> None:
    token = await token_of(user)
    allowed = await listed(token)
    assert (allowed.status, len(allowed.body["result"]["tools"])) == (200, 6)
    assert "mcp-session-id" not in allowed.headers
    for refused in (await listed(), await listed("ob_wrong"), await listed(Authorization=f"Basic {token}")):
        assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    signed_in = Api(None, **JSON)
    await in_database(signed_in.client.force_login)(user)
    assert (await signed_in.post("/mcp/", {"jsonrpc": "2.0", "id": 1, "method": "ping"})).status == 401
    narrow = await token_of(user, Scope.MEMORY)
    for method in ("GET", "DELETE"):  # there is no stream to listen to, and no session to end
        assert (await listed(narrow, method)).status == 405


async def test_what_holds_for_tokens_holds_here(user: User) -> None:
    elsewhere = await token_of(user, addresses=["192.0.2.0/24"])
    assert (await listed(elsewhere)).code == (403, "permission", "address_not_allowed")
    once = await token_of(user, requests_minute=1)
    first, *others = [await listed(once) for _ in range(3)]  # a minute may end in between
    second = next(each for each in others if each.status == 429)
    assert first.status == 200
    assert ("ratelimit" in first.headers, "retry-after" in second.headers) == (True, True)
    past = await token_of(user)
    await ApiToken.objects.filter(digest=tokens.digest(past)).aupdate(expires_at=timezone.now())
    gone = await token_of(user)
    await in_database(tokens.revoke)(ApiToken.objects.filter(digest=tokens.digest(gone)))
    left = await token_of(user)
    assert [(await listed(each)).status for each in (past, gone, left)] == [401, 401, 200]
    await User.objects.filter(pk=user.pk).aupdate(is_active=False)
    assert (await listed(left)).status == 401


@pytest.mark.parametrize(
    ("origin", "status"), [("http://testserver", 200), ("https://evil.example", 403), ("null", 403)]
)
async def test_pages_of_other_sites_are_refused(user: User, settings: Settings, origin: str, status: int) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    assert (await listed(await token_of(user), Origin=origin)).status == status


async def test_what_is_too_large_or_no_json_is_refused(user: User, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    token = await token_of(user, Scope.MEMORY)
    note = {"name": "remember", "arguments": {"content": "x" * 2_000}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": note}
    assert (await listed(token, body=call)).code == (413, "invalid_request", "message_too_long")
    api = Api(None, **JSON, Authorization=f"Bearer {token}")
    assert (await api.send("POST", "/mcp/", b"{")).status == 400
    assert (await api.post("/mcp/", [1])).status == 400
    assert (await listed(token, body={"jsonrpc": "2.0", "id": 1, "method": "no/such"})).body["error"]["code"] == -32601
