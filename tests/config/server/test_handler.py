"""Our handler answers as Django's does, and gives a call of the API no thread of its own."""

import re
import threading
from collections.abc import AsyncIterator
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.asgi import get_asgi_application
from django.test import Client

from config.server.handler import Handler
from conversations.accounts import tokens
from conversations.runtime.db import in_database
from tests.asgi_server import serving

pytestmark = pytest.mark.django_db(transaction=True)

EACH_TIME = re.compile(
    r"[0-9a-f]{32}|nonce-[^']+|csrftoken=\w+|value=\"\w{64}\"|nonce=\"[^\"]+\"|\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT"
)
CALLS = [
    ("GET", "/", {}),
    ("GET", "/accounts/login/", {}),
    ("POST", "/accounts/login/", {}),
    ("POST", "/accounts/logout/", {"Origin": "https://elsewhere.example"}),
    ("GET", "/admin/", {}),
    ("GET", "/nowhere/", {}),
    ("GET", "/nowhere", {}),
    ("GET", "/health/", {}),
    ("GET", "/api/v1/threads/", {}),
    ("GET", "/api/v1/threads/", {"Authorization": "Token {token}"}),
    ("GET", "/api/v1/nowhere/", {"Authorization": "Token {token}"}),
    ("GET", "/api/v1/threads/", {"Cookie": "{session}"}),
    ("POST", "/api/v1/threads/", {"Cookie": "{session}"}),
    ("POST", "/api/v1/threads/new/context/", {"Authorization": "Token {token}"}),
    ("GET", "/", {"Cookie": "{session}"}),
    ("POST", "/v1/messages", {}),
    ("GET", "/v1/models", {"X-Api-Key": "{token}"}),
]


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: str


class Keys(NamedTuple):
    token: str
    session: str


@pytest.fixture
async def keys(user: User) -> AsyncIterator[Keys]:
    client = Client()
    await sync_to_async(client.force_login)(user)
    [cookie] = client.cookies.values()
    yield Keys(token=await in_database(tokens.issue)(user=user, name="tests"), session=cookie.OutputString())


def answered(url: str, method: str, path: str, headers: dict[str, str]) -> Answer:
    """What differs each time is taken out."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    body = b'{"content": "Hello"}' if method == "POST" else None
    connection.request(method, path, body, {"Content-Type": "application/json", **headers})
    response = connection.getresponse()
    told = [(name.lower(), EACH_TIME.sub("", value)) for name, value in response.getheaders()]
    text = EACH_TIME.sub("", response.read().decode())
    connection.close()
    kept = sorted((name, value) for name, value in told if name not in {"ratelimit", "date", "set-cookie"})
    return Answer(response.status, kept, text if response.status >= 400 else "")


@pytest.mark.wide
@pytest.mark.parametrize(("method", "path", "headers"), CALLS)
async def test_an_answer_is_the_one_that_django_gives(
    keys: Keys, method: str, path: str, headers: dict[str, str]
) -> None:
    sent = {name: value.format(**keys._asdict()) for name, value in headers.items()}
    async with serving(get_asgi_application()) as theirs, serving(Handler()) as ours:
        expected = await sync_to_async(answered, thread_sensitive=False)(theirs, method, path, sent)
        assert await sync_to_async(answered, thread_sensitive=False)(ours, method, path, sent) == expected
    assert any(name == "content-security-policy" for name, _ in expected.headers)


async def test_a_call_of_the_api_has_no_thread_of_its_own(keys: Keys) -> None:
    begun: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        begun.append(thread.name)
        start(thread)

    async with serving(Handler()) as url:
        headers = {"Authorization": f"Token {keys.token}"}
        ask = sync_to_async(answered, thread_sensitive=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(threading.Thread, "start", noted)
            answer = await ask(url, "POST", "/api/v1/threads/new/context/", headers)
    assert answer.status == 200
    assert [name for name in begun if name.startswith("ThreadPoolExecutor")] == []
