"""The embedded server, started for real. Each server here is one of few, so the tests share what they can."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config.postgres import embedded
from tests.services import POSTGRES_15
from tests.volumes import mounted
from tests.waiting import until as wait_until

running = partial(embedded.running, options={"fsync": "off"}, initdb=["--no-sync"])
HOLDER = """
import sys
from pathlib import Path
from config.postgres import embedded as embedded_postgres
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
    return copied(cluster, folder)


def copied(cluster: Path, folder: Path) -> Path:
    """To make one anew takes longer than the rest of a test."""
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


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Where any user may go by its path, which pytest's own folders don't allow."""
    with tempfile.TemporaryDirectory(prefix="openbook-test-") as name:
        Path(name).chmod(0o711)
        yield Path(name) / "postgres"


@pytest.fixture(scope="module")
def least(cluster: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[psycopg.Connection]:
    """A connection as the application has it."""
    folder = copied(cluster, tmp_path_factory.mktemp("least") / "postgres")
    with running(folder) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE mine (line text)")
        yield connection


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def answer(url: str) -> tuple[object, ...] | None:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT current_database(), current_user, 1").fetchone()


def is_up(url: str) -> bool:
    try:
        return answer(url) is not None
    except psycopg.OperationalError:
        return False


def hold(folder: Path, **options: Any) -> subprocess.Popen[str]:
    """Another process that holds the server until its standard input ends."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return str(process.stdout.readline()).strip()


@pytest.mark.wide
@pytest.mark.parametrize(
    "name",
    ["100% of a 'quoted' \"päth\"", "a,comma", "/".join(["long" * 10] * 5)],
    ids=["spaces, quotes, percent", "comma", "200 characters"],
)
def test_any_path_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "postgres"
    with running(path) as url:
        assert (url, answer(url)) == (embedded.url(path), ("openbook", "openbook", 1))
    assert not is_up(url)
    shutil.rmtree(embedded.socket_directory(path))


def test_the_url_starts_and_writes_nothing(tmp_path: Path) -> None:
    url = embedded.url(tmp_path / "postgres")
    assert (url, list(tmp_path.iterdir())) == (embedded.url(tmp_path / "postgres"), [])


def test_the_data_the_socket_and_the_log_are_the_owners_alone(folder: Path) -> None:
    with running(folder):
        sockets = embedded.socket_directory(folder)
        modes = [mode(path) for path in (folder, sockets, folder.with_name("postgres.log"))]
    with running(folder):
        modes.append(mode(folder.with_name("postgres.log.before")))
    assert modes == [0o700, 0o700, 0o600, 0o600]


@pytest.mark.parametrize("where", ["folder", "open_folder"], ids=["closed to others", "open to others"])
def test_the_server_keeps_nothing_of_roots_power_and_of_our_environment(
    where: str, cluster: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("SECRET_KEY", "secret")
    place = copied(cluster, request.getfixturevalue(where))
    with running(place) as url, psycopg.connect(url) as connection:
        for number in (pid(place), connection.info.backend_pid):
            process = Path("/proc") / str(number)
            lines = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines())
            environment = {entry.split("=", 1)[0] for entry in (process / "environ").read_text().split("\0") if entry}
            powers = [int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
            users = set(lines["Uid"].split()) - {str(os.geteuid() or embedded.NOBODY)}
            groups = [] if os.geteuid() == 0 else lines["Groups"].split()
            assert (powers, users, lines["Groups"].split()) == ([0, 0, 0, 0], set(), groups)
            assert environment <= {"PATH", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PWD"}


@pytest.mark.parametrize(
    "forbidden",
    [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_ls_dir('/')",
        "SELECT lo_import('/etc/passwd')",
        "COPY mine FROM '/etc/passwd'",
        "COPY mine TO PROGRAM 'cat'",
        "CREATE ROLE other SUPERUSER",
        "CREATE DATABASE other",
        "ALTER ROLE openbook SUPERUSER",
        "ALTER SYSTEM SET jit = on",
        "SET ROLE postgres",
        "SET session_replication_role = replica",
        "CREATE FUNCTION run() RETURNS int LANGUAGE c AS 'libc', 'getpid'",
        "SELECT * FROM pg_authid",
    ],
)
def test_the_applications_role_has_no_power_over_the_server(least: psycopg.Connection, forbidden: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        least.execute(forbidden)


def test_it_owns_its_database_and_nothing_else(least: psycopg.Connection) -> None:
    role = "SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls FROM pg_roles WHERE rolname = %s"
    assert least.execute(role, ["openbook"]).fetchone() == (False,) * 5
    owned = "SELECT datname FROM pg_database WHERE datdba = current_user::regrole"
    assert least.execute(owned).fetchall() == [("openbook",)]


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


def test_a_server_that_dies_is_started_again_by_one_of_its_holders(used: Path) -> None:
    with running(used) as url, hold(used) as other:
        first_line(other)
        os.kill(killed := pid(used), signal.SIGKILL)
        until(lambda: is_up(url), other)
        assert pid(used) != killed
        other.communicate()
        assert is_up(url)
    assert not is_up(url)


def test_nothing_that_was_stored_or_failed_to_be_is_in_the_log(used: Path) -> None:
    with running(used) as url, psycopg.connect(url, autocommit=True) as database:
        database.execute("CREATE TEMPORARY TABLE word (text text UNIQUE CHECK (text <> 'Glockenspiel 2'))")
        for statement in (
            "INSERT INTO word VALUES ('Glockenspiel 1'), ('Glockenspiel 1')",
            "INSERT INTO word VALUES ('Glockenspiel 2')",
        ):
            with pytest.raises(psycopg.IntegrityError):
                database.execute(statement)
        with pytest.raises(psycopg.errors.SyntaxError):
            database.execute("INSERT 'Glockenspiel 3'")
    log = used.with_name("postgres.log").read_text()
    assert "duplicate key" in log and "word_text_check" in log
    assert "Glockenspiel 1" not in log and "Glockenspiel 2" not in log


def test_a_server_that_cannot_be_started_again_yet_is_tried_again(used: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = used / "postgresql.conf"
    sound = settings.read_text()
    with running(used) as url:
        settings.write_text(f"{sound}\nno_such_setting = 1\n")
        os.kill(pid(used), signal.SIGKILL)
        wait_until(lambda: any("no_such_setting" in record.__dict__.get("cause", "") for record in caplog.records))
        assert not is_up(url)
        settings.write_text(sound)
        wait_until(lambda: is_up(url))


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_a_holder_that_had_too_many_files_open_still_looks_after_the_server(used: Path) -> None:
    with hold(used, stderr=subprocess.PIPE) as holder:
        url = first_line(holder)
        limits = resource.prlimit(holder.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(holder.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        assert holder.stderr
        assert "can't be started" in holder.stderr.readline()
        resource.prlimit(holder.pid, resource.RLIMIT_NOFILE, limits)
        os.kill(killed := pid(used), signal.SIGKILL)
        until(lambda: is_up(url) and pid(used) != killed, holder)
        holder.communicate()
    assert not is_up(url)


@pytest.mark.wide
@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root runs its programs where they are")
def test_programs_in_a_folder_of_roots_alone_are_run_from_a_copy(folder: Path, tmp_path: Path) -> None:
    """As in a checkout in /root."""
    package = embedded.bundled_binaries().parents[1]
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for source in (package, *package.parent.glob(f"{package.name}.libs")):
        subprocess.run(["cp", "-R", str(source), str(closed)], check=True)
    binaries = closed / embedded.bundled_binaries().relative_to(package.parent)
    with running(folder, binaries=binaries) as url:
        program = Path(f"/proc/{pid(folder)}/exe").readlink()
        assert (answer(url), program.is_relative_to(closed)) == (("openbook", "openbook", 1), False)
        with psycopg.connect(url) as connection:
            connection.execute("DO $$ BEGIN END $$")  # by a library beside the programs
    assert not program.exists()


def test_an_empty_folder_is_taken(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    with running(folder) as url:
        assert (answer(url), mode(folder)) == (("openbook", "openbook", 1), 0o700)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_an_empty_volume_is_taken(folder: Path) -> None:
    with mounted(folder, "200m"), running(folder) as url:
        assert answer(url) == ("openbook", "openbook", 1)


def test_the_folder_of_an_earlier_version_is_named(used: Path) -> None:
    with running(used), psycopg.connect(embedded.url(used, role="postgres")) as connection:
        connection.execute("CREATE ROLE other SUPERUSER LOGIN")
        connection.commit()
        with psycopg.connect(embedded.url(used, role="other")) as renaming:
            renaming.execute("ALTER ROLE postgres RENAME TO before")
    with pytest.raises(embedded.EmbeddedPostgresError, match="made by an earlier version"), running(used):
        pass


@pytest.mark.wide
def test_a_killed_first_start_leaves_no_half_of_a_cluster(folder: Path) -> None:
    fresh = folder / embedded.UNFINISHED
    with hold(folder) as process:
        until(lambda: (fresh / "PG_VERSION").exists(), process)
        process.kill()
    with running(folder) as url:
        assert (answer(url), fresh.exists()) == (("openbook", "openbook", 1), False)


def test_ctrl_c_of_the_terminal_does_not_reach_the_server(used: Path) -> None:
    with running(used):
        assert os.getsid(pid(used)) != os.getsid(0)


@pytest.mark.wide
def test_the_oldest_supported_postgresql_runs_the_same_way(open_folder: Path) -> None:
    binaries = Path(os.environ.get("OPENBOOK_TEST_POSTGRES15_BIN", POSTGRES_15))
    with running(open_folder, binaries=binaries) as url, psycopg.connect(url) as connection:
        assert connection.info.server_version // 10000 == 15


def test_a_server_that_cannot_start_says_why(used: Path) -> None:
    with (
        pytest.raises(embedded.EmbeddedPostgresError, match=r"(?s)did not start.*no_such_setting.*DATABASE_URL"),
        embedded.running(used, options={"no_such_setting": "1"}),
    ):
        pass


def test_a_folder_of_something_else_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with (
        pytest.raises(embedded.EmbeddedPostgresError, match="is no data folder of PostgreSQL"),
        running(folder),
    ):
        pass
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_socket_folder_that_others_could_have_made_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a,comma"
    sockets = embedded.socket_directory(path)
    with ExitStack() as stack:
        sockets.symlink_to(tmp_path)
        stack.callback(sockets.unlink)
        with (
            pytest.raises(embedded.EmbeddedPostgresError, match="must be a folder of yours with mode 0700"),
            running(path),
        ):
            pass


def pid(folder: Path) -> int:
    return int((folder / "postmaster.pid").read_text().split()[0])


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not condition():
        assert process.poll() is None, "the process ended first"
