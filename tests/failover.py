"""Two real PostgreSQLs of Debian's, one the standby of the other, which change places."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.hosts import Host
from tests.services import POSTGRES_15, free_port
from tests.upgrades import dump, load
from tests.waiting import until

PROGRAMS = Path(os.environ.get("OPENBOOK_TEST_POSTGRES15_BIN", POSTGRES_15))
NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
"""PostgreSQL does not run as root."""
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "jit": "off",
    "wal_log_hints": "on",  # pg_rewind needs it
    "wal_keep_size": "256MB",  # and what it was since they parted
    "hot_standby_feedback": "off",
    "max_standby_streaming_delay": "100ms",
}
NOT_OF_DEBIAN = re.compile(r"^(?:SET transaction_timeout|CREATE EXTENSION).*\n", re.MULTILINE)
FOLLOWS = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"
IN_RECOVERY = "SELECT pg_is_in_recovery()"


@dataclass(eq=False)
class Node:
    """One of them."""

    folder: Path
    host: Host | None = None
    """One of a network of its own, or this one."""
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return self.host.address if self.host else "127.0.0.1"

    @property
    def place(self) -> str:
        return f"{self.address}:{self.port}"

    def start(self) -> None:
        command = [str(PROGRAMS / "postgres"), "-D", str(self.folder), "-p", str(self.port)]
        options = NOBODY
        if self.host:
            command, options = [*self.host.prefix, *AS_NOBODY, *command, "-h", self.address], {}
        with self.folder.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, **options)
        until(self._answers)

    def kill(self) -> None:
        """SIGKILL for all of its processes. The first one is held meanwhile, so that it does nothing about the others."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            for child in subprocess.run(["pgrep", "-P", str(self.process.pid)], stdout=-1, check=False).stdout.split():
                os.kill(int(child), signal.SIGKILL)
            self.process.kill()
            self.process.wait(30)

    def stop(self) -> None:
        assert self.process
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def ask(self, statement: str, database: str = "openbook") -> list[tuple[Any, ...]]:
        """As the superuser, outside of a transaction."""
        with psycopg.connect(
            host=self.address, port=self.port, user="postgres", dbname=database, autocommit=True
        ) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def set(self, name: str, value: str) -> None:
        self.ask(f"ALTER SYSTEM SET {name} = '{value}'")
        self.ask("SELECT pg_reload_conf()")

    def _answers(self) -> bool:
        assert self.process
        assert self.process.poll() is None, self.folder.with_suffix(".log").read_text()[-2000:]
        try:
            self.ask("SELECT 1", "postgres")
        except psycopg.OperationalError:
            return False
        return True


@dataclass(eq=False)
class Pair:
    """``first`` and ``second`` as they stand in the address; either may be the primary."""

    first: Node
    second: Node
    primary: Node
    standby: Node

    @property
    def url(self) -> str:
        return f"postgresql://openbook@{self.first.place},{self.second.place}/openbook?target_session_attrs=read-write"

    @property
    def standby_url(self) -> str:
        return f"postgresql://openbook@{self.standby.place}/openbook"

    def fill(self, template: str) -> None:
        """As a database of the tests' own server, which saves what `migrate` takes."""
        url = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{template}"))
        load(NOT_OF_DEBIAN.sub("", dump(url)), self.url)

    def promote(self) -> None:
        """The standby is the primary from now on. Nobody follows it, so that it waits for nobody."""
        self.standby.ask("SELECT pg_promote()")
        self.primary, self.standby = self.standby, self.primary

    def rejoin(self) -> None:
        """The former primary, which does not run, follows the new one."""
        self.primary.ask("CHECKPOINT")  # or pg_rewind would not see that it was promoted
        source = f"host={self.primary.address} port={self.primary.port} user=postgres dbname=postgres"
        run("pg_rewind", "-D", str(self.standby.folder), f"--source-server={source}", "-R")
        self.standby.start()
        self.synchronise()

    def synchronise(self) -> None:
        """A commit is acknowledged once the standby has it as well."""
        self.primary.set("synchronous_standby_names", "*")
        until(lambda: self.primary.ask(FOLLOWS) == [(1,)])


def run(name: str, *arguments: str) -> None:
    command: Sequence[str] = [str(PROGRAMS / name), *arguments]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **NOBODY)
    assert done.returncode == 0, done.stderr


@contextmanager
def replicated(*hosts: Host) -> Iterator[Pair]:
    """With an empty database of the role ``openbook``, each on a host of its own or both on this one; both are killed at the
    end."""
    folder = Path(tempfile.mkdtemp(prefix="openbook-pair-"))
    if NOBODY:
        os.chown(folder, NOBODY["user"], NOBODY["group"])
    first, second = (Node(folder / name, host) for name, host in zip_longest(("first", "second"), hosts))
    pair = Pair(first, second, primary=first, standby=second)
    try:
        initdb = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        run("initdb", "-D", str(first.folder), *initdb)
        with (first.folder / "postgresql.conf").open("a") as settings:
            settings.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
        with (first.folder / "pg_hba.conf").open("a") as rules:
            rules.writelines(
                f"host {whose} all {host.address}/24 trust\n" for host in hosts for whose in ("all", "replication")
            )
        first.start()
        first.ask("CREATE ROLE openbook LOGIN", "postgres")
        first.ask("CREATE DATABASE openbook OWNER openbook", "postgres")
        source = ["-h", first.address, "-p", str(first.port), "-U", "postgres"]
        run("pg_basebackup", "-D", str(second.folder), *source, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        second.start()
        pair.synchronise()
        yield pair
    finally:
        first.kill()
        second.kill()
        shutil.rmtree(folder)
