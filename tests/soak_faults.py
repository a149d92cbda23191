"""What goes wrong around an installation: each fault is told, costs nothing that was acknowledged, and passes by itself."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import CloseCode

from config.server import health
from tests import parts
from tests.balancers import configured
from tests.certificates import trusted
from tests.clients import ApiError, Json, ServerClient
from tests.parts import Part
from tests.people import Person, Turn
from tests.processes import ServerProcess, server
from tests.test_balancers import BEHIND
from tests.test_files import upload
from tests.test_processes import PASSWORD, text_of
from tests.volumes import fill, mounted
from tests.waiting import until

pytestmark = pytest.mark.timeout(300)

ROOT = os.geteuid() == 0
REDIS_SECONDS = float(os.environ.get("OPENBOOK_TEST_PAUSED", "0"))
"""How long Redis is paused at least."""
WORDS = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "OPENBOOK_OFFLINE_WORD_SECONDS": "0.1", "OPENBOOK_WORKER": "on"}


@dataclass(frozen=True)
class Installation:
    """``administration`` is a superuser's way to the database; ``files`` where what is uploaded lies."""

    process: ServerProcess
    client: ServerClient
    administration: str
    redis: Part
    files: Path

    @property
    def health(self) -> tuple[int, Json]:
        try:
            with urllib.request.urlopen(f"{self.process.url}health/", timeout=60) as answer:  # noqa: S310
                return answer.status, json.load(answer)["checks"]
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)["checks"]

    def do(self, *statements: str) -> None:
        with psycopg.connect(self.administration, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("faults")
    disk = folder / "files"
    with ExitStack() as stack:
        stack.enter_context(mounted(disk, "16m,nr_inodes=200") if ROOT else nullcontext())
        _, database = stack.enter_context(parts.postgres())
        redis, redis_url = parts.redis(folder)
        stack.callback(redis.end)
        redis.start()
        environment = {**BEHIND, **WORDS, "REDIS_URL": redis_url, "OPENBOOK_FILES_DIR": str(disk)}
        process = stack.enter_context(server(database, OPENBOOK_DATA_DIR=str(folder / "data"), **environment))
        client = ServerClient.signed_in(process.url, password=PASSWORD)
        yield Installation(process, client, database.replace("openbook@", "postgres@"), redis, disk)


def begin(client: ServerClient) -> tuple[Iterator[Json], list[Json]]:
    """A reply that has begun to speak: its stream, and what came of it."""
    stream = client.events("threads/new/messages/stream/", {"content": "Go"})
    events = [next(stream)]
    while events[-1]["type"] != "reply.delta":
        events.append(next(stream))
    return stream, events


def check_whole(client: ServerClient, events: list[Json]) -> None:
    """What was read is what is stored, to its end."""
    assert events[-1]["type"] == "reply.completed"
    assert list(client.events(f"replies/{events[0]['reply']}/events/")) == events
    assert [turn["text"] for turn in client.messages(events[0]["data"]["thread"])] == ["Go", text_of(events)]


@contextmanager
def full(disk: Path) -> Iterator[None]:
    fill(disk / "filling")
    yield
    (disk / "filling").unlink()


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    # As long as somebody writes there it is refused.
    until(lambda: subprocess.run(["mount", "-o", "remount,ro", disk], check=False).returncode == 0)
    yield
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)


@contextmanager
def without_inodes(disk: Path) -> Iterator[None]:
    """Neither a file nor a folder can be made, though there is room."""
    folder = disk / "many"
    folder.mkdir()
    with pytest.raises(OSError, match="No space left"):
        for number in range(1000):
            (folder / str(number)).touch()
    yield
    shutil.rmtree(folder)


@pytest.mark.skipif(not ROOT, reason="only root mounts a disk")
@pytest.mark.parametrize("fault", [full, read_only, without_inodes])
def test_files_that_cannot_be_stored_are_refused_and_all_else_goes_on(
    installation: Installation, fault: Callable[[Path], AbstractContextManager[None]]
) -> None:
    person = Person(installation.client)
    before = upload(installation.client, b"The ferry leaves at nine.")
    until(lambda: state_of(installation, before) == "ready")
    with fault(installation.files):
        with pytest.raises(ApiError) as refused:
            person.upload("The train leaves at ten. " * 400)
        assert (refused.value.status, refused.value.error["code"]) == (503, "storage_away")
        assert "try again" in refused.value.error["message"]
        assert content_of(installation, before) == b"The ferry leaves at nine."
        stream, events = begin(installation.client)
        check_whole(installation.client, [*events, *stream])
    after = person.upload("The train leaves at ten. " * 400)
    until(lambda: state_of(installation, after) == "ready")


def state_of(installation: Installation, file: Json) -> str:
    return str(installation.client.call("GET", f"files/{file['id']}/")["status"])


def content_of(installation: Installation, file: Json) -> bytes:
    client = installation.client
    request = urllib.request.Request(  # noqa: S310
        f"{client.url}api/v1/files/{file['id']}/content/", headers={"Authorization": f"Token {client.token}"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        content: bytes = answer.read()
        return content


def test_no_connection_to_the_database_is_left(installation: Installation) -> None:
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'openbook'"
    stream, events = begin(installation.client)
    installation.do("ALTER ROLE openbook CONNECTION LIMIT 0", others)
    until(lambda: (installation.health[0], installation.health[1]["database"]) == (503, health.NO_CONNECTION))
    turn = Turn("Go")
    with pytest.raises(ApiError) as refused:
        installation.client.call("POST", "threads/new/messages/", turn.body)
    assert (refused.value.status, refused.value.error["code"]) == (503, "unavailable")
    with installation.client.socket() as socket:
        told = json.loads(socket.recv(timeout=60))
        assert (told["type"], told["data"]["code"]) == ("error", "unavailable")
        with pytest.raises(ConnectionClosedError) as closed:
            socket.recv(timeout=60)
        assert closed.value.rcvd
        assert closed.value.rcvd.code == CloseCode.TRY_AGAIN_LATER
    installation.do("ALTER ROLE openbook CONNECTION LIMIT -1")
    check_whole(installation.client, [*events, *stream])
    until(lambda: installation.health[0] == 200)
    again = installation.client.call("POST", "threads/new/messages/", turn.body)
    assert [found["text"] for found in installation.client.messages(again["thread"])][:1] == ["Go"]


def test_a_redis_that_says_nothing_holds_nobody_up(installation: Installation) -> None:
    stream, events = begin(installation.client)
    os.kill(installation.redis.pid, signal.SIGSTOP)
    paused_at = time.monotonic()
    try:
        check_whole(installation.client, [*events, *stream])
        while True:
            stream, events = begin(installation.client)
            check_whole(installation.client, [*events, *stream])
            assert installation.health == (200, {**installation.health[1], "database": "ok"})
            if time.monotonic() - paused_at >= REDIS_SECONDS:
                break
        assert "unreachable" in installation.health[1]["redis"]
    finally:
        os.kill(installation.redis.pid, signal.SIGCONT)
    until(lambda: installation.health[1]["redis"] == "ok")


def test_a_stream_cut_by_its_proxy_is_read_on_from_the_last_event(installation: Installation, tmp_path: Path) -> None:
    address = urlsplit(installation.client.url).netloc
    with trusted(tmp_path) as certificate, ExitStack() as stack:
        front = configured("haproxy", tmp_path, certificate, address, address)
        proxy = Part("haproxy", front.command, tmp_path / "haproxy.log", parts.listens(front.secure))
        stack.callback(proxy.end)
        proxy.start()
        client = ServerClient(f"https://127.0.0.1:{front.secure}/", installation.client.token)
        reading, events = begin(client)
        proxy.kill()
        with suppress(OSError):  # it depends on the moment whether the end is seen to come too early
            events += reading
        assert events[-1]["type"] != "reply.completed"
        proxy.start()
        events += client.events(f"replies/{events[0]['reply']}/events/?after={len(events)}")
        check_whole(client, events)
