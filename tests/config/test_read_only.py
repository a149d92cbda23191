"""A clone that nobody can write to, with its data elsewhere."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import ServerClient
from tests.processes import ROOT, started_in
from tests.volumes import read_only

PASSWORD = "correct-horse-battery-9"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Path]:
    with read_only(ROOT, tmp_path / "clone"):
        yield tmp_path / "clone"


@pytest.mark.operate
def test_it_serves_with_its_data_in_a_folder_that_is_made(clone: Path, tmp_path: Path) -> None:
    data = tmp_path / "not there" / "yet"
    environment = {
        "DATABASE_URL": "",
        "OPENBOOK_DATA_DIR": str(data),
        "OPENBOOK_WORKER": "on",
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "OPENBOOK_OFFLINE_WORD_SECONDS": "0",
    }
    with started_in(clone, "serve", "--port", "0", "--skip-checks", **environment) as running:
        running.wait_until_ready()
        client = ServerClient.signed_in(running.url, password=PASSWORD)
        answer = client.call("POST", "threads/new/messages/", {"content": "Hello"})
        assert answer["reply"]["status"] == "completed"
        assert running.terminate() == 0
        assert "Traceback" not in running.output
    assert {"postgres", "postgres.log", "secret_key", "serve.lock"} <= {path.name for path in data.iterdir()}


@pytest.mark.parametrize("key", ["", "a key of one's own that is long enough"], ids=["no key", "with a key"])
def test_without_such_a_folder_it_says_what_to_set(clone: Path, key: str) -> None:
    with started_in(clone, "check", DATABASE_URL="", SECRET_KEY=key) as running:
        assert running.process.wait(60) == 1
        running.settled.wait(60)
        assert "can't be written: Read-only file system. Set OPENBOOK_DATA_DIR" in running.output
        assert "Traceback" not in running.output
