"""Databases as released versions left them, and what holds of each after `migrate`.

`0.1.0.sql.gz` is a database with data as PostgreSQL dumps it, `0.1.0.json` says what was in it. They are recorded once, by
`python -m tests.upgrades.recording NAME`, when a version is released, and never changed. ``RELEASES`` says of which commits.
"""

import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config.postgres.embedded import bundled_binaries
from tests.commands import Commands

FOLDER = Path(__file__).parent
RELEASES = {"schema-1": "a36b768e5203", "0.1.0": "87a3352b9cc1"}
"""The released versions, the oldest first, with the commit of each."""
OF_A_TIME = re.compile(r"_20\d\d_\d\d|FROM \(MINVALUE\)|ATTACH PARTITION public\.\w+_idx\d*$")
"""In the name of a partition, or the moment at which the tables were divided; or an index of a partition, where PostgreSQL cut
its name and counts: how many there are depends on the day."""
NAME_OF_NOT_NULL = re.compile(r"CONSTRAINT \w+ NOT NULL")
LAST = list(RELEASES)[-1]


def recorded_contents(name: str) -> dict[str, Any]:
    """What ``tests.upgrades.holding`` said of it when it was recorded."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return content


def dump(url: str, *options: str) -> str:
    """The database as SQL, the same for the same content."""
    command = ["pg_dump", "--no-owner", "--no-privileges", "--no-comments", "--restrict-key=openbook", *options, url]
    return _run_program(command)


def restore(name: str, url: str) -> None:
    """Into an empty database."""
    load(gzip.decompress((FOLDER / f"{name}.sql.gz").read_bytes()).decode(), url)


def load(sql: str, url: str) -> None:
    _run_program(["psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--file=-", url], sql)


def manage(forks: Commands, url: str, *arguments: str, **environment: str) -> str:
    """What a command of manage.py prints, on that database."""
    return _run_fork(forks, url, "manage.py", *arguments, **environment)


def contents_of(forks: Commands, url: str, *arguments: str) -> dict[str, Any]:
    """What ``tests.upgrades.holding`` says of that database."""
    printed = _run_fork(forks, url, "-m", "tests.upgrades.holding", *arguments)
    content: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return content


def broken_rules(forks: Commands, url: str, *migrations: str) -> dict[str, list[str]]:
    """What ``tests.upgrades.linting`` says of these migrations, or of those that the database lacks."""
    printed = _run_fork(forks, url, "-m", "tests.upgrades.linting", *migrations)
    broken: dict[str, list[str]] = json.loads(printed.splitlines()[-1])
    return broken


def schema(url: str) -> Iterator[str]:
    """Each statement that makes the schema, without what the order of columns and migrations decides, as it does how PostgreSQL
    18 names NOT NULL, and without partitions of days and months, which are those around the day on which somebody looks."""
    for statement in NAME_OF_NOT_NULL.sub("NOT NULL", dump(url, "--schema-only")).split(";\n"):
        if not OF_A_TIME.search(statement):
            yield "\n".join(
                sorted(line.rstrip(",") for line in statement.splitlines() if line and not line.startswith("--"))
            )


def _run_fork(forks: Commands, url: str, *arguments: str, **environment: str) -> str:
    return _printed(forks.run(*arguments, DATABASE_URL=url, **environment))


def _run_program(command: list[str], stdin: str = "") -> str:
    program = [str(bundled_binaries() / command[0]), *command[1:]]
    return _printed(subprocess.run(program, input=stdin, capture_output=True, text=True, check=False))


def _printed(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        raise RuntimeError(f"{done.args[0]}: {done.stderr}")
    return done.stdout
