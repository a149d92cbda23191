"""An installation is copied while it runs, put into an empty place, and proven; what was forgotten since is forgotten again."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config.backups import runs
from config.backups.backup import LEFT_OUT
from tests import upgrades
from tests.commands import SETTINGS, Commands
from tests.config.backups.filling import WORDS
from tests.pooler import pgbouncer
from tests.processes import started
from tests.s3_server import s3_server
from tests.services import free_port, fresh_database
from tests.volumes import mounted
from tests.waiting import until

pytestmark = pytest.mark.process
KEY = "k" * 43


@dataclass(frozen=True)
class Installation:
    commands: Commands
    url: str
    folder: Path
    ledger: Path
    more: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.url,
            "OPENBOOK_FILES_DIR": str(self.folder),
            "OPENBOOK_ERASURE_LEDGER": str(self.ledger),
        } | self.more

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Without Django's checks, which say the same each time."""
        more = ["--skip-checks"] if arguments[0] == "manage.py" else []
        return self.commands.run(*arguments, *more, **self.environment | environment)

    def at(self, url: str, folder: Path, ledger: Path) -> "Installation":
        return Installation(self.commands, url, folder, ledger, self.more)

    def manage(self, *arguments: str, **environment: str) -> str:
        done = self.run("manage.py", *arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *arguments: str, **environment: str) -> str:
        done = self.run("manage.py", *arguments, **environment)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def filling(self, *arguments: str) -> dict[str, object]:
        done = self.run("-m", "tests.config.backups.filling", *arguments)
        assert done.returncode == 0, done.stderr
        told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
        return told


@pytest.fixture(scope="module")
def source(forks: Commands, migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("source")
    with fresh_database(migrated) as url:
        made = Installation(forks, url, folder / "files", folder / "ledger")
        made.filling("fill")
        yield made


ABOUT_BACKUPS = re.compile(r",backup_(made|restored),")
"""Events of the audit record that tell of what is tried here."""


def rows(url: str) -> dict[str, list[str]]:
    """All rows of all tables that a backup holds, as text."""
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') "
            "AND NOT relispartition AND relpersistence = 'p' AND NOT relname = ANY(%s)",
            [LEFT_OUT],
        ).fetchall()
        return {
            name: sorted(
                row
                for (row,) in connection.execute(f"SELECT t::text FROM {name} AS t")  # noqa: S608
                if not ABOUT_BACKUPS.search(row)
            )
            for (name,) in names
        }


def test_all_comes_back_and_what_was_forgotten_since_does_not(
    source: Installation, migrated: str, tmp_path: Path
) -> None:
    said = source.manage("backup", str(tmp_path / "clear"))
    assert "not encrypted" in said
    said = source.manage("backup", str(tmp_path / "sealed"), OPENBOOK_BACKUP_KEY=KEY)
    assert " encrypted" in said
    stored = b"".join(path.read_bytes() for path in (tmp_path / "sealed").rglob("*") if path.is_file())
    assert not any(word.encode() in stored for word in WORDS)
    before = rows(source.url)
    with fresh_database(migrated) as url:
        copy = source.at(url, tmp_path / "files", tmp_path / "no ledger")
        assert "another key" in copy.refused("restore", str(tmp_path / "sealed"), OPENBOOK_BACKUP_KEY="o" * 43)
        assert "is encrypted" in copy.refused("restore", str(tmp_path / "sealed"))
        assert "forgotten again: 0" in copy.manage("restore", str(tmp_path / "sealed"), OPENBOOK_BACKUP_KEY=KEY)
        assert rows(url) == before
        assert copy.filling("tell") == source.filling("tell")
        assert "holds accounts" in copy.refused("restore", str(tmp_path / "sealed"), OPENBOOK_BACKUP_KEY=KEY)
        assert copy.filling("add"), "sequences go on"
    forgotten = source.filling("forget")
    with fresh_database(migrated) as url:
        copy = source.at(url, tmp_path / "files again", source.ledger)
        assert f"forgotten again: {forgotten['count']}" in copy.manage("restore", str(tmp_path / "clear"))
        assert copy.filling("tell") == source.filling("tell")
    assert not any(word in path.read_text() for path in source.ledger.glob("*.jsonl") for word in WORDS)


@pytest.mark.operate
def test_a_restored_backup_keeps_for_a_hold_what_was_deleted_since(
    forks: Commands, migrated: str, tmp_path: Path
) -> None:
    with fresh_database(migrated) as url, fresh_database(migrated) as second:
        source = Installation(forks, url, tmp_path / "here" / "files", tmp_path / "here" / "ledger")
        source.filling("fill")
        backup = tmp_path / "backups" / "yesterday"
        backup.parent.mkdir()
        source.manage("backup", str(backup))
        source.filling("hold")
        expected = {"turns": [0, 0], "held": [2, 0], "holds": 1}
        assert source.filling("held") == expected
        copy = source.at(second, tmp_path / "there", source.ledger)
        copy.manage("restore", str(backup))
        assert copy.filling("held") == expected, "a hold that the backup does not know"
        assert copy.filling("release") == {"turns": [0, 0], "held": [0, 0], "holds": 0}
        assert not [table for table, lines in rows(second).items() for line in lines if "Pangolin" in line]


@pytest.mark.wide
def test_a_damaged_backup_and_one_that_is_not_whole_are_refused(source: Installation, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("mine")
    assert "is not empty" in source.refused("backup", str(tmp_path / "taken"))
    source.manage("backup", str(tmp_path / "copy"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "taken"]
    table = tmp_path / "copy" / "tables" / "conversations_message.copy.gz"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    with fresh_database() as url:
        copy = source.at(url, tmp_path / "files", tmp_path / "ledger")
        assert "conversations_message.copy.gz is damaged" in copy.refused("restore", str(tmp_path / "copy"))
        path = tmp_path / "copy" / "manifest.json"
        manifest = json.loads(path.read_text())
        path.write_text(
            json.dumps(manifest | {"migrations": [*manifest["migrations"], ["conversations", "9999_later"]]})
        )
        assert "newer Openbook" in copy.refused("restore", str(tmp_path / "copy"))
        path.unlink()
        assert "holds no manifest.json" in copy.refused("restore", str(tmp_path / "copy"))
        with psycopg.connect(url) as connection:
            assert connection.execute(
                "SELECT count(*) FROM pg_class WHERE relname LIKE 'conversations%'"
            ).fetchone() == (0,)


@pytest.mark.operate
def test_a_changed_backup_comes_in_neither_beside_a_key_nor_by_the_names_of_its_tables(
    source: Installation, migrated: str, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    source.manage("backup", str(folder))
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    with fresh_database(migrated) as url:
        copy = source.at(url, tmp_path / "files", tmp_path / "ledger")
        for command in ("restore", "drill"):
            words = copy.refused(command, str(folder), OPENBOOK_BACKUP_KEY=KEY)
            assert "is not encrypted" in words and "unset OPENBOOK_BACKUP_KEY" in words
        before = rows(url)
        first = manifest["tables"][0]
        for name, column in (("django_session", "session_key"), ("pg_authid", "rolname"), (first["name"], "salary")):
            stored = f"tables/{name}.copy.gz"
            if name != first["name"]:
                (folder / stored).hardlink_to(folder / first["file"]["path"])
            table = first | {"name": name, "columns": [column], "file": first["file"] | {"path": stored}}
            path.write_text(json.dumps(manifest | {"tables": [*manifest["tables"], table]}))
            assert f"names {name}.{column}, which its schema doesn't have" in copy.refused("restore", str(folder))
        assert rows(url) == before


@pytest.mark.operate
def test_a_backup_may_come_through_a_pooler_and_files_may_lie_in_a_bucket(
    source: Installation, migrated: str, tmp_path: Path
) -> None:
    with pgbouncer(source.url) as between, s3_server() as s3, fresh_database(migrated) as url:
        source.at(between.url, source.folder, source.ledger).manage("backup", str(tmp_path / "from folder"))
        copy = replace(source.at(url, tmp_path / "none", tmp_path / "ledger"), more=s3.environment)
        copy.manage("restore", str(tmp_path / "from folder"))
        copy.manage("backup", str(tmp_path / "from bucket"))
        assert copy.filling("tell") == source.filling("tell")
        assert between.left_in_sessions() == set()
        kept = len(s3.places())
    one, other = (
        json.loads((tmp_path / f"from {name}" / "manifest.json").read_text()) for name in ("folder", "bucket")
    )
    assert one["files_count"] == other["files_count"] == kept > 0
    assert (one["files_bytes"], one["files_missing"]) == (other["files_bytes"], other["files_missing"])
    assert not any(path.is_file() for path in (tmp_path / "none").rglob("*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_backup_that_finds_no_room_leaves_nothing(source: Installation, tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "64k"):
        words = source.refused("backup", str(tmp_path / "small" / "copy"))
        assert words.endswith("can't be written: No space left on device. Nothing was kept.\n")
        assert list((tmp_path / "small").iterdir()) == []
    with psycopg.connect(source.url) as connection:
        ran = connection.execute(
            "SELECT kind, succeeded FROM conversations_maintenancerun ORDER BY began_at DESC LIMIT 1"
        )
        assert ran.fetchone() == ("backup", False)


@pytest.mark.operate
def test_what_a_killed_backup_left_goes_with_the_next(source: Installation, tmp_path: Path) -> None:
    folder, partial = tmp_path / "copy", tmp_path / "copy.partial"
    with started("backup", str(folder), "--rate", "0.0001", **SETTINGS, **source.environment) as backup:
        until(lambda: len(list(partial.glob("tables/*"))) > 1)
        assert "Another backup is written to" in source.refused("backup", str(folder))
        backup.kill()
    assert (folder.exists(), partial.exists()) == (False, True)
    assert "it is no backup, or one that broke off" in source.refused("restore", str(partial))
    source.manage("backup", str(folder))
    assert (folder.exists(), partial.exists()) == (True, False)


@pytest.mark.operate
@pytest.mark.parametrize("is_older", [False, True], ids=["now", "older schema"])
def test_a_drill_proves_that_requests_come_back_byte_for_byte(
    source: Installation, tmp_path: Path, is_older: bool
) -> None:
    """Where the address names several hosts, of which one is down."""
    told = source.filling("tell")
    if is_older:
        source.manage("migrate", "conversations", "0027", "--verbosity", "0")
    source.manage("backup", str(tmp_path / "copy"), OPENBOOK_BACKUP_KEY=KEY)
    if is_older:
        source.manage("migrate", "--verbosity", "0")
        assert "0028_" not in (tmp_path / "copy" / "manifest.json").read_text()
    server = conninfo_to_dict(source.url)
    several = make_conninfo(
        source.url, host=f"127.0.0.1,{server['host']}", port=f"{free_port()},{server.get('port', 5432)}"
    )
    elsewhere = source.at(several, source.folder, source.ledger)
    drilled = json.loads(elsewhere.manage("drill", str(tmp_path / "copy"), "--json", OPENBOOK_BACKUP_KEY=KEY))
    assert (drilled["proven"], drilled["different"]) == (told["proven"], 0)
    with psycopg.connect(source.url, autocommit=True) as connection:
        databases = "SELECT count(*) FROM pg_database WHERE datname LIKE 'drill%'"
        until(lambda: connection.execute(databases).fetchone() == (0,), seconds=150)  # tests beside this one drill, too
        ran = connection.execute(
            "SELECT kind, succeeded FROM conversations_maintenancerun ORDER BY began_at DESC LIMIT 2"
        )
        assert ran.fetchall() == [("drill", True), ("backup", True)]


@pytest.mark.operate
def test_a_database_of_the_first_release_is_backed_up_before_its_upgrade(forks: Commands, tmp_path: Path) -> None:
    """It has no table of backups and restores. A restore that broke off is known all the same, and is run once more."""
    copy, damaged = str(tmp_path / "copy"), tmp_path / "damaged ledger"
    (damaged / "salt").mkdir(parents=True)
    with fresh_database() as url:
        upgrades.restore("0.1.0", url)
        Installation(forks, url, tmp_path / "files", tmp_path / "ledger").manage("backup", copy)
    with fresh_database() as url:
        new = Installation(forks, url, tmp_path / "files again", tmp_path / "ledger")
        words = new.refused("restore", copy, OPENBOOK_ERASURE_LEDGER=str(damaged))
        assert "The erasure ledger can't be read: " in words
        assert is_marked(url)
        assert "has not come to its end" in new.refused("serve", "--port", "0")
        proof = json.loads(new.manage("restore", copy, "--prove", "9").splitlines()[-1])
        assert (proof["proven"], proof["different"]) == (upgrades.recorded_contents("0.1.0")["proven"], 0)
        assert not is_marked(url)


def is_marked(url: str) -> bool:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT to_regclass(%s)", [runs.MARK]).fetchone() != (None,)
