"""An installation is brought back to a moment by pgBackRest, with the commands of docs/operate/backup.md. `make soak` runs it;
it is no part of the suite.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests import parts
from tests.clients import ApiError, ServerClient
from tests.parts import NOBODY, Part
from tests.processes import ROOT, UNDISTURBED, server
from tests.services import program
from tests.test_processes import PASSWORD
from tests.waiting import until

CONFIGURATION = """
[global]
repo1-path={folder}/repository
repo1-retention-full=2
start-fast=y
log-path={folder}
lock-path={folder}/lock
spool-path={folder}/spool
log-level-console=warn

[openbook]
pg1-path={data}
pg1-port={port}
pg1-socket-path={folder}
pg1-user=postgres
"""
ARCHIVED = "SELECT last_archived_wal >= %s AND failed_count = 0 FROM pg_stat_archiver"


@dataclass
class Archived:
    """A PostgreSQL whose log pgBackRest archives."""

    postgres: Part
    url: str
    configuration: Path

    def pgbackrest(self, *arguments: str) -> str:
        command = [program("OPENBOOK_TEST_PGBACKREST", "pgbackrest"), f"--config={self.configuration}"]
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [*command, "--stanza=openbook", *arguments], capture_output=True, text=True, check=False, cwd="/", **NOBODY
        )
        assert done.returncode == 0, done.stdout + done.stderr + self.postgres.output[-2000:]
        return done.stdout

    def ask(self, statement: str, *values: object) -> object:
        administration = self.url.replace("openbook@", "postgres@")
        with closing(psycopg.connect(administration, autocommit=True)) as connection:
            row = connection.execute(statement, values).fetchone()
        return row and row[0]

    def stop(self) -> None:
        os.kill(self.postgres.pid, signal.SIGINT)
        until(lambda: self.postgres.has_ended)


@pytest.fixture
def archived() -> Iterator[Archived]:
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="openbook-archive-"))
        stack.callback(shutil.rmtree, folder)
        if NOBODY:
            os.chown(folder, NOBODY["user"], NOBODY["group"])
        configuration = folder / "pgbackrest.conf"
        push = f"{program('OPENBOOK_TEST_PGBACKREST', 'pgbackrest')} --config={configuration} --stanza=openbook"
        postgres, url = stack.enter_context(
            parts.postgres(
                unix_socket_directories=str(folder), archive_mode="on", archive_command=f"{push} archive-push %p"
            )
        )
        data, port = postgres.command[2], psycopg.conninfo.conninfo_to_dict(url)["port"]
        configuration.write_text(CONFIGURATION.format(folder=folder, data=data, port=port))
        made = Archived(postgres, url, configuration)
        made.pgbackrest("stanza-create")
        made.ask("SELECT pg_stat_reset_shared('archiver')")  # what failed before there was a stanza
        yield made


def test_the_database_comes_back_as_it_was_at_a_moment(archived: Archived, tmp_path: Path) -> None:
    environment = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "OPENBOOK_ERASURE_LEDGER": str(tmp_path / "ledger")}
    with server(archived.url, **environment) as process:
        client = ServerClient.signed_in(process.url, password=PASSWORD)
        deleted, forgotten, later = (client.call("POST", "threads/", {})["id"] for _ in range(3))
        client.call("POST", f"threads/{deleted}/messages/", {"content": "Before the backup."})
        archived.pgbackrest("check")
        archived.pgbackrest("--type=full", "backup")
        for thread in (deleted, forgotten):
            client.call("POST", f"threads/{thread}/messages/", {"content": "After the backup."})
        turns = client.messages(deleted)
        assert len(turns) == 4
        moment = str(archived.ask("SELECT clock_timestamp()"))
        client.call("POST", f"threads/{later}/messages/", {"content": "After the moment."})
        for thread in (deleted, forgotten):
            client.call("DELETE", f"threads/{thread}/")
    last = archived.ask("SELECT pg_walfile_name(pg_switch_wal())")
    until(lambda: archived.ask(ARCHIVED, last))
    archived.stop()

    archived.pgbackrest("--delta", "--type=time", f"--target={moment}", "--target-action=promote", "restore")
    archived.postgres.start()
    until(lambda: not archived.ask("SELECT pg_is_in_recovery()"))
    forgotten_again = subprocess.run(
        [sys.executable, "manage.py", "forget_again", moment, "--keep", deleted],
        env=os.environ
        | UNDISTURBED
        | environment
        | {"DATABASE_URL": archived.url, "DJANGO_SETTINGS_MODULE": "tests.server_settings"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert forgotten_again.stdout.strip() == "Forgotten again: 1.", forgotten_again.stderr
    with server(archived.url, **environment) as process:
        client = ServerClient.signed_in(process.url, password=PASSWORD)
        assert client.messages(deleted) == turns
        assert client.messages(later) == []
        with pytest.raises(ApiError, match="404"):
            client.messages(forgotten)
        client.call("POST", f"threads/{deleted}/messages/", {"content": "It goes on."})
        assert len(client.messages(deleted)) == 6
    archived.pgbackrest("check")
    archived.pgbackrest("--type=diff", "backup")
