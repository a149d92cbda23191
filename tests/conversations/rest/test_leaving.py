"""Clients that leave before they are answered: whatever was stored of their message is answered to the end."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application

from conversations.accounts import tokens
from conversations.models import Reply
from conversations.runtime.db import in_database
from tests.asgi_server import serving
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.test_cancelled_changes import blocked, hold_rows
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "model")]

QUESTION = "What now?"
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "messages": ("/api/v1/threads/{thread}/messages/", {"content": QUESTION}),
    "stream": ("/api/v1/threads/{thread}/messages/stream/", {"content": QUESTION}),
    "retry": ("/api/v1/replies/{reply}/retry/", {}),
    "v1": (
        "/v1/messages",
        {"model": "companion", "max_tokens": 9, "messages": [{"role": "user", "content": QUESTION}]},
    ),
}


class Client:
    """Each request goes over a socket of its own. ``handled`` of them are over for the server, however they ended."""

    def __init__(self, key: str) -> None:
        self.key, self.url, self.handled = key, "", 0
        self.application = get_asgi_application()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self.application(scope, receive, send)
        finally:
            self.handled += 1

    async def send(self, path: str, body: dict[str, Any]) -> asyncio.StreamWriter:
        """What it is sent over: to close that is to leave."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        data = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        )
        proof = f"x-api-key: {self.key}" if path.startswith("/v1/") else f"Authorization: Token {self.key}"
        writer.write(f"{head}{proof}\r\n\r\n".encode() + data)
        await writer.drain()
        return writer


@pytest.fixture
async def client(user: User) -> AsyncIterator[Client]:
    client = Client(await in_database(tokens.issue)(user=user, name="tests"))
    async with serving(client) as client.url:
        yield client


@pytest.mark.parametrize("call", CALLS)
async def test_a_reply_that_is_being_stored_when_its_client_leaves_is_finished(
    user: User, client: Client, call: str
) -> None:
    thread = await in_database(make_thread)(user, [QUESTION])
    reply = await in_database(make_reply)(thread)
    path, body = CALLS[call]
    with hold_rows("LOCK TABLE conversations_reply IN SHARE MODE") as other:
        writer = await client.send(path.format(thread=thread.id, reply=reply.id), body)
        await asyncio.to_thread(until, lambda: blocked(other))
        writer.close()
        await asyncio.to_thread(until, lambda: client.handled)
    running = Reply.objects.filter(status=Reply.Status.RUNNING)
    await asyncio.to_thread(until, lambda: Reply.objects.count() == 2 and not running.exists())
    assert [status async for status in Reply.objects.values_list("status", flat=True)] == [Reply.Status.COMPLETED] * 2
