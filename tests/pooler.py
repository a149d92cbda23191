"""A real PgBouncer in transaction mode, between what a test starts and the tests' PostgreSQL."""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.services import free_port, program
from tests.waiting import until

SETTINGS = """
[databases]
* = host={host} port={port} user={user}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
admin_users = administration
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 500
server_round_robin = 1
query_wait_timeout = 20
server_login_retry = 1
"""
"""One transaction after the other of a client meets each of its server connections."""

# In the session of each server connection, where nobody is connected but this pooler's clients.
LEFT = """
SELECT 'lock ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
UNION ALL SELECT 'statement ' || name FROM pg_prepared_statements WHERE NOT name ~ '^PGBOUNCER_'
UNION ALL SELECT 'cursor ' || name FROM pg_cursors WHERE name <> ''
UNION ALL SELECT 'channel ' || pg_listening_channels
    FROM pg_listening_channels() AS pg_listening_channels
UNION ALL SELECT 'setting ' || name FROM pg_settings
    WHERE source = 'session' AND name NOT IN ('TimeZone', 'client_encoding', 'application_name', 'DateStyle',
                                              'standard_conforming_strings', 'IntervalStyle', 'extra_float_digits')
UNION ALL SELECT 'table ' || relname FROM pg_class WHERE relpersistence = 't'
"""


@dataclass
class Pooler:
    """``url`` is that of the database behind it."""

    url: str
    size: int
    command: list[str]
    _process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        user = (
            {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        )  # it does not run as root
        self._process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL, **user)  # type: ignore[call-overload]
        until(self._answers)

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(30)

    def turn_to(self, database_url: str) -> None:
        """To another PostgreSQL, as whoever promotes a standby does: its address is written down and read again."""
        path = Path(self.command[-1])
        parts = conninfo_to_dict(database_url)
        address = f"* = host={parts['host']} port={parts['port']} "
        path.write_text(re.sub(r"\* = host=\S+ port=\d+ ", address, path.read_text()))
        assert self._process
        self._process.send_signal(signal.SIGHUP)

    def left_in_sessions(self) -> set[str]:
        """What was left by anybody, in any of the sessions: locks, statements, cursors, settings, temporary tables."""
        found: set[str] = set()
        with (
            psycopg.connect(self.url, prepare_threshold=None) as one,
            psycopg.connect(self.url, prepare_threshold=None) as other,
        ):
            backends = set()
            for connection in (one, other):  # both in a transaction, so each in a session of its own
                backends.add(connection.execute("SELECT pg_backend_pid()").fetchone())
                found |= {row[0] for row in connection.execute(LEFT)}
            assert len(backends) == self.size
        return found

    def _answers(self) -> bool:
        assert self._process
        assert self._process.poll() is None, "PgBouncer has ended: start it by hand to see why"
        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


def configured(database_url: str, folder: Path, size: int) -> tuple[list[str], int, str]:
    """The command for a folder that others may read, its port, and the database's URL behind it."""
    parts, listen = conninfo_to_dict(database_url), free_port()
    folder.chmod(0o755)
    values = {"host": parts["host"], "port": parts["port"], "user": parts["user"], "listen": listen, "size": size}
    (folder / "pgbouncer.ini").write_text(SETTINGS.format(**values))
    command = [program("OPENBOOK_TEST_PGBOUNCER", "pgbouncer"), "-q", str(folder / "pgbouncer.ini")]
    return command, listen, f"postgresql://openbook@127.0.0.1:{listen}/{parts['dbname']}"


@contextmanager
def pgbouncer(database_url: str) -> Iterator[Pooler]:
    """With two connections to PostgreSQL for everybody; it is killed at the end."""
    size = 2
    with tempfile.TemporaryDirectory(prefix="openbook-pooler-") as name:
        command, _, url = configured(database_url, Path(name), size)
        pooler = Pooler(url, size, command)
        try:
            pooler.start()
            yield pooler
        finally:
            pooler.kill()
