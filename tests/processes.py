"""Real server processes for tests that kill them, restart them, or drive them from a browser."""

import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit, urlunsplit

from django.db import connection

from tests.commands import Fork, commands
from tests.process_table import kill_marked

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 110
MARK = "OPENBOOK_TEST_STARTED"
"""Set in the environment of what a test starts, and so of all that this starts."""
READY = re.compile(r"Openbook is ready: (\S+) - sign in as (.*)")

# Tests ask faster than people do, and leave more running.
UNDISTURBED = {
    "PYTHONUNBUFFERED": "1",
    "OPENBOOK_WORKER": "off",
    "OPENBOOK_TITLE_MODEL": "off",
    "OPENBOOK_LIMIT_REQUESTS_MINUTE": "0",
    "OPENBOOK_LIMIT_RUNNING_REPLIES": "0",
    "OPENBOOK_LIMIT_SIGNUPS_HOUR": "0",
}

SERVE = ("serve", "--port", "0", "--skip-checks")
CHEAP = {"DJANGO_SETTINGS_MODULE": "tests.server_settings"}


class ServerFailedError(AssertionError):
    """The server ended or said nothing; the text holds all that it wrote."""


@dataclass
class ServerProcess:
    """A running `manage.py serve`. Its standard output and error are read all the time and kept."""

    process: subprocess.Popen[str] | Fork
    written: IO[str]
    lines: list[str] = field(default_factory=list)
    url: str = ""  # with a slash at its end
    sign_in: str = ""
    settled: threading.Event = field(default_factory=threading.Event)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def websocket_url(self) -> str:
        return self.url.replace("http://", "ws://", 1)

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def kill(self) -> int:
        """SIGKILL: what a crash or a power failure does."""
        return self._end(signal.SIGKILL)

    def terminate(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; gives its exit code."""
        return self._end(number)

    def wait_until_ready(self) -> None:
        if not self.settled.wait(READY_SECONDS) or not self.url:
            self.kill()
            raise ServerFailedError(f"The server was not ready within {READY_SECONDS} s. It wrote:\n{self.output}")

    def read(self) -> None:
        for line in self.written:
            self.lines.append(line)
            if match := READY.match(line):
                self.url, self.sign_in = match.groups()
                self.settled.set()
        self.settled.set()

    def _end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)  # does nothing when the process has ended and was waited for
        return self.process.wait(60)


def database_url() -> str:
    """That of the tests, for a process of its own."""
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}"))


@contextmanager
def server(database_url: str, **environment: str) -> Iterator[ServerProcess]:
    """Start `manage.py serve` on a free port and wait until it is ready; it is killed at the end if it still runs.

    Without Django's checks, which say the same each time, and without the hash that takes half a second.
    """
    with started(*SERVE, DATABASE_URL=database_url, **CHEAP | environment) as running:
        running.wait_until_ready()
        yield running


@contextmanager
def server_process(database_url: str, **environment: str) -> Iterator[ServerProcess]:
    """The same as a process of its own, for who measures it or loads something into it."""
    with started_in(ROOT, *SERVE, DATABASE_URL=database_url, **CHEAP | environment) as running:
        running.wait_until_ready()
        yield running


@contextmanager
def started(*arguments: str, **environment: str) -> Iterator[ServerProcess]:
    """A command of manage.py, as a fork of a process that has loaded it; a server without a worker and without limits, unless
    the environment says otherwise."""
    mark, (read, write) = uuid.uuid4().hex, os.pipe()
    with os.fdopen(read) as written:
        environment = os.environ | UNDISTURBED | environment | {MARK: mark}
        process = commands().start(["manage.py", *arguments], environment, write, write)
        os.close(write)
        with _kept(ServerProcess(process, written), mark) as running:
            yield running


def started_in(folder: Path, *arguments: str, **environment: str) -> AbstractContextManager[ServerProcess]:
    """The same in a folder, as a process of its own."""
    return _started(folder, arguments, environment, apart=False)


def started_apart(folder: Path, *arguments: str, **environment: str) -> AbstractContextManager[ServerProcess]:
    """The same as a terminal starts it: with a group of processes that is its own."""
    return _started(folder, arguments, environment, apart=True)


@contextmanager
def _started(
    folder: Path, arguments: Sequence[str], environment: Mapping[str, str], *, apart: bool
) -> Iterator[ServerProcess]:
    mark = uuid.uuid4().hex
    with subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=folder,
        env={**os.environ, **UNDISTURBED, **environment, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=apart,
    ) as process:
        assert process.stdout
        with _kept(ServerProcess(process, process.stdout), mark) as running:
            yield running


@contextmanager
def _kept(running: ServerProcess, mark: str) -> Iterator[ServerProcess]:
    reader = threading.Thread(target=running.read, daemon=True)
    reader.start()
    try:
        yield running
    finally:
        running.kill()
        kill_marked(f"{MARK}={mark}")  # one that is left would hold the pipe, and whoever closes it would wait
        reader.join(10)
