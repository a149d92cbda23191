"""The last release, as its commit has it, is upgraded to this code while people talk, and back: no request fails.

Two servers behind HAProxy, a worker, PostgreSQL behind PgBouncer, Redis. `make soak` runs it; it needs the history.
"""

import io
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from operator import ge
from pathlib import Path

import psycopg
import pytest

from tests import parts
from tests.balancers import configured
from tests.certificates import trusted
from tests.clients import ServerClient
from tests.model_server import ModelServer
from tests.parts import Part
from tests.people import Person, answer
from tests.processes import ROOT, UNDISTURBED
from tests.services import free_port
from tests.soak_kills import PEOPLE, check
from tests.test_balancers import BEHIND
from tests.test_processes import PASSWORD
from tests.upgrades import LAST, RELEASES
from tests.waiting import until

pytestmark = pytest.mark.timeout(900)

WORD_SECONDS = 0.03
TURNS = 3
"""What each person ends, at least, at each step of the upgrade."""
RECONNECTED = {"ConnectionClosedError", "ConnectionClosedOK"}
"""What a socket sees of a server that leaves, with code 1012: it goes on elsewhere."""


def release(folder: Path) -> Path:
    """The code of the last release."""
    archive = subprocess.run(["git", "archive", RELEASES[LAST]], cwd=ROOT, capture_output=True, check=False)
    assert not archive.returncode, f"{archive.stderr.decode()}\nThe history is needed: git fetch --unshallow"
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    shutil.copytree(ROOT / ".local/static", folder / ".local/static")
    return folder


def drained(part: Part) -> None:
    """As a service manager ends it; what it has begun it ends."""
    part.signal(signal.SIGUSR1)
    until(lambda: part.has_ended, seconds=60)


def test_an_upgrade_and_its_undoing_fail_no_request(tmp_path: Path) -> None:
    old = release(tmp_path / "old")
    over = threading.Event()
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer(responder=partial(answer, delay=WORD_SECONDS)))
        _, database = stack.enter_context(parts.postgres())
        redis, redis_url = parts.redis(tmp_path)
        pooler, pooled = stack.enter_context(parts.pgbouncer(database, size=10))
        environment = {
            **BEHIND,
            "DJANGO_SETTINGS_MODULE": "tests.server_settings",
            "DATABASE_URL": pooled,
            "REDIS_URL": redis_url,
            "OPENBOOK_FILES_DIR": str(tmp_path / "files"),
            "OPENBOOK_DATA_DIR": str(tmp_path / "data"),
            "OPENBOOK_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "key-of-the-tests",
            "ANTHROPIC_BASE_URL": model.url,
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
            "SECRET_KEY": "of-the-tests-of-upgrades-and-of-nothing-else",
        }
        ports = free_port(), free_port()
        addresses = [f"127.0.0.1:{port}" for port in ports]
        front = configured("haproxy", tmp_path, stack.enter_context(trusted(tmp_path)), *addresses)
        new_servers = [parts.serving(f"new {port}", port, tmp_path, environment) for port in ports]
        old_servers = [
            replace(server, name=f"old {port}", log=tmp_path / f"old-{port}.log", options={"cwd": old})
            for server, port in zip(new_servers, ports, strict=True)
        ]
        new_worker = parts.working("new worker", tmp_path, environment, database)
        old_worker = replace(new_worker, name="old worker", log=tmp_path / "old-worker.log", options={"cwd": old})
        proxy = Part("haproxy", front.command, tmp_path / "haproxy.log", parts.listens(front.secure))
        for part in (redis, pooler, *old_servers, *new_servers, old_worker, new_worker, proxy):
            stack.callback(part.end)
        for part in (redis, pooler, *old_servers, old_worker, proxy):
            part.start()
        with psycopg.connect(database) as connection:
            connection.execute(PEOPLE)
        url = f"https://127.0.0.1:{front.secure}/"
        people = [Person(ServerClient.signed_in(url, f"person {number}", PASSWORD), over) for number in range(1, 7)]
        ways = [Person.by_rest, Person.by_rest, Person.by_stream, Person.by_stream, Person.by_socket, Person.by_socket]
        with ThreadPoolExecutor(len(people)) as pool:
            talks = Talks(people, [pool.submit(person.talk, way) for person, way in zip(people, ways, strict=True)])
            try:
                talks.go_on()

                new_worker.start()
                until(lambda: "waits for `manage.py migrate`" in new_worker.output, seconds=60)
                talks.go_on()  # new code beside the old schema

                migrate(environment)
                talks.go_on()  # old code on the new schema

                for leaving, coming in zip(old_servers, new_servers, strict=True):
                    drained(leaving)
                    coming.start()
                    talks.go_on()  # old and new code side by side, then new code alone

                drained(new_servers[0])
                old_servers[0].start()
                talks.go_on()  # and back
            finally:
                over.set()
            for talk in talks.running:
                talk.result()
        refusals = sum((person.refusals for person in people), Counter[str]())
        print(sum(len(person.turns) for person in people), "turns;", refusals)  # noqa: T201
        assert refusals.keys() <= RECONNECTED
        for person in people:
            assert {turn.events[-1]["type"] for turn in person.turns} == {"reply.completed"}
            check(person)


@dataclass
class Talks:
    people: list[Person]
    running: list[Future[Person]]

    def go_on(self) -> None:
        """Until everybody has ended some more turns."""
        wanted = [ended + TURNS for ended in self._ended()]
        try:
            until(lambda: self._failed() or all(map(ge, self._ended(), wanted)), seconds=120)
        except AssertionError as error:
            raise AssertionError([(person.refusals, person.turns[-1]) for person in self.people]) from error
        for talk in self._failed():
            talk.result()

    def _ended(self) -> list[int]:
        return [sum(bool(turn.ended_at) for turn in person.turns) for person in self.people]

    def _failed(self) -> list[Future[Person]]:
        return [talk for talk in self.running if talk.done()]


def migrate(environment: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(command, cwd=ROOT, env={**UNDISTURBED, **environment, "PATH": "/usr/bin:/bin"}, check=False)
    assert done.returncode == 0
