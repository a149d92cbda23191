"""Large bodies at a real server: many at once take little memory, and nobody who isn't signed in fills its disk."""

import http.client
import json
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.clients import ServerClient
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.test_long_work import ALL_MB, ENVIRONMENT, PASSWORD, call_with, grows_by_at_most, posted
from tests.waiting import until

PEOPLE, EACH = 5, int(os.environ.get("OPENBOOK_TEST_BODIES", "1"))
FOR_ALL_MB = ALL_MB * EACH / 8
"""As much for each as where they all are eight."""
ASKED, ANSWERED = (b'{"role": "%s", "content": "%s"}' % (role, b"x" * 90) for role in (b"user", b"assistant"))
TURNS = 7_500 if EACH > 1 else 1_500
"""Of a history."""
NEARLY = 1_265_536
"""Bytes that a body of the API may have; none as large waits for its turn."""
COPIED = """
INSERT INTO auth_user (username, password, is_active, is_staff, is_superuser, first_name, last_name, email, date_joined)
SELECT 'person' || number, password, true, false, false, '', '', '', now()
FROM auth_user, generate_series(1, %s) AS number WHERE username = 'admin'
"""


@pytest.fixture(scope="module")
def database(migrated: str) -> Iterator[str]:
    with fresh_database(migrated) as database:
        yield database


@pytest.fixture(scope="module")
def running(database: str) -> Iterator[ServerProcess]:
    with server(database, **ENVIRONMENT) as running:
        yield running


@pytest.fixture(scope="module")
def people(running: ServerProcess, database: str) -> list[ServerClient]:
    with psycopg.connect(database) as connection:
        connection.execute(COPIED, [PEOPLE])
    return [ServerClient.signed_in(running.url, f"person{number}", PASSWORD) for number in range(1, PEOPLE + 1)]


def filled(beginning: str, filling: str, end: str) -> bytes:
    """A body of nearly as many bytes as it may have."""
    room = NEARLY - len((beginning + end).encode())
    return (beginning + filling * (room // len(filling.encode())) + end).encode()


BODIES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a wide text": ("threads/new/messages/", lambda: filled('{"content": "', "🍵", '"}')),
    "an escaped text": ("threads/new/messages/", lambda: filled('{"content": "', "\\u00e9", '"}')),
    "an artifact": ("threads/{thread}/artifacts/", lambda: filled('{"title": "T", "content": "', "é", '"}')),
    "values": ("threads/", lambda: filled('{"x": [' + "[]," * 19_000 + '[]], "y": "', "x", '"}')),
    "a history": (
        "/v1/messages",
        lambda: call_with(b'"messages": [' + b", ".join([ASKED, ANSWERED] * (TURNS // 2 - 50) + [ASKED]) + b"]"),
    ),
    "a refused history": ("/v1/messages", lambda: call_with(b'"messages": [' + b", ".join([ASKED] * TURNS) + b"]")),
}


def send(client: ServerClient, path: str, body: bytes) -> int:
    with posted(client, path if path.startswith("/") else f"/api/v1/{path}", body) as response:
        response.read()
        return response.status


@pytest.mark.once("a history")
@pytest.mark.parametrize("name", BODIES)
def test_many_bodies_that_wait_for_none_take_no_more_than_there_is_for_all(
    running: ServerProcess, people: list[ServerClient], name: str
) -> None:
    path, make = BODIES[name]
    body = make()
    calls = []
    for client in people:
        thread = client.call("POST", "threads/", {})["id"]
        calls += [(client, path.format(thread=thread), body)] * EACH
    with grows_by_at_most(running, FOR_ALL_MB), ThreadPoolExecutor(len(calls)) as programs:
        statuses = set(programs.map(lambda call: send(*call), calls))
    assert statuses <= {200, 201, 400, 409, 413, 429, 503, 529}, statuses


Answer = tuple[int, http.client.HTTPMessage, Any]


@contextmanager
def begin_request(
    url: str, path: str, *headers: str, body: bytes = b"", kind: str = "application/json"
) -> Iterator[socket.socket]:
    """A request of which no more is sent yet."""
    address = urlsplit(url)
    with closing(socket.create_connection((address.hostname, address.port), timeout=60)) as sent:
        lines = [f"POST {path} HTTP/1.1", f"Host: {address.netloc}", f"Content-Type: {kind}", *headers, "", ""]
        sent.sendall("\r\n".join(lines).encode() + body)
        yield sent


def read_answer(sent: socket.socket) -> Answer:
    answer = http.client.HTTPResponse(sent)
    answer.begin()
    return answer.status, answer.headers, json.loads(answer.read())


def token_of(client: ServerClient) -> str:
    return f"Authorization: Token {client.token}"


def announced(mebibytes: float) -> str:
    return f"Content-Length: {int(mebibytes * 2**20)}"


def chunk(mebibytes: float) -> bytes:
    size = int(mebibytes * 2**20)
    return b"%x\r\n%s\r\n" % (size, b"x" * size)


def spooled(running: ServerProcess) -> int:
    """Bytes in files of the server that have no name."""
    total = 0
    for link in Path(f"/proc/{running.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            total += link.stat().st_size if str(link.readlink()).endswith("(deleted)") else 0
    return total


@pytest.mark.parametrize("is_announced", [True, False])
@pytest.mark.parametrize(
    ("path", "challenge", "code"),
    [
        ("/api/v1/import/", "Token", "not_authenticated"),
        ("/api/v1/threads/new/messages/", "Token", "not_authenticated"),
        ("/v1/messages", "Bearer", "not_authenticated"),
        ("/api/v1/auth/token/", None, "message_too_long"),
        ("/accounts/login/", None, "message_too_long"),
    ],
)
def test_who_offers_no_credentials_is_refused_before_the_body(
    running: ServerProcess, path: str, challenge: str | None, code: str, is_announced: bool
) -> None:
    how = announced(1) if is_announced else "Transfer-Encoding: chunked"
    with begin_request(running.url, path, how, "Cookie: csrftoken=x", body=b"" if is_announced else chunk(0.1)) as sent:
        status, headers, body = read_answer(sent)
        assert spooled(running) == 0
    error = body["error"]
    assert (status, headers["WWW-Authenticate"]) == (401 if challenge else 413, challenge)
    assert error.get("code") or error["details"]["code"] == code
    assert (body.get("request_id") or error["request_id"]) == headers["X-Request-ID"]


def test_a_form_of_a_stranger_is_still_taken(running: ServerProcess) -> None:
    with begin_request(running.url, "/api/v1/auth/token/", "Content-Length: 60000", body=b"x" * 60_000) as sent:
        assert read_answer(sent)[0] == 400


@pytest.fixture(scope="module")
def small(database: str) -> Iterator[ServerProcess]:
    """A server that takes in 4 MiB at once."""
    of_each = dict.fromkeys(("OPENBOOK_MAX_IMPORT_MB", "OPENBOOK_MAX_IMPORT_ZIP_MB", "OPENBOOK_MAX_FILE_MB"), "3")
    limits = of_each | {"OPENBOOK_MAX_UPLOADS_MB": "4"}
    with server(database, **ENVIRONMENT, **limits) as running:
        yield running


def test_all_bodies_together_take_so_much_of_a_disk(small: ServerProcess, people: list[ServerClient]) -> None:
    first, second = (ServerClient(small.url, client.token) for client in people[:2])
    book = b'{"format": "openbook/1"}'

    def refused(how: str, body: bytes = b"") -> bool:
        with begin_request(small.url, "/api/v1/import/", token_of(second), how, body=body) as sent:
            status, headers, answer = read_answer(sent)
        return (status, headers["Retry-After"], answer["error"]["code"]) == (503, "60", "no_room")

    with begin_request(small.url, "/api/v1/import/", token_of(first), announced(3), body=b" " * (5 * 2**19)) as sent:
        until(lambda: spooled(small) >= 2**21)
        assert refused(announced(2.5))
        assert refused("Transfer-Encoding: chunked", chunk(2.2))
        assert second.call("POST", "threads/new/messages/", {"content": "Hello"})["reply"]["status"] == "completed"
        assert spooled(small) < 3 * 2**20
        sent.sendall(book + b" " * (2**19 - len(book)))
        assert read_answer(sent)[0] == 201
    for _ in range(2):  # what was answered, and what was left in the middle, is gone
        with begin_request(small.url, "/api/v1/import/", token_of(first), announced(3), body=b" " * (5 * 2**19)):
            until(lambda: spooled(small) >= 2**21)
        until(lambda: spooled(small) == 0)
    assert second.call("POST", "import/", {"format": "openbook/1", "x": "x" * (2 * 2**20)}) == {
        "threads": [],
        "memories": 0,
    }
