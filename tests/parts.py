"""The parts of an installation – servers, workers, PostgreSQL, PgBouncer, Redis, HAProxy – as processes that are killed and
started again where they were, as a service manager does it."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psycopg

from tests.pooler import configured as configured_pooler
from tests.processes import READY_SECONDS, ROOT, UNDISTURBED
from tests.services import POSTGRES_15, free_port, program
from tests.waiting import until

NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
"""Neither PostgreSQL nor PgBouncer runs as root."""
# What was committed survives SIGKILL of PostgreSQL without fsync, which is for the machine's own end.
KEEPS_COMMITS = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off", "listen_addresses": "127.0.0.1"}

HOLDS_LEASE = "SELECT FROM conversations_lease WHERE starts_with(name, %s) AND lease_until > now()"


@dataclass
class Part:
    """A process, and the moments between which it was not ``ready``."""

    name: str
    command: Sequence[str]
    log: Path
    ready: Callable[[int], bool]
    """Given its process id."""
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    downs: list[tuple[float, float]] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None
    _killed_at: float = 0.0

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def start(self) -> None:
        """Until it is ready; what ends before that, because another part is away, is started again."""
        until(self._is_up, seconds=READY_SECONDS)
        if self._killed_at:
            self.downs.append((self._killed_at, time.monotonic()))

    def kill(self) -> None:
        """SIGKILL. It must have run until now."""
        assert not self.has_ended, f"{self.name} has ended by itself:\n{self.output[-4000:]}"
        self._killed_at = time.monotonic()
        self.end()

    def signal(self, number: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(number)

    def end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(30)

    def _is_up(self) -> bool:
        if self.has_ended:
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    self.command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    **{"cwd": ROOT, **self.options},
                )  # fmt: skip
        return self.ready(self.pid) and not self.has_ended


def listens(port: int) -> Callable[[int], bool]:
    return listens_at("127.0.0.1", port)


def listens_at(address: str, port: int) -> Callable[[int], bool]:
    def ready(pid: int) -> bool:
        with suppress(OSError), socket.create_connection((address, port), timeout=5):
            return True
        return False

    return ready


def serves(port: int, address: str = "127.0.0.1") -> Callable[[int], bool]:
    """A server also listens for a moment at its beginning, to see whether it can."""

    def ready(pid: int) -> bool:
        with suppress(OSError, HTTPException), closing(HTTPConnection(address, port, timeout=5)) as connection:
            connection.request("GET", "/health/", headers={"Host": "127.0.0.1"})
            return connection.getresponse().status > 0
        return False

    return ready


def serving(name: str, port: int, folder: Path, environment: Mapping[str, str]) -> Part:
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--skip-checks"]
    return Part(name, command, folder / f"{name}.log", serves(port), {**UNDISTURBED, **environment})


def works(database: str) -> Callable[[int], bool]:
    """A worker runs tasks once it holds the lease of its name."""

    def ready(pid: int) -> bool:
        with suppress(psycopg.Error), psycopg.connect(database, connect_timeout=5) as connection:
            return (
                connection.execute(HOLDS_LEASE, [f"worker {socket.gethostname()[:40]}.{pid}."]).fetchone() is not None
            )
        return False

    return ready


def working(name: str, folder: Path, environment: Mapping[str, str], database: str) -> Part:
    """``database`` is where its lease is looked for."""
    command = [sys.executable, "manage.py", "work", "--skip-checks"]
    return Part(name, command, folder / f"{name}.log", works(database), {**UNDISTURBED, **environment})


def redis(folder: Path) -> tuple[Part, str]:
    """And its URL."""
    port = free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    command = [program("OPENBOOK_TEST_REDIS", "redis-server"), *options]
    return Part("redis", command, folder / "redis.log", listens(port)), f"redis://127.0.0.1:{port}/0"


@contextmanager
def pgbouncer(database_url: str, size: int) -> Iterator[tuple[Part, str]]:
    """And the database's URL behind it."""
    with tempfile.TemporaryDirectory(prefix="openbook-pooler-") as name:
        command, port, url = configured_pooler(database_url, Path(name), size)
        part = Part("pgbouncer", command, Path(name) / "pgbouncer.log", listens(port), options=NOBODY)
        try:
            yield part, url
        finally:
            part.end()


@contextmanager
def postgres(*, environment: Mapping[str, str] | None = None, **settings: str) -> Iterator[tuple[Part, str]]:
    """A PostgreSQL of its own with these settings, and the URL of an empty database whose role owns nothing else."""
    binaries = Path(os.environ.get("OPENBOOK_TEST_POSTGRES15_BIN", POSTGRES_15))
    with tempfile.TemporaryDirectory(prefix="openbook-postgres-") as name:
        folder, port = Path(name), free_port()
        if NOBODY:
            os.chown(folder, NOBODY["user"], NOBODY["group"])
        data = folder / "data"
        initdb = [str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync"]
        with (folder / "initdb.log").open("wb") as log:
            subprocess.run(
                [*initdb, "--encoding=UTF8", "--locale=C.UTF-8"],
                check=True,
                stdout=log,
                stderr=log,
                cwd=folder,
                **NOBODY,
            )
        options = {**KEEPS_COMMITS, "unix_socket_directories": "", **settings, "port": str(port)}
        command = [str(binaries / "postgres"), "-D", str(data)]
        command += [word for key, value in options.items() for word in ("-c", f"{key}={value}")]
        administration = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        # Its former processes may take a moment to see that it was killed; until then it ends at once when it is started.
        part = Part(
            "postgres",
            command,
            folder / "postgres.log",
            lambda pid: answers(administration),
            environment=environment or {},
            options={"cwd": folder, **NOBODY},
        )
        try:
            part.start()
            with psycopg.connect(administration, autocommit=True) as connection:
                connection.execute("CREATE ROLE openbook LOGIN")
                connection.execute("CREATE DATABASE openbook OWNER openbook")
            yield part, f"postgresql://openbook@127.0.0.1:{port}/openbook"
        finally:
            part.end()


def answers(url: str) -> bool:
    with suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=5):
        return True
    return False
