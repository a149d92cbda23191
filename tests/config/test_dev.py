"""`manage.py dev` as a developer uses it: in a clone, whose files change."""

import os
import re
import shutil
import signal
import socket
from pathlib import Path

import psycopg
import pytest
from httpx2 import get

from tests.process_table import command, descendants, runs
from tests.processes import ROOT, ServerProcess, started_apart
from tests.services import fresh_database
from tests.waiting import DEADLINE_SECONDS, until

FOLDERS = ["artifacts", "config", "conversations", "memory", "templates"]
SIGN_IN = "accounts/login/"
STYLE = "conversations/static/conversations/css/base.css"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name)
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


@pytest.mark.wide
def test_a_change_is_seen_a_mistake_is_outlived_and_the_end_leaves_nothing(
    clone: Path, port: int, migrated: str
) -> None:
    with (
        fresh_database(migrated) as database,
        started_apart(clone, "dev", "--port", str(port), DATABASE_URL=database) as running,
    ):
        running.wait_until_ready()
        page, style = f"{running.url}{SIGN_IN}", f"{running.url}static/{STYLE.partition('static/')[2]}"
        assert get(page).status_code == 200

        change(clone / STYLE, "", "/* a new line */")
        assert get(style).text.startswith("/* a new line */")
        assert get(style).headers["Cache-Control"] == "no-cache"
        assert starts(running) == 1

        urls = clone / "config/urls.py"
        change(urls, "urlpatterns", "urlpatterns = (\nurlpatterns")
        until(lambda: "It starts again when a file changes." in running.output)
        assert "config/urls.py has changed: starting again ..." in running.output
        change(clone / "templates/base.html", "<body", "<body data-mark='here'")
        change(urls, "urlpatterns = (\nurlpatterns", "urlpatterns")
        until(lambda: starts(running) >= 2)
        assert "data-mark" in get(page).text

        press_ctrl_c(running)
        assert not re.search("Traceback.*KeyboardInterrupt", running.output, re.DOTALL)
        with psycopg.connect(database, autocommit=True) as connection:
            others = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            until(lambda: not connection.execute(others).fetchall())


def press_ctrl_c(running: ServerProcess) -> None:
    """It ends in time, and with it all that it started."""
    processes = descendants(running.pid)
    os.killpg(running.pid, signal.SIGINT)
    assert running.process.wait(DEADLINE_SECONDS) == 0
    assert [pid for pid in processes if runs(pid)] == []


@pytest.mark.operate
def test_ctrl_c_ends_everything_in_time_also_a_server_and_a_worker_that_get_no_time_to_end(
    port: int, tmp_path: Path
) -> None:
    """With a database of its own, which ends in good order."""
    data = tmp_path / "data"
    environment = {"DATABASE_URL": "", "OPENBOOK_DATA_DIR": str(data), "OPENBOOK_WORKER": "on"}
    with started_apart(ROOT, "dev", "--port", str(port), **environment) as running:
        running.wait_until_ready()
        postgres = data / "postgres" / "postmaster.pid"
        begun = "state=RUNNING"
        until(lambda: begun in running.output)  # the worker's first task
        tasks = [line for line in running.output.splitlines() if begun in line]
        assert len(tasks) == len({line.split("Task id=")[1].split()[0] for line in tasks})  # each is told of once
        server, worker, *_ = (pid for pid in descendants(running.pid) if b"manage.py" in command(pid))
        for pid in (server, worker):
            os.kill(pid, signal.SIGSTOP)
        press_ctrl_c(running)
        assert not postgres.exists()
