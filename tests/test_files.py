"""Files at real servers: what goes up takes hardly any memory, what breaks off leaves nothing, dead workers cost nothing."""

import base64
import http.client
import json
import os
import shutil
import signal
import socket
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.clients import Json, ServerClient
from tests.locks import LOCKS
from tests.process_table import command, descendants
from tests.processes import ServerProcess, server
from tests.s3_server import s3_server
from tests.services import fresh_database
from tests.test_bodies import begin_request, read_answer, spooled, token_of
from tests.test_long_work import ENVIRONMENT, PASSWORD, grows_by_at_most
from tests.uploads import END, FORM, form, form_start, stored
from tests.waiting import until

MEBIBYTES = int(os.environ.get("OPENBOOK_TEST_UPLOADED", "40"))
"""Of a large upload; 200 in the long run."""
GROWTH_MB = 32
LINE = b"The ferry leaves at nine, and the harbour lies quiet until noon.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def running(migrated: str, folder: Path) -> Iterator[ServerProcess]:
    with (
        fresh_database(migrated) as database,
        server(database, **ENVIRONMENT, OPENBOOK_FILES_DIR=str(folder)) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def client(running: ServerProcess) -> ServerClient:
    return ServerClient.signed_in(running.url, password=PASSWORD)


@contextmanager
def answer_to(client: ServerClient, method: str, path: str, body: Any = None) -> Iterator[http.client.HTTPResponse]:
    with closing(http.client.HTTPConnection(urlsplit(client.url).netloc, timeout=120)) as connection:
        headers = {"Authorization": f"Token {client.token}", "Content-Type": FORM}
        connection.request(method, f"/api/v1/{path}", body, headers)
        yield connection.getresponse()


def upload(client: ServerClient, content: bytes, name: str = "notes.txt") -> Json:
    with answer_to(client, "POST", "files/", form(content, name)) as answer:
        file: Json = json.loads(answer.read())
        assert answer.status == 201, file
        return file


def size_of(client: ServerClient, file: Json) -> int:
    with answer_to(client, "GET", f"files/{file['id']}/content/") as answer:
        return sum(len(piece) for piece in iter(lambda: answer.read(2**20), b""))


def test_a_large_file_goes_up_and_comes_back_without_being_held_in_memory(
    running: ServerProcess, client: ServerClient, folder: Path
) -> None:
    content = LINE * (MEBIBYTES * 2**20 // len(LINE))
    size_of(client, upload(client, LINE))  # what a server needs for its first
    with grows_by_at_most(running, GROWTH_MB):
        file = upload(client, content)
    assert file["bytes"] == len(content)
    with grows_by_at_most(running, GROWTH_MB):
        assert size_of(client, file) == len(content)
    client.call("DELETE", f"files/{file['id']}/")
    assert [path for path in stored(folder) if path.startswith("scratch")] == []


def test_what_breaks_off_in_the_middle_leaves_nothing(
    running: ServerProcess, client: ServerClient, folder: Path
) -> None:
    before, files = set(stored(folder)), client.call("GET", "files/")
    content = form(LINE * 50_000)
    with begun(client, announced=len(content)) as sent:
        sent.sendall(content[: len(content) // 2])
        until(lambda: spooled(running) > 2**20)
    until(lambda: spooled(running) == 0)
    assert (set(stored(folder)), client.call("GET", "files/")) == (before, files)


def test_what_is_announced_as_too_large_is_refused_before_it_comes(client: ServerClient) -> None:
    with begun(client, announced=257 * 2**20) as sent:
        status, headers, told = read_answer(sent)
    assert (status, told["error"]["code"], told["error"]["details"]) == (413, "file_too_large", {"limit": 2**28})
    assert headers["Connection"] == "close"


def test_a_file_may_come_in_chunks_of_unknown_length(client: ServerClient) -> None:
    with begun(client) as sent:
        for piece in (form_start("notes.txt"), LINE, LINE, END, b""):
            sent.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        status, _, file = read_answer(sent)
    assert (status, file["bytes"]) == (201, 2 * len(LINE))


@contextmanager
def begun(client: ServerClient, announced: int | None = None) -> Iterator[socket.socket]:
    length = "Transfer-Encoding: chunked" if announced is None else f"Content-Length: {announced}"
    with begin_request(client.url, "/api/v1/files/", token_of(client), length, kind=FORM) as sent:
        yield sent


PARTS = "conversations_filepart"
PLAN = "# Plan {number}\n\n" + "The ferry leaves at nine. " * 200 + "\n\n"
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
READ = "SELECT attempt, parts_read FROM conversations_file WHERE id = %s"


@pytest.fixture
def database(migrated: str) -> Iterator[str]:
    with fresh_database(migrated) as database:
        yield database


@pytest.mark.wide
def test_a_server_reads_what_is_uploaded_and_begins_anew_when_its_reader_is_killed(
    database: str, tmp_path: Path
) -> None:
    environment = ENVIRONMENT | {"OPENBOOK_FILES_DIR": str(tmp_path), "OPENBOOK_WORKER": "on"}
    with server(database, **environment) as running, psycopg.connect(database, autocommit=True) as rows:
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        short = ended(client, upload(client, PLAN.encode(), "plan.md"))
        assert (short["status"], short["parts"], short["error"]) == ("ready", 1, None)
        content = "".join(PLAN.format(number=number) for number in range(1_000)).encode()
        long = upload(client, content, "plans.md")
        until(lambda: client.call("GET", f"files/{long['id']}/")["parts"])
        with rows.transaction():  # nobody stores a part meanwhile
            rows.execute(f"LOCK TABLE {PARTS} IN SHARE MODE")
            until(
                lambda: rows.execute(f"SELECT ({LOCKS} AND NOT granted AND relation = '{PARTS}'::regclass)").fetchone()
            )
            os.kill(reader_of(running), signal.SIGKILL)
        read = ended(client, long)
        assert rows.execute(READ, [long["id"]]).fetchone() == (2, read["parts"])
        stands = rows.execute(f"SELECT count(*), max(number) FROM {PARTS} WHERE file_id = %s", [long["id"]])  # noqa: S608
        assert stands.fetchone() == (read["parts"], read["parts"])
        for file in (short, long):
            client.call("DELETE", f"files/{file['id']}/")
        until(lambda: not stored(tmp_path))


@pytest.mark.operate
def test_files_may_lie_in_an_s3_storage(database: str, tmp_path: Path) -> None:
    environment = ENVIRONMENT | {"OPENBOOK_FILES_DIR": str(tmp_path), "OPENBOOK_WORKER": "on"}
    with s3_server() as s3, server(database, **environment, **s3.environment) as running:
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        file = ended(client, upload(client, PNG, "dot.png"))
        assert (file["status"], file["parts"], file["error"]) == ("ready", 1, None)
        with answer_to(client, "GET", f"files/{file['id']}/content/") as answer:
            # The file, its picture and the thumbnail of that.
            assert (answer.read(), PNG in s3.contents().values(), len(s3.contents())) == (PNG, True, 3)
        with answer_to(client, "GET", f"files/{file['id']}/parts/1/picture/") as answer:
            assert answer.read() in s3.contents().values()
        content = LINE * (MEBIBYTES // 10 * 2**20 // len(LINE))
        with grows_by_at_most(running, GROWTH_MB):
            large = upload(client, content)
        assert size_of(client, large) == len(content)
        assert [path for path in stored(tmp_path) if not path.startswith("scratch/")] == []
        for each in (file, large):
            client.call("DELETE", f"files/{each['id']}/")
        until(lambda: not s3.places())
        until(lambda: not stored(tmp_path))
        left = ended(client, upload(client, LINE))
        s3.bucket.objects.all().delete()
        s3.bucket.delete()
        with answer_to(client, "POST", "files/", form(LINE)) as answer:
            assert (answer.status, json.loads(answer.read())["error"]["code"]) == (503, "storage_away")
        with answer_to(client, "GET", f"files/{left['id']}/content/") as answer:
            assert answer.status == 404


def ended(client: ServerClient, file: Json) -> Json:
    """The file, once it is no longer read."""
    until(lambda: client.call("GET", f"files/{file['id']}/")["status"] != "reading")
    return client.call("GET", f"files/{file['id']}/")


def reader_of(running: ServerProcess) -> int:
    """The worker of a server that reads long files, after all else."""
    (pid,) = (pid for pid in descendants(running.pid) if command(pid).endswith(b"--queue\0default\0"))
    return pid


@pytest.mark.wide
def test_a_large_zip_goes_in_and_out_without_being_held_in_memory(
    running: ServerProcess, client: ServerClient, tmp_path: Path
) -> None:
    """Of files that don't shrink when they are packed, and of one that shrinks a lot."""
    size = 16 * 2**20
    files = [{"id": str(uuid.uuid4()), "name": f"{n}.txt", "path": f"{n}"} for n in range(MEBIBYTES // 16)]
    named = [{"type": "file", "file": file["id"], "name": file["name"]} for file in files]
    thread = {"files": files, "messages": [{"role": "user", "content": [*named, {"type": "text", "text": "Look"}]}]}
    upload, back = tmp_path / "in.zip", tmp_path / "out.zip"
    with zipfile.ZipFile(upload, "w") as archive:
        archive.writestr("conversations.json", json.dumps({"format": "openbook/1", "threads": [thread]}))
        for n in range(len(files)):
            method = zipfile.ZIP_STORED if n else zipfile.ZIP_DEFLATED
            archive.writestr(f"{n}", (LINE * (size // len(LINE) + 1))[:size], method)
    with (
        grows_by_at_most(running, GROWTH_MB),
        upload.open("rb") as body,
        answer_to(client, "POST", "import/", body) as answer,
    ):
        assert (answer.status, json.loads(answer.read())["files"]) == (201, len(files))
    with (
        grows_by_at_most(running, GROWTH_MB),
        answer_to(client, "GET", "export/?as=zip") as answer,
        back.open("wb") as target,
    ):
        shutil.copyfileobj(answer, target, 2**20)
    with zipfile.ZipFile(back) as archive:
        assert archive.testzip() is None
        assert sorted(info.file_size for info in archive.infolist())[-len(files) :] == [size] * len(files)
    client.call("DELETE", f"threads/{client.call('GET', 'threads/')['results'][0]['id']}/")
