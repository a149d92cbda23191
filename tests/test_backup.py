"""An installation is copied while it runs, put into an empty place, and proven; what was forgotten since is forgotten again."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from conversations.keep.backup import LEFT_OUT
from tests.commands import Commands
from tests.conversations.keep.filling import WORDS
from tests.services import fresh_database

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
        return self.commands.run(*arguments, **self.environment | environment)

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
        done = self.run("-m", "tests.conversations.keep.filling", *arguments)
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


def rows(url: str) -> dict[str, list[str]]:
    """All rows of all tables that a backup holds, as text."""
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') "
            "AND NOT relispartition AND relpersistence = 'p' AND NOT relname = ANY(%s)",
            [LEFT_OUT],
        ).fetchall()
        return {
            name: sorted(row for (row,) in connection.execute(f"SELECT t::text FROM {name} AS t"))  # noqa: S608
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


def test_a_drill_proves_that_requests_come_back_byte_for_byte(source: Installation, tmp_path: Path) -> None:
    told = source.filling("tell")
    source.manage("backup", str(tmp_path / "copy"), OPENBOOK_BACKUP_KEY=KEY)
    drilled = json.loads(source.manage("drill", str(tmp_path / "copy"), "--json", OPENBOOK_BACKUP_KEY=KEY))
    assert (drilled["proven"], drilled["different"]) == (told["proven"], 0)
    with psycopg.connect(source.url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_database WHERE datname LIKE 'drill%'").fetchone() == (0,)
        ran = connection.execute(
            "SELECT kind, succeeded FROM conversations_maintenancerun ORDER BY began_at DESC LIMIT 2"
        )
        assert ran.fetchall() == [("drill", True), ("backup", True)]
