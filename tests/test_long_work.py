"""Long work in real server processes: it keeps nobody waiting, two processes count it together, and it ends with them."""

import http.client
import io
import json
import os
import signal
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.clients import ApiError, Client, Json
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.waiting import until

PASSWORD = "correct-horse-battery-9"
ENVIRONMENT = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}
THREADS = int(os.environ.get("OPENBOOK_TEST_IMPORTED", "20000"))
"""Of an import that is still at work when something else happens, a minute later."""
MEMBERS = int(os.environ.get("OPENBOOK_TEST_MEMBERS", "2000"))

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def database(migrated: str) -> Iterator[str]:
    with fresh_database(migrated) as database:
        yield database


@pytest.fixture(scope="module")
def running(database: str) -> Iterator[ServerProcess]:
    with server(database, **ENVIRONMENT) as running:
        yield running


@pytest.fixture(scope="module")
def client(running: ServerProcess) -> Client:
    return Client.signed_in(running.url, password=PASSWORD)


def long_document() -> bytes:
    turn = {"role": "user", "content": "The harbour lay quiet."}
    return json.dumps({"format": "openbook/1", "threads": [{"messages": [turn] * 8}] * THREADS}).encode()


def archive(members: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(members):
            packed.writestr(f"d{number}/conversations.json", '{"format": "openbook/1"}')
    return file.getvalue()


@contextmanager
def posted(
    client: Client, path: str, body: bytes, kind: str = "application/json"
) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection(urlsplit(client.url).netloc, timeout=120)) as connection:
        headers = {"Authorization": f"Token {client.token}", "Content-Type": kind}
        connection.request("POST", path, body, headers)
        yield connection.getresponse()


@contextmanager
def importing(client: Client) -> Iterator[Iterator[Json]]:
    """The lines of a long import that has begun to store."""
    with posted(client, "/api/v1/import/?progress=true", long_document()) as response:
        lines: Iterator[Json] = map(json.loads, response)
        assert next(line for line in lines if line["type"] == "progress" and line["threads"])
        yield lines


def refused(client: Client, path: str, body: bytes, kind: str = "application/json") -> tuple[int, Any]:
    with posted(client, path, body, kind) as response:
        return response.status, json.loads(response.read())["error"]


def test_a_small_zip_of_many_documents_is_refused_in_words(client: Client) -> None:
    status, error = refused(client, "/api/v1/import/", archive(MEMBERS), "application/zip")
    assert (status, error["code"], error["details"]) == (413, "import_too_large", {"limit": 200})
    assert f"holds {MEMBERS:,} documents" in error["message"]


def test_others_are_served_and_who_leaves_imports_nothing(running: ServerProcess, client: Client) -> None:
    with importing(client):
        assert client.call("POST", "threads/new/messages/", {"content": "Hello"})["reply"]["status"] == "completed"
        with closing(http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=60)) as connection:
            connection.request("GET", "/health/")
            assert connection.getresponse().status == 200
    assert client.call("POST", "import/", {"format": "openbook/1"}) == {"threads": [], "memories": 0}
    assert len(client.call("GET", "threads/")["results"]) == 1


def test_two_processes_run_one_work_of_a_person_and_a_signal_ends_it_in_time(
    database: str, client: Client, redis_url: str
) -> None:
    before = client.call("GET", "export/")
    with server(database, **ENVIRONMENT) as other:
        with importing(Client(other.url, client.token)) as lines:
            with pytest.raises(ApiError) as caught:
                client.call("POST", "import/", {"format": "openbook/1"})
            assert (caught.value.status, caught.value.error["code"]) == (429, "long_work_running")
            other.process.send_signal(signal.SIGTERM)
            *_, last = lines
            assert (last["type"], last["error"]["code"]) == ("error", "ending")
        assert other.process.wait(60) == 0
        until(lambda: "long work cancelled" in other.output)
        assert "shutdown_failed" not in other.output, other.output
    assert client.call("GET", "export/") == before
