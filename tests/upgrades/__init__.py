"""Databases as released versions left them, and what holds of each after `migrate`.

`schema-1.sql.gz` is a database with data as PostgreSQL dumps it, `schema-1.json` says what was in it. They are recorded once,
by `python -m tests.upgrades.recording NAME`, when a schema is released, and never changed.
"""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config.postgres.embedded import bundled_binaries

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent


def recorded() -> list[str]:
    """The names of the released schemas, the oldest first."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def contents(name: str) -> dict[str, Any]:
    """What ``tests.upgrades.holding`` said of it."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return content


def dump(url: str, *options: str) -> str:
    """The database as SQL, the same for the same content."""
    command = ["pg_dump", "--no-owner", "--no-privileges", "--no-comments", "--restrict-key=openbook", *options, url]
    return _run(command)


def restore(name: str, url: str) -> None:
    """Into an empty database."""
    load(gzip.decompress((FOLDER / f"{name}.sql.gz").read_bytes()).decode(), url)


def load(sql: str, url: str) -> None:
    _run(["psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--file=-", url], sql.encode())


def manage(url: str, *arguments: str, **environment: str) -> str:
    """What a command of manage.py prints, on that database."""
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def schema(url: str) -> Iterator[str]:
    """Each statement that makes the schema, without what the order of columns and migrations decides."""
    for statement in dump(url, "--schema-only").split(";\n"):
        yield "\n".join(
            sorted(line.rstrip(",") for line in statement.splitlines() if line and not line.startswith("--"))
        )


def _run(command: list[str], given: bytes | None = None) -> str:
    program = str(bundled_binaries() / command[0])
    done = subprocess.run([program, *command[1:]], input=given, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr.decode()}")
    return done.stdout.decode()
