"""The pages in docs/operate: what they have, who leads to them, and their commands, run against an installation."""

import fnmatch
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.commands import Commands
from tests.processes import ROOT, database_url, server
from tests.services import fresh_database, redis

FOLDER = ROOT / "docs" / "operate"
BLOCK = re.compile(r"(?:<!-- (?:not run: )?([^\n]+) -->\n\n)?```sh\n(.*?)```", re.DOTALL)
APART = "run apart"
"""On an installation that may be changed, with what a page can't name put in."""
ELSEWHERE = {
    "asks for the password", "names a slot of yours", "needs PgBouncer", "needs PgBouncer's administration",
    "needs PostgreSQL's own log", "needs a second host", "needs a superuser",
    "needs a superuser and a restart of PostgreSQL", "needs chrony", "needs systemd", "needs systemd and an id",
    "needs the kernel's log", "needs the proxy", "needs the proxy and its name", "runs until it is ended",
    "asks for a destination",
}  # fmt: skip
"""Why other commands are not run. What a page of ours could run is not among these."""
UNIT = re.compile(r"(?:systemctl [a-z-]+(?: --now)?|-u) '?(openbook[\w@.*-]*)")
PARTS = ("**What one sees.**", "**What it means for people.**", "## Look", "## Do", "## Well again")
NAMED = re.compile(r"docs/operate/([a-z-]+\.md)")
GUIDES = {"audit", "backup", "budgets", "install", "keeping", "moderation", "scim", "sign-in", "strict", "upgrade"}
"""Pages of what an operator sets up, of which each is in parts of its own."""
NOT_OURS = {"README.md", *(f"{name}.md" for name in GUIDES)}
"""No runbooks."""


def runbooks() -> list[Path]:
    return [path for path in sorted(FOLDER.glob("*.md")) if path.name not in NOT_OURS]


def blocks() -> Iterator[tuple[str, str]]:
    """Why a block is not run – empty where it is –, and its commands."""
    for path in runbooks():
        yield from BLOCK.findall(path.read_text())


@pytest.mark.parametrize("path", runbooks(), ids=lambda path: path.stem)
def test_a_runbook_has_all_its_parts_in_order(path: Path) -> None:
    text = path.read_text()
    places = [text.find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)
    assert text.count("```sh") == len(BLOCK.findall(text))


def test_whoever_names_a_runbook_names_one_that_is_there() -> None:
    sources = [
        *(ROOT / "config").rglob("*.py"),
        *(ROOT / "conversations").rglob("*.py"),
        *(ROOT / "deploy").rglob("*.yaml"),
    ]
    named = {name for path in sources for name in NAMED.findall(path.read_text())}
    assert named
    assert named <= {path.name for path in FOLDER.glob("*.md")}


def test_the_list_names_each_page_and_each_alert() -> None:
    listed = dict(re.findall(r"\]\(([a-z-]+\.md)\) \| (.+) \|", (FOLDER / "README.md").read_text()))
    assert set(listed) == {path.name for path in runbooks()}
    for path in runbooks():
        alert = re.search(r"^Alert: (`\w+`)\.$", path.read_text(), re.MULTILINE)
        assert listed[path.name] == (alert[1] if alert else "–")
    rules = {
        alert: page
        for file in (ROOT / "deploy").rglob("*.yaml")
        for alert, page in re.findall(r"alert: (\w+).*?docs/operate/([a-z-]+\.md)", file.read_text(), re.DOTALL)
    }
    assert {alert: f"`{alert}`" for alert in rules} == {alert: listed[page] for alert, page in rules.items()}


@pytest.mark.operate
@pytest.mark.django_db(transaction=True)
def test_their_commands_run(forks: Commands, redis_url: str) -> None:
    """Each once, however many pages have it."""
    run = list(dict.fromkeys(commands for reason, commands in blocks() if not reason))
    assert {reason for reason, _ in blocks()} == {"", APART, *ELSEWHERE}
    with server(database_url(), REDIS_URL=redis_url) as running:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "DATABASE_URL": database_url(),
            "REDIS_URL": redis_url,
            "PORT": running.url.rstrip("/").rpartition(":")[2],
        }
        failed = {commands: said for commands in run if (said := trouble(commands, forks, environment))}
    assert failed == {}


@pytest.mark.operate
@pytest.mark.django_db(transaction=True)
def test_commands_that_change_things_run_apart(forks: Commands, migrated: str, tmp_path: Path) -> None:
    apart = [commands for reason, commands in blocks() if reason == APART]
    (backups := tmp_path / "backups").mkdir()
    with (
        fresh_database(migrated) as url,
        fresh_database() as empty,
        redis() as redis_url,
        server(url, REDIS_URL=redis_url, OPENBOOK_FILES_DIR=str(tmp_path / "files")) as running,
        psycopg.connect(url) as idle,
    ):
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "DATABASE_URL": url,
            "REDIS_URL": redis_url,
            "OPENBOOK_FILES_DIR": str(tmp_path / "files"),
        }
        failed = {}
        made = forks.run("manage.py", "backup", str(backups / "2026-11-23"), **environment)
        assert made.returncode == 0, made.stderr
        for commands in apart:
            here = commands.replace("/backups", str(backups)).replace("USERNAME", "admin")
            here = here.replace("PID", str(running.pid if "kill" in here else idle.info.backend_pid))
            if "manage.py restore" in commands:
                elsewhere = {"DATABASE_URL": empty, "OPENBOOK_FILES_DIR": str(tmp_path / "empty")}
            else:
                elsewhere = {}
            if said := trouble(here, forks, environment | elsewhere):
                failed[commands] = said
        assert failed == {}
        assert running.process.wait(60) == 0, running.output
        with pytest.raises(psycopg.OperationalError):
            idle.execute("SELECT 1")
    assert len(list(backups.iterdir())) == 2
    assert len(apart) == 9


def trouble(commands: str, forks: Commands, environment: dict[str, str]) -> str:
    """What they said where they failed. What the doctor finds here is no matter."""
    if commands.startswith("python manage.py") and "$" not in commands and commands.count("\n") == 1:
        done = forks.run(*shlex.split(commands)[1:], **environment)
    else:
        done = subprocess.run(
            ["/bin/sh", "-eu", "-c", commands],
            cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    is_well = done.returncode == 0 or (done.returncode == 1 and "manage.py doctor" in commands)
    return "" if is_well and "Traceback" not in done.stderr else f"{done.returncode}: {done.stdout}{done.stderr}"


def test_units_that_a_page_names_are_units_that_we_ship() -> None:
    """`openbook-*` and what stands behind an @ among them; without an ending a service is meant."""
    units = [path for path in (ROOT / "deploy" / "systemd").glob("openbook*.*") if path.suffix != ".env"]
    shipped = {path.name for path in units} | {path.stem for path in units if path.suffix == ".service"}
    named = {name for path in FOLDER.glob("*.md") for name in UNIT.findall(path.read_text())}
    assert len(named) > 5
    unknown = {name for name in named if not fnmatch.filter(shipped, re.sub(r"@\w+", "@", name))}
    assert unknown == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another")
def test_the_shell_of_an_installation_by_systemd_has_its_environment(migrated: str, tmp_path: Path) -> None:
    """As the list of pages says; here of a user who is there, and without the code's own folder."""
    ((_, commands),) = BLOCK.findall((FOLDER / "README.md").read_text())
    (tmp_path / "openbook.env").write_text(
        (ROOT / "deploy/systemd/openbook.env").read_text().replace("/etc/openbook", str(tmp_path))
    )
    for old, new in {
        "/etc/openbook": str(tmp_path), "/opt/openbook/.venv/bin": str(Path(sys.executable).parent),
        "/opt/openbook": "/", "openbook --regid openbook": "nobody --regid nogroup",
    }.items():  # fmt: skip
        assert old in commands
        commands = commands.replace(old, new)
    with fresh_database(migrated) as url:
        (tmp_path / "database_url").write_text(url)
        told = subprocess.run(
            ["/bin/sh", "-eu", "-c", commands],
            input='psql --quiet --tuples-only --no-align "$DATABASE_URL" -c "SELECT count(*) > 9 FROM django_migrations"\n'
            'echo "$ALLOWED_HOSTS ${DATABASE_URL_FILE-none} $OPENBOOK_DATA_DIR $PORT $(id -un)"\n',
            env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert told.stdout == "t\nbook.example,127.0.0.1 none /var/lib/openbook 8000 nobody\n", told.stderr
