"""The embedded server, started for real. Each server here is one of few, so the tests share what they can."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psycopg
import pytest

from config import embedded_postgres
from tests.services import POSTGRES_15

running = partial(embedded_postgres.running, options={"fsync": "off"}, initdb=["--no-sync"])
HOLDER = """
import sys
from pathlib import Path
from config import embedded_postgres
with embedded_postgres.running(Path(sys.argv[1]), options={"fsync": "off"}, initdb=["--no-sync"]) as url:
    print(url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that was used before and is at rest."""
    path = tmp_path_factory.mktemp("cluster") / "postgres"
    with running(path):
        return path


@pytest.fixture
def used(folder: Path, cluster: Path) -> Path:
    """A copy of it: to make one anew takes longer than the rest of a test."""
    subprocess.run(["cp", "-Rp", str(cluster), str(folder)], check=True)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "postgres"
    yield path
    # Whatever a failed test left running: the last holder stops it.
    if (path / "postmaster.pid").exists():
        with running(path):
            pass


def answer(url: str) -> tuple[object, ...] | None:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT current_database(), current_user, 1").fetchone()


def is_up(url: str) -> bool:
    try:
        return answer(url) is not None
    except psycopg.OperationalError:
        return False


def hold(folder: Path) -> subprocess.Popen[str]:
    """Another process that holds the server until its standard input ends."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return str(process.stdout.readline()).strip()


@pytest.mark.parametrize(
    "name",
    ["100% of a 'quoted' \"päth\"", "a,comma", "/".join(["long" * 10] * 5)],
    ids=["spaces, quotes, percent", "comma", "200 characters"],
)
def test_any_path_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "postgres"
    with running(path) as url:
        assert (url, answer(url)) == (embedded_postgres.url(path), ("openbook", "openbook", 1))
    assert not is_up(url)
    shutil.rmtree(embedded_postgres.socket_directory(path))


def test_the_url_starts_and_writes_nothing(tmp_path: Path) -> None:
    url = embedded_postgres.url(tmp_path / "postgres")
    assert (url, list(tmp_path.iterdir())) == (embedded_postgres.url(tmp_path / "postgres"), [])


def test_the_data_and_the_socket_are_the_owners_alone(folder: Path) -> None:
    with running(folder):
        modes = {path.stat().st_mode & 0o777 for path in (folder, embedded_postgres.socket_directory(folder))}
    assert modes == {0o700}


def test_no_port_is_open(used: Path) -> None:
    with running(used) as url, psycopg.connect(url) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_data_outlives_the_server_and_letters_of_any_language_are_known(used: Path) -> None:
    with running(used) as url, psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT lower('ÄЖ') AS text")
    with running(used) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT text FROM kept").fetchall() == [("äж",)]


def test_two_processes_share_one_server_and_the_last_one_stops_it(used: Path) -> None:
    with hold(used) as first, hold(used) as second:
        url = first_line(first)
        assert first_line(second) == url
        servers = pid(used)
        first.communicate()
        assert (is_up(url), pid(used)) == (True, servers)
        second.communicate()
        assert (is_up(url), (used / "postmaster.pid").exists()) == (False, False)


def test_the_server_of_a_killed_process_is_taken_over_and_stopped(used: Path) -> None:
    with hold(used) as process:
        url = first_line(process)
        process.kill()
    left_behind = pid(used)
    with running(used):
        assert (pid(used), is_up(url)) == (left_behind, True)
    assert not is_up(url)


def test_a_killed_server_is_started_again(used: Path) -> None:
    with running(used) as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
        os.kill(pid(used), signal.SIGKILL)
    with running(used) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT one FROM kept").fetchall() == [(1,)]


def test_a_killed_first_start_leaves_no_half_of_a_cluster(folder: Path) -> None:
    with hold(folder) as process:
        until(lambda: (folder.with_name("postgres.new") / "PG_VERSION").exists(), process)
        process.kill()
    with running(folder) as url:
        assert (answer(url), folder.with_name("postgres.new").exists()) == (("openbook", "openbook", 1), False)


def test_ctrl_c_of_the_terminal_does_not_reach_the_server(used: Path) -> None:
    with running(used):
        assert os.getsid(pid(used)) != os.getsid(0)


def test_the_oldest_supported_postgresql_runs_the_same_way(folder: Path) -> None:
    binaries = Path(os.environ.get("OPENBOOK_TEST_POSTGRES15_BIN", POSTGRES_15))
    with running(folder, binaries=binaries) as url, psycopg.connect(url) as connection:
        assert connection.info.server_version // 10000 == 15


def test_a_server_that_cannot_start_says_why(used: Path) -> None:
    with (
        pytest.raises(
            embedded_postgres.EmbeddedPostgresError, match=r"(?s)did not start.*no_such_setting.*DATABASE_URL"
        ),
        embedded_postgres.running(used, options={"no_such_setting": "1"}),
    ):
        pass


def test_a_folder_of_something_else_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with (
        pytest.raises(embedded_postgres.EmbeddedPostgresError, match="is no data folder of PostgreSQL"),
        running(folder),
    ):
        pass
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_socket_folder_that_others_could_have_made_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a,comma"
    sockets = embedded_postgres.socket_directory(path)
    with ExitStack() as stack:
        sockets.symlink_to(tmp_path)
        stack.callback(sockets.unlink)
        with (
            pytest.raises(embedded_postgres.EmbeddedPostgresError, match="must be a folder of yours with mode 0700"),
            running(path),
        ):
            pass


def pid(folder: Path) -> int:
    return int((folder / "postmaster.pid").read_text().split()[0])


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, "the process ended first"
