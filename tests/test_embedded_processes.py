"""A real server and its worker with a PostgreSQL of their own, which is killed."""

import http.client
import json
import os
import resource
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from websockets.exceptions import ConnectionClosed

from config.postgres import embedded
from config.server import health
from conversations.web import consumers
from tests.clients import ApiError, Json, ServerClient
from tests.commands import Commands
from tests.processes import ServerProcess, server
from tests.volumes import fill, mounted
from tests.waiting import until

pytestmark = pytest.mark.wide

PASSWORD = "correct-horse-battery-9"
SECONDS = 60.0


ROOT = os.geteuid() == 0
DISK = "400m"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """On a disk of its own where that is possible, so that it can be full."""
    folder = tmp_path_factory.mktemp("embedded") / "data"
    with mounted(folder, DISK) if ROOT else nullcontext():
        yield folder


@pytest.fixture(scope="module")
def running(data: Path) -> Iterator[ServerProcess]:
    environment = {
        "OPENBOOK_DATA_DIR": str(data),
        "OPENBOOK_WORKER": "on",
        "OPENBOOK_OFFLINE_WORD_SECONDS": "0.2",
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
    }
    with server("", **environment) as process:
        yield process
        assert process.terminate() == 0
    until(lambda: not (data / "postgres" / "postmaster.pid").exists())


@pytest.fixture(scope="module")
def client(running: ServerProcess) -> ServerClient:
    return ServerClient.signed_in(running.url, password=PASSWORD)


def kill_postgres(data: Path) -> int:
    number = postmaster(data)
    os.kill(number, signal.SIGKILL)
    return number


def postmaster(data: Path) -> int:
    return int((data / "postgres" / "postmaster.pid").read_text().split()[0])


def database_health(running: ServerProcess, path: str = "/health/") -> tuple[int, str]:
    with closing(http.client.HTTPConnection(urlsplit(running.url).netloc, timeout=SECONDS)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["checks"]["database"]


def begin_reply(client: ServerClient) -> tuple[Iterator[Json], list[Json]]:
    """A slow reply that has begun to speak: its stream, and what came of it."""
    stream = client.events("threads/new/messages/stream/", {"content": "Go"}, seconds=SECONDS)
    events = [next(stream)]
    while events[-1]["type"] != "reply.delta":
        events.append(next(stream))
    return stream, events


def check_end(client: ServerClient, events: list[Json]) -> None:
    """What was read is what is stored, and the thread goes on."""
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] in {"reply.completed", "reply.interrupted"}
    said = "".join(event["data"]["text"] for event in events if event["type"] == "reply.delta")
    thread = events[0]["data"]["thread"]
    question, answer = client.messages(thread)
    assert (question["text"], answer["text"], answer["position"]) == ("Go", said, 2)
    assert client.call("POST", f"threads/{thread}/messages/", {"content": "On"})["reply"]["status"] == "completed"


def test_a_postgresql_killed_in_mid_reply_runs_again_and_no_word_is_lost(
    running: ServerProcess, client: ServerClient, data: Path
) -> None:
    stream, events = begin_reply(client)
    killed = kill_postgres(data)
    check_end(client, [*events, *stream])
    assert postmaster(data) != killed
    assert database_health(running) == (200, "ok")
    again = "the embedded PostgreSQL ended; starting it again"
    until(lambda: again in running.output)  # its lines come through a pipe
    assert running.output.count(again) == 1  # of its two holders


@pytest.mark.operate
def test_while_it_cannot_be_started_health_says_so_and_then_all_goes_on(
    running: ServerProcess, client: ServerClient, data: Path
) -> None:
    settings = data / "postgres" / "postgresql.conf"
    sound = settings.read_text()
    _, events = begin_reply(client)
    settings.write_text(f"{sound}\nno_such_setting = 1\n")
    kill_postgres(data)
    until(lambda: "the embedded PostgreSQL can't be started" in running.output)
    assert "no_such_setting" in running.output
    assert database_health(running) == (503, health.UNREACHABLE_EMBEDDED)
    assert database_health(running, "/health/ready/") == (503, health.UNREACHABLE_EMBEDDED)
    with pytest.raises(ConnectionClosed) as closed, client.socket(events[0]["data"]["thread"]) as socket:
        assert json.loads(socket.recv(timeout=SECONDS))["data"]["code"] == "unavailable"
        socket.recv(timeout=SECONDS)
    assert closed.value.rcvd
    assert closed.value.rcvd.code == consumers.TRY_LATER
    settings.write_text(sound)
    until(lambda: database_health(running) == (200, "ok"))
    until(lambda: has_ended(client, events))
    check_end(client, list(client.events(f"replies/{events[0]['reply']}/events/")))


@pytest.mark.operate
@pytest.mark.skipif(not ROOT, reason="only root mounts a disk to fill")
def test_a_full_disk_is_told_and_loses_nothing(running: ServerProcess, client: ServerClient, data: Path) -> None:
    thread = client.call("POST", "threads/", {"title": "Full"})["id"]
    fill(data / "filling")
    until(lambda: database_health(running) == (503, "nothing can be stored: the disk of the database is full"))
    with ThreadPoolExecutor(1) as sender:
        sending = sender.submit(status_of_sending, client, thread, "x" * 90_000)
        until(lambda: sending.done() or client.messages(thread))  # refused, or its reply waits for room
        (data / "filling").unlink()
        status = sending.result()
    until(lambda: database_health(running) == (200, "ok"))
    assert status_of_sending(client, thread, "Hello") == "completed"
    kept = {"completed": ["user", "assistant"], "unavailable": []}[status]
    assert [turn["role"] for turn in client.messages(thread)] == [*kept, "user", "assistant"]


def status_of_sending(client: ServerClient, thread: str, text: str) -> str:
    """How its reply ended, or the code of the error where nothing was stored."""
    try:
        return str(client.call("POST", f"threads/{thread}/messages/", {"content": text})["reply"]["status"])
    except ApiError as error:
        return str(error.error["code"])


@pytest.mark.operate
def test_a_backup_of_it_is_made_drilled_and_restored_into_another(
    forks: Commands, running: ServerProcess, client: ServerClient, data: Path, tmp_path: Path
) -> None:
    """As whoever has no other PostgreSQL does it, while it serves."""
    client.call("POST", "threads/new/messages/", {"content": "I have two cats."})
    copy = str(tmp_path / "copy")
    manage(forks, data, "backup", copy)
    drilled = json.loads(manage(forks, data, "drill", copy, "--json"))
    assert (drilled["proven"] > 0, drilled["different"]) == (True, 0)
    with psycopg.connect(embedded.url(data / "postgres", role=embedded.SUPERUSER)) as connection:
        assert connection.execute("SELECT count(*) FROM pg_database WHERE datname LIKE 'drill%'").fetchone() == (0,)
    manage(forks, tmp_path / "other", "restore", copy)
    answer = manage(
        forks, tmp_path / "other", "chat", "--user", "admin", "--thread", "last", "How many cats do I have?"
    )
    assert "two cats" in answer
    until(lambda: not (tmp_path / "other" / "postgres" / "postmaster.pid").exists())


def manage(forks: Commands, data: Path, *arguments: str) -> str:
    folders = {"OPENBOOK_DATA_DIR": str(data), "OPENBOOK_FILES_DIR": "", "OPENBOOK_ERASURE_LEDGER": ""}
    done = forks.run("manage.py", *arguments, DATABASE_URL="", **folders)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_database_that_is_read_only_is_told(running: ServerProcess, data: Path) -> None:
    administration = embedded.url(data / "postgres", role=embedded.SUPERUSER)
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'openbook'"
    with psycopg.connect(administration, autocommit=True) as connection:
        connection.execute("ALTER DATABASE openbook SET default_transaction_read_only = on")
        connection.execute(others)
        until(lambda: database_health(running) == (503, "nothing can be stored: the database is read-only"))
        connection.execute("ALTER DATABASE openbook RESET default_transaction_read_only")
        connection.execute(others)
        until(lambda: database_health(running) == (200, "ok"))


@pytest.mark.operate
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_more_half_sent_requests_than_there_are_files_leave_nothing_broken(
    running: ServerProcess, client: ServerClient
) -> None:
    address = urlsplit(running.url)
    limits = resource.prlimit(running.pid, resource.RLIMIT_NOFILE)
    few = len(list(Path(f"/proc/{running.pid}/fd").iterdir())) + 10
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (few, limits[1]))
    with ExitStack() as stack:
        for _ in range(50):
            half = stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=SECONDS))
            with suppress(OSError):  # refused already
                half.sendall(b"GET /api/v1/threads/ HTTP/1.1\r\nX-Half: ")
    until(lambda: is_well(running))
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, limits)
    assert client.call("POST", "threads/new/messages/", {"content": "On"})["reply"]["status"] == "completed"


def is_well(running: ServerProcess) -> bool:
    with suppress(OSError, http.client.HTTPException):
        return database_health(running) == (200, "ok")
    return False


def has_ended(client: ServerClient, events: list[Json]) -> bool:
    with suppress(ApiError):
        return bool(client.messages(events[0]["data"]["thread"])[0]["reply"]["status"] != "running")
    return False
