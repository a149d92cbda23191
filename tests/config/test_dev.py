"""`manage.py dev` as a developer uses it: in a clone, whose files change."""

import re
import shutil
import signal
import socket
from pathlib import Path

import psycopg
import pytest
from httpx2 import get

from tests.processes import ROOT, ServerProcess, started_in
from tests.services import fresh_database
from tests.waiting import until

FOLDERS = ["artifacts", "config", "conversations", "memory", "templates"]
SIGN_IN = "accounts/login/"
STYLE = "conversations/static/conversations/css/base.css"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", tmp_path)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    return tmp_path


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def starts(running: ServerProcess) -> int:
    return running.output.count("Openbook is ready")


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))


def test_a_change_is_seen_a_mistake_is_outlived_and_the_end_leaves_nothing(
    clone: Path, port: int, migrated: str
) -> None:
    with (
        fresh_database(migrated) as database,
        started_in(clone, "dev", "--port", str(port), DATABASE_URL=database, OPENBOOK_WORKER="on") as running,
    ):
        running.wait_until_ready()
        page, style = f"{running.url}{SIGN_IN}", f"{running.url}static/{STYLE.partition('static/')[2]}"
        assert get(page).status_code == 200

        change(clone / STYLE, "", "/* a new line */")
        assert get(style).text.startswith("/* a new line */")
        assert get(style).headers["Cache-Control"] == "no-cache"
        assert starts(running) == 1

        change(clone / "templates/base.html", "<body", "<body data-mark='here'")
        until(lambda: starts(running) == 2)
        assert "templates/base.html has changed: starting again ..." in running.output
        assert "data-mark" in get(page).text

        urls = clone / "config/urls.py"
        change(urls, "urlpatterns", "urlpatterns = (\nurlpatterns")
        until(lambda: "It starts again when a file changes." in running.output)
        change(urls, "urlpatterns = (\nurlpatterns", "urlpatterns")
        until(lambda: starts(running) == 3)
        assert get(page).status_code == 200

        assert running.terminate(signal.SIGINT) == 0
        assert not re.search("Traceback.*KeyboardInterrupt", running.output, re.DOTALL)
        with psycopg.connect(database, autocommit=True) as connection:
            others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            until(lambda: not connection.execute(others).fetchall())
