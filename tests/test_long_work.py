"""Long work in real server processes: it keeps nobody waiting, two processes count it together, and it ends with them."""

import http.client
import io
import json
import os
import signal
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.clients import ApiError, Json, ServerClient
from tests.processes import ServerProcess, server
from tests.services import fresh_database
from tests.waiting import until

PASSWORD = "correct-horse-battery-9"
ENVIRONMENT = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}
MEMBERS = int(os.environ.get("OPENBOOK_TEST_MEMBERS", "2000"))

MEBIBYTES = float(os.environ.get("OPENBOOK_TEST_MEBIBYTES", "1.25"))
"""Of what takes long to look through."""
LARGE = 30 if MEBIBYTES >= 4 else 6
"""MiB of what is looked through in no time, twice as many in an upload."""

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
def client(running: ServerProcess) -> ServerClient:
    return ServerClient.signed_in(running.url, password=PASSWORD)


def archive(members: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(members):
            packed.writestr(f"d{number}/conversations.json", '{"format": "openbook/1"}')
    return file.getvalue()


@contextmanager
def posted(
    client: ServerClient, path: str, body: bytes, kind: str = "application/json"
) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection(urlsplit(client.url).netloc, timeout=120)) as connection:
        headers = {"Authorization": f"Token {client.token}", "X-Api-Key": client.token, "Content-Type": kind}
        connection.request("POST", path, body, headers)
        yield connection.getresponse()


@contextmanager
def no_note_is_stored(database: str) -> Iterator[None]:
    """Whoever wants to store one waits."""
    with psycopg.connect(database) as holder:
        holder.execute("LOCK TABLE memory_memory IN SHARE MODE")
        yield


@contextmanager
def importing(client: ServerClient) -> Iterator[Iterator[Json]]:
    """The lines of an import that has stored a thread, and stores a note next."""
    thread = {"messages": [{"role": "user", "content": "The harbour lay quiet."}]}
    document = json.dumps({"format": "openbook/1", "threads": [thread], "memories": [{"content": "Likes tea."}]})
    with posted(client, "/api/v1/import/?progress=true", document.encode()) as response:
        lines: Iterator[Json] = map(json.loads, response)
        assert next(line for line in lines if line["type"] == "progress" and line["threads"])
        yield lines


def refused(client: ServerClient, path: str, body: bytes, kind: str = "application/json") -> tuple[int, Any]:
    with posted(client, path, body, kind) as response:
        return response.status, json.loads(response.read())["error"]


@pytest.mark.wide
def test_a_small_zip_of_many_documents_is_refused_in_words(client: ServerClient) -> None:
    status, error = refused(client, "/api/v1/import/", archive(MEMBERS), "application/zip")
    assert (status, error["code"], error["details"]) == (413, "import_too_large", {"limit": 200})
    assert f"holds {MEMBERS:,} documents" in error["message"]


def test_others_are_served_and_who_leaves_imports_nothing(
    database: str, running: ServerProcess, client: ServerClient
) -> None:
    before = client.call("GET", "threads/")["results"]
    with no_note_is_stored(database):
        with importing(client):
            said = client.call("POST", "threads/new/messages/", {"content": "Hello"})
            assert said["reply"]["status"] == "completed"
            with closing(http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=60)) as connection:
                connection.request("GET", "/health/")
                assert connection.getresponse().status == 200
        assert client.call("POST", "import/", {"format": "openbook/1"}) == {"threads": [], "memories": 0}
    assert len(client.call("GET", "threads/")["results"]) == len(before) + 1


def memory(pid: int, name: str) -> float:
    """In MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{name}:"))


def zipped(document: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", document)
    return file.getvalue()


def book(part: bytes) -> bytes:
    return b'{"format": "openbook/1", ' + part + b"}"


def call_with(part: bytes) -> bytes:
    return b'{"model": "companion", "max_tokens": 9, ' + part + b"}"


def many(value: bytes, mebibytes: float) -> bytes:
    """A list of so much of the same."""
    return b"[" + (value + b",") * int(mebibytes * 2**20 / (len(value) + 1)) + value + b"]"


WIDE = "🍵".encode()
TURN = b'{"role": "user", "content": "' + WIDE + b' and so on"}'
UPLOADS: dict[str, Callable[[], bytes]] = {
    "values under an unknown name": lambda: book(b'"x": ' + many(b"[]", 2 * LARGE)),
    "values in place of threads": lambda: book(b'"threads": ' + many(b"[]", 2 * LARGE)),
    "values in place of messages": lambda: book(b'"threads": [{"messages": ' + many(b'{"":{}}', MEBIBYTES) + b"}]"),
    "values in a message": lambda: book(
        b'"threads": [{"messages": [{"content": ' + many(b'{"a":{}}', MEBIBYTES) + b"}]}]"
    ),
    "values in a note": lambda: book(b'"memories": [{"tags": ' + many(b'{"":{}}', MEBIBYTES) + b"}]"),
    "a conversation of elsewhere": lambda: many(many(b'{"":[0]}', MEBIBYTES / 2), MEBIBYTES),
    "a long text": lambda: book(b'"memories": [{"content": "' + WIDE + b"x" * 2 * LARGE * 2**20 + b'"}]'),
    "a long name": lambda: book(b'"' + WIDE + b"x" * 2 * LARGE * 2**20 + b'": 0'),
    "a deep value": lambda: book(b'"threads": ' + b"[" * 2**20 + b"]" * 2**20),
    "a long thread": lambda: book(b'"threads": [{"messages": ' + many(TURN, min(2, MEBIBYTES / 10)) + b"}]"),
}
CALLS: dict[str, Callable[[], bytes]] = {
    "values under an unknown name": lambda: call_with(b'"x": ' + many(b"[]", LARGE)),
    "values in place of messages": lambda: call_with(b'"messages": ' + many(b"[]", LARGE)),
    "values in a message": lambda: call_with(b'"messages": [{"role": "user", "content": ' + many(b"{}", LARGE) + b"}]"),
    "a long text": lambda: call_with(
        b'"messages": [{"role": "user", "content": "' + WIDE + b"x" * LARGE * 2**20 + b'"}]'
    ),
    "a long history": lambda: call_with(b'"messages": ' + many(TURN, LARGE)),
    "long instructions": lambda: call_with(
        b'"system": "' + WIDE + b"x" * LARGE * 2**20 + b'", "messages": [' + TURN + b"]"
    ),
}
ALL_MB = 256
EACH_MB = 64 if MEBIBYTES >= 4 else 40
"""The values of one, made all at once, would take more."""


@contextmanager
def grows_by_at_most(running: ServerProcess, most: float) -> Iterator[None]:
    before = memory(running.pid, "VmRSS")
    Path(f"/proc/{running.pid}/clear_refs").write_text("5")  # the peak is counted anew
    yield
    growth = memory(running.pid, "VmHWM") - before
    print(f"{growth:.0f} MB")  # noqa: T201  (shown when the test fails)
    assert growth <= most


@pytest.mark.once("a long thread")
@pytest.mark.parametrize("name", UPLOADS)
def test_whatever_an_upload_holds_it_takes_little_memory(
    running: ServerProcess, client: ServerClient, name: str
) -> None:
    upload = zipped(UPLOADS[name]())
    with (
        grows_by_at_most(running, EACH_MB),
        posted(client, "/api/v1/import/?ids=new", upload, "application/zip") as response,
    ):
        answer = json.loads(response.read())
    assert response.status == (201 if name == "a long thread" else 400 if "code" in answer.get("error", {}) else 0) or (
        response.status == 413
    ), answer


@pytest.mark.parametrize("name", CALLS)
def test_whatever_a_call_of_the_messages_api_holds_it_takes_little_memory(
    running: ServerProcess, client: ServerClient, name: str
) -> None:
    with grows_by_at_most(running, EACH_MB), posted(client, "/v1/messages", CALLS[name]()) as response:
        answer = json.loads(response.read())
    assert (response.status in (400, 413), answer["type"]) == (True, "error"), answer


@pytest.mark.operate
def test_all_of_them_at_once_take_no_more_than_there_is_for_all(running: ServerProcess, client: ServerClient) -> None:
    def send(path: str, body: bytes) -> int:
        with posted(client, path, body) as response:
            response.read()
            return response.status

    calls = [("/v1/messages", body()) for body in CALLS.values()]
    uploads = [("/api/v1/import/?ids=new", zipped(body())) for body in UPLOADS.values()]
    with grows_by_at_most(running, ALL_MB), ThreadPoolExecutor(len(calls + uploads)) as programs:
        statuses = set(programs.map(lambda call: send(*call), calls + uploads))
    assert statuses <= {201, 400, 413, 429, 503, 529}


def test_a_frame_of_many_values_is_refused_in_words(running: ServerProcess, client: ServerClient) -> None:
    with client.socket() as tab:  # what the first frame of a server loads is no growth by this one
        tab.send("[]", text=True)
        tab.recv(60)
    with grows_by_at_most(running, EACH_MB), client.socket(max_size=None) as tab:
        for value in (b"[]", b'{"":{}}'):
            tab.send(b'{"type": %s}' % many(value, 1), text=True)
            answer = json.loads(tab.recv(60))
            assert (answer["type"], answer["data"]["code"]) == ("error", "invalid_frame")
            assert "holds more than 20,000 values" in answer["data"]["message"]


@pytest.mark.operate
def test_two_processes_run_one_work_of_a_person_and_a_signal_ends_it_in_time(
    database: str, client: ServerClient, redis_url: str
) -> None:
    before = client.call("GET", "export/")
    with server(database, **ENVIRONMENT) as other:
        with no_note_is_stored(database), importing(ServerClient(other.url, client.token)) as lines:
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
