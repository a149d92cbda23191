"""People sign in to servers by OAuth: at the authorization server of the SDK, and at those that lie; and what thieves get."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import AsyncClient
from pytest_django import Settings

from conversations.models import McpServer, McpSignIn, Thread
from conversations.models.mcp import SIGN_IN_PURPOSE
from conversations.runtime import clock, encryption
from conversations.runtime.db import in_database
from conversations.threads.deletion import delete_user
from tests import model_scripts as scripts
from tests.asgi_server import serving
from tests.conversations.factories import make_thread, make_user
from tests.conversations.mcp_client.sign_in_server import GuardedServer, guarded, signed_in_at, values_of
from tests.conversations.mcp_client.test_mcp_client import ask, loopback, results_of
from tests.conversations.mcp_client.tool_server import ToolServer, tool
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]
__all__ = ["loopback"]


@pytest.fixture
async def server() -> AsyncIterator[GuardedServer]:
    async with guarded(ToolServer([tool("list_open", read_only=True)])) as running:
        yield running


@pytest.fixture
def thread(user: User) -> Thread:
    return make_thread(user)


class Person:
    """With a token, and a browser in which they are signed in."""

    def __init__(self, user: User) -> None:
        self.user, self.api, self.browser = user, Api(user), AsyncClient()
        self.browser.force_login(user)

    async def connect(self, url: str, name: str = "tickets", **values: Any) -> str:
        row = await self.api.post("mcp-servers/", {"name": name, "url": url, **values})
        assert row.status == 201, row.body
        return str(row.body["id"])

    async def sign_in(self, server_id: str) -> str:
        """Where the browser is sent back to."""
        begun = await self.api.post(f"mcp-servers/{server_id}/sign-in/")
        assert begun.status == 200, begun.body
        return await signed_in_at(begun.body["url"])

    async def come_back(self, url: str) -> None:
        parts = urlsplit(url)
        assert (await self.browser.get(f"{parts.path}?{parts.query}")).status_code == 302

    async def is_signed_in(self) -> bool:
        return await McpSignIn.objects.filter(user=self.user).exclude(grant=b"").aexists()

    async def problem(self, server_id: str) -> str:
        """Why no sign-in is begun."""
        refused = await self.api.post(f"mcp-servers/{server_id}/sign-in/")
        assert refused.code == (409, "invalid_request", "server_sign_in_failed"), refused.body
        return str(refused.body["error"]["details"]["problem"])


def person_called(name: str, **values: Any) -> Person:
    return Person(make_user(name, **values))


@pytest.fixture
def person(user: User) -> Person:
    return Person(user)


async def test_a_person_signs_in_calls_tools_is_renewed_and_signs_out(
    person: Person, thread: Thread, model: ModelServer, server: GuardedServer
) -> None:
    accounts, tools = server.accounts, server.tools
    id = await person.connect(tools.url)
    refused = await person.api.post(f"mcp-servers/{id}/refresh/")
    assert "it asks for a sign-in" in refused.body["error"]["details"]["problem"]
    back = await person.sign_in(id)
    (client,) = accounts.clients.values()
    assert client.redirect_uris and [str(uri) for uri in client.redirect_uris] == [back.partition("?")[0]]
    (code,) = accounts.codes.values()
    assert (code.resource, code.scopes) == (tools.url, ["tools"])
    await person.come_back(back)
    row = (await person.api.get(f"mcp-servers/{id}/")).body
    assert (row["signs_in"], row["signed_in"], row["problem"]) == (True, True, "")
    (shown,) = row["tools"]
    await person.api.call("PATCH", f"mcp-servers/{id}/", {"allowed": {"list_open": shown["digest"]}})

    stored = await McpSignIn.objects.aget()
    (token,) = accounts.access
    assert (
        token.encode() not in bytes(stored.grant) and json.loads(_decrypted(stored))["token"]["access_token"] == token
    )

    async def call() -> str:
        model.script(scripts.tool_use("tickets__list_open", {}), scripts.text("One."))
        (told,) = await results_of(await ask(person.user, thread, "What is open?"))
        return told

    assert "It is done." in await call() and accounts.renewals == 0
    accounts.access.clear()  # the server takes this token no more
    assert "It is done." in await call() and accounts.renewals == 1
    await McpSignIn.objects.aupdate(expires_at=clock.now() + timedelta(seconds=5))
    assert "It is done." in await call() and accounts.renewals == 2
    accounts.access.clear()
    accounts.refresh.clear()
    assert "you have to sign in to it again" in await call()
    assert not await person.is_signed_in()

    await person.come_back(await person.sign_in(id))
    assert "It is done." in await call()
    (renewing,) = accounts.refresh
    assert (await person.api.call("DELETE", f"mcp-servers/{id}/")).status == 204
    assert accounts.revoked == [renewing] and not await McpSignIn.objects.aexists()


def _decrypted(row: McpSignIn) -> str:
    return encryption.decrypt(bytes(row.grant), purpose=SIGN_IN_PURPOSE)


async def test_two_at_once_renew_once_lock_no_row_and_an_account_that_is_deleted_is_signed_out(
    person: Person, server: GuardedServer
) -> None:
    accounts = server.accounts
    id = await person.connect(server.tools.url)
    await person.come_back(await person.sign_in(id))
    accounts.access.clear()
    accounts.held = asyncio.Event()
    asked = [asyncio.create_task(person.api.post(f"mcp-servers/{id}/refresh/")) for _ in range(2)]
    await asyncio.to_thread(until, lambda: accounts.renewals)

    def lock() -> McpSignIn:
        with transaction.atomic():
            return McpSignIn.objects.select_for_update(nowait=True).get()

    assert (await in_database(lock)()).renewing_until
    accounts.held.set()
    assert [answer.status for answer in await asyncio.gather(*asked)] == [200, 200]
    assert accounts.renewals == 1 and (await in_database(lock)()).renewing_until is None

    (renewing,) = accounts.refresh
    await in_database(delete_user)(person.user)
    assert accounts.revoked == [renewing]


async def test_each_person_signs_in_to_a_server_for_everybody(
    person: Person, thread: Thread, model: ModelServer, server: GuardedServer
) -> None:
    boss = await in_database(person_called)("boss", is_superuser=True, is_staff=True)
    id = await boss.connect(server.tools.url, for_all=True)
    await boss.come_back(await boss.sign_in(id))
    (shown,) = (await boss.api.get(f"mcp-servers/{id}/")).body["tools"]
    await boss.api.call("PATCH", f"mcp-servers/{id}/", {"allowed": {"list_open": shown["digest"]}})

    async def call() -> str:
        model.script(scripts.tool_use("tickets__list_open", {}), scripts.text("One."))
        (told,) = await results_of(await ask(person.user, thread, "What is open?"))
        return told

    assert "you have to sign in to it" in await call() and server.tools.calls == []
    page = await person.browser.get("/account/servers/")
    assert "Servers for everybody that you sign in to" in page.content.decode()
    await person.come_back(await person.sign_in(id))
    assert "It is done." in await call()
    used = {headers["authorization"] for headers in server.tools.headers}
    assert len(used) == 2  # each has a token of their own
    assert (await person.api.get(f"mcp-servers/{id}/")).status == 404  # and no more of it than that


async def test_what_comes_back_counts_once_for_who_began_it_and_from_whom_it_was_asked(
    person: Person, server: GuardedServer
) -> None:
    id = await person.connect(server.tools.url)
    other = await in_database(person_called)("mallory")
    theirs = await other.connect(server.tools.url)
    stolen = await other.sign_in(theirs)
    await person.come_back(stolen.replace(theirs, id))  # somebody else's code, in this person's browser
    assert not await person.is_signed_in()

    back = await person.sign_in(id)
    values = values_of(back)
    await person.come_back(back.replace(values["state"], "x" * len(values["state"])))
    await person.come_back(back)  # one try
    assert not await person.is_signed_in()

    server.accounts.issuer, honest = "https://other.example.org/", server.accounts.issuer
    await person.come_back(await person.sign_in(id))  # the answer names another issuer
    server.accounts.issuer = honest
    assert not await person.is_signed_in() and "/token" not in server.asked

    back = await person.sign_in(id)
    await McpSignIn.objects.filter(user=person.user).aupdate(pending_at=clock.now() - timedelta(minutes=11))
    await person.come_back(back)
    assert not await person.is_signed_in()
    back = await person.sign_in(id)
    await person.come_back(back)
    assert await person.is_signed_in()


async def test_a_token_goes_to_the_server_that_it_is_for_and_nowhere_else(
    person: Person, server: GuardedServer, settings: Settings
) -> None:
    heard: list[dict[str, str]] = []

    async def thief(scope: Any, receive: Any, send: Any) -> None:
        heard.append({name.decode(): value.decode() for name, value in scope["headers"]} | {"path": scope["path"]})
        await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async with serving(thief) as elsewhere:

        async def redirecting(scope: Any, receive: Any, send: Any) -> None:
            headers = [(b"location", f"{elsewhere}/mcp".encode()), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body"})

        id = await person.connect(server.tools.url)
        await person.come_back(await person.sign_in(id))
        honest, server.tools.application = server.tools.application, redirecting  # type: ignore[method-assign]
        async with guarded(server.tools) as moved:
            grant = json.loads(_decrypted(await McpSignIn.objects.aget()))
            moved.accounts.access, tools = server.accounts.access, moved.tools
            # the server now answers at another address, which the grant is not for
            await McpServer.objects.aupdate(url=tools.url)
            refused = await person.api.post(f"mcp-servers/{id}/refresh/")
            assert refused.body["error"]["details"]["problem"] == "you have to sign in to it again"
            # and one that it is for redirects elsewhere
            await person.come_back(await person.sign_in(id))
            assert (await person.api.post(f"mcp-servers/{id}/refresh/")).status == 409
            assert heard == [] and grant["server"] != tools.url
        server.tools.application = honest  # type: ignore[method-assign]

        changed = await person.api.call("PATCH", f"mcp-servers/{id}/", {"url": f"{elsewhere}/mcp"})
        assert (changed.body["signs_in"], changed.body["signed_in"]) == (False, False)
        await person.api.post(f"mcp-servers/{id}/refresh/")
        assert heard and not any("authorization" in headers for headers in heard)


def answering(documents: dict[str, Any], site: list[str]) -> Any:
    """A server that asks for a sign-in and describes it so: documents by the beginning of their path."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found = next((body for path, body in documents.items() if scope["path"].startswith(path)), None)
        body = json.dumps(found).replace("SITE", site[0]).encode()
        status = 401 if found is None else 200
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if isinstance(found, str):
            status, headers = 302, [(b"location", found.replace("SITE", site[0]).encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if status == 302 else body})

    return application


RESOURCE, ISSUER = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
DESCRIBED = {"resource": "SITE/mcp", "authorization_servers": ["SITE"]}
SIGNS_IN = {
    "issuer": "SITE",
    "authorization_endpoint": "SITE/authorize",
    "token_endpoint": "SITE/token",
    "registration_endpoint": "SITE/register",
    "code_challenge_methods_supported": ["S256"],
}
BAD: dict[str, dict[str, Any]] = {
    "it does not say who signs people in": {},
    "it leads to the sign-in of another server": {RESOURCE: DESCRIBED | {"resource": "https://bank.example.org/mcp"}},
    "who signs people in to it answers what can't be trusted": {
        RESOURCE: DESCRIBED,
        ISSUER: SIGNS_IN | {"issuer": "https://bank.example.org"},
    },
    "who signs people in to it does not bind codes": {
        RESOURCE: DESCRIBED,
        ISSUER: SIGNS_IN | {"code_challenge_methods_supported": ["plain"]},
    },
    "it leads to an address that is not asked": {
        RESOURCE: DESCRIBED,
        ISSUER: SIGNS_IN | {"token_endpoint": "http://169.254.169.254/token"},
    },
    "who signs people in to it does not describe itself": {
        RESOURCE: DESCRIBED,
        ISSUER: "SITE/elsewhere",  # a redirect
        "/elsewhere": SIGNS_IN,
    },
}


async def test_a_sign_in_that_is_described_wrongly_is_not_begun(person: Person, settings: Settings) -> None:
    settings.OPENBOOK_INNER_NETWORKS = (ip_network("127.0.0.0/8"),)
    for number, (problem, documents) in enumerate(BAD.items()):
        site = [""]
        async with serving(answering(documents, site)) as url:
            site[0] = url
            id = await person.connect(f"{url}/mcp", name=f"bad{number}")
            assert (await person.problem(id)).startswith(problem)
    assert not await McpSignIn.objects.aexists()


async def test_this_installation_describes_itself_to_who_signs_people_in(person: Person, server: GuardedServer) -> None:
    id = await person.connect(server.tools.url)
    document = (await AsyncClient().get(f"/mcp-clients/{id}/")).json()
    assert document["client_id"] == f"http://testserver/mcp-clients/{id}/"
    assert document["redirect_uris"] == [f"http://testserver/account/servers/{id}/callback/"]
    assert document["token_endpoint_auth_method"] == "none"
