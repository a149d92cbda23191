"""The pytest plugin with the real services. Loaded by name: it must come before Django's settings are read."""

import gc
import os
import re
import shutil
import socket
import subprocess
import sys
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from tests.waiting import until

# A developer's own settings and keys must not leak into the tests. Without bytecode, every process would compile everything.
FOREIGN = re.compile(
    r"(ANTHROPIC_|OPENAI_|SUPERMEMORY_|OTEL_|OPENBOOK_(?!TEST_)|DJANGO_SUPERUSER_|PG).*|(DATABASE|REDIS)_URL(_FILE)?"
    r"|SECRET_KEY(_FALLBACKS)?(_FILE)?|ALLOWED_HOSTS|CSRF_TRUSTED_ORIGINS|DEBUG|PORT|PYTHONDONTWRITEBYTECODE"
)
SERVER = "OPENBOOK_TEST_DATABASE_URL"
POSTGRES_15 = "/usr/lib/postgresql/15/bin"
CLAUDE_CLI = ".local/claude-cli/node_modules/@anthropic-ai/claude-code-*/claude"
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    for name in filter(FOREIGN.fullmatch, list(os.environ)):
        del os.environ[name]
    sys.dont_write_bytecode = False
    gc.disable()  # until all is collected, which leaves hardly any garbage: a fifth of the time
    os.environ["OPENBOOK_PROVIDER"] = "offline"  # whatever is installed here
    stack = ExitStack()
    early_config.add_cleanup(stack.close)
    for name in ("OPENBOOK_FILES_DIR", "OPENBOOK_ERASURE_LEDGER"):
        os.environ[name] = stack.enter_context(TemporaryDirectory(prefix="openbook-", ignore_cleanup_errors=True))
    if SERVER not in os.environ:
        os.environ[SERVER] = stack.enter_context(postgres())  # the processes of a run share it
        stack.callback(os.environ.pop, SERVER)
    os.environ["DATABASE_URL"] = os.environ[SERVER]
    return (yield)


@pytest.fixture
def empty_database() -> Iterator[str]:
    with fresh_database() as url:
        yield url


@contextmanager
def fresh_database(template: str = "template1") -> Iterator[str]:
    """The URL of a database of its own, without any table or as its template, for tests that start whole servers."""
    name = f"openbook_{uuid.uuid4().hex}"
    with administration() as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        yield url_of(name)
        until(lambda: _is_dropped(connection, name))


def url_of(name: str) -> str:
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


def _is_dropped(connection: psycopg.Connection, name: str) -> bool:
    """Not while an autovacuum is in it, which only a superuser may end."""
    try:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def administration() -> psycopg.Connection:
    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with redis() as url:
        yield url


@pytest.fixture(scope="session")
def chromium_path() -> str:
    return program("OPENBOOK_TEST_CHROMIUM", *CHROMIUM)


@pytest.fixture(scope="session")
def claude_cli_path() -> str:
    """The program itself: the package's own launcher needs a Node that is newer than many."""
    fetched = sorted(Path(__file__).resolve().parent.parent.glob(CLAUDE_CLI))
    found = os.environ.get("OPENBOOK_TEST_CLAUDE_CLI") or next(map(str, fetched), None)
    if found is None:
        pytest.fail(
            "The Claude CLI is missing. Run `make .local/claude-cli/stamp`, or name it in OPENBOOK_TEST_CLAUDE_CLI."
        )
    return found


@contextmanager
def postgres(*, durable: bool = False) -> Iterator[str]:
    """``durable``: as the application's own, which waits for the disk; what a test stores may be lost with the machine."""
    binaries = {"": [], "18": [], "15": [os.environ.get("OPENBOOK_TEST_POSTGRES15_BIN", POSTGRES_15)]}
    arguments = binaries[os.environ.get("OPENBOOK_TEST_POSTGRES", "")]
    with until_left(
        [sys.executable, "-m", "tests.postgres", *(["--durable"] if durable else []), *arguments]
    ) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        if not url:
            pytest.exit("The tests' PostgreSQL server did not start; the lines above say why.", returncode=1)
        yield url


@contextmanager
def redis(port: int | None = None) -> Iterator[str]:
    port = port or free_port()
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", "/tmp"]  # noqa: S108
    # The shell waits for the end of its input, which comes even when the test run is killed. A test may have ended Redis.
    command = [
        "/bin/sh",
        "-c",
        '"$@" & read -r line; kill $! 2>/dev/null; wait',
        "sh",
        program("OPENBOOK_TEST_REDIS", "redis-server"),
    ]
    with until_left([*command, *options]) as process:
        assert process.stdout
        if not any("Ready to accept connections" in line for line in process.stdout):
            pytest.fail(f"redis-server did not start on port {port}")
        yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def until_left(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a command that ends when its standard input does, out of reach of the terminal's Ctrl-C."""
    with subprocess.Popen(
        command,
        cwd=Path(__file__).resolve().parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.communicate()


def program(variable: str, *names: str) -> str:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])  # where Debian puts servers
    found = os.environ.get(variable) or next(filter(None, (shutil.which(name, path=path) for name in names)), None)
    if found is None:
        pytest.fail(f"None of {', '.join(names)} is on PATH. Run `sh tests/services.sh`, or name it in {variable}.")
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
