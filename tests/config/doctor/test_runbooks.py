"""The pages in docs/operate: what they have, who leads to them, and their commands, run against an installation."""

import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Commands
from tests.processes import ROOT, database_url, server

FOLDER = ROOT / "docs" / "operate"
BLOCK = re.compile(r"(?:<!-- not run: ([^\n]+) -->\n\n)?```sh\n(.*?)```", re.DOTALL)
PARTS = ("**What one sees.**", "**What it means for people.**", "## Look", "## Do", "## Well again")
NAMED = re.compile(r"docs/operate/([a-z-]+\.md)")
NOT_OURS = {"README.md", "backup.md", "install.md", "upgrade.md"}
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


@pytest.mark.django_db(transaction=True)
def test_their_commands_run(forks: Commands, redis_url: str) -> None:
    """Each once, however many pages have it."""
    run = list(dict.fromkeys(commands for reason, commands in blocks() if not reason))
    left_out = Counter(reason for reason, _ in blocks() if reason)
    assert len(run) > sum(left_out.values()) / 2
    with server(database_url(), REDIS_URL=redis_url) as running:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "DATABASE_URL": database_url(),
            "REDIS_URL": redis_url,
            "PORT": running.url.rstrip("/").rpartition(":")[2],
        }
        failed = {}
        for commands in run:
            if commands.startswith("python manage.py") and commands.count("\n") == 1:
                done = forks.run(*shlex.split(commands)[1:], **environment)
            else:
                done = subprocess.run(
                    ["/bin/sh", "-eu", "-c", commands],
                    cwd=ROOT,
                    env=os.environ | environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            # What the doctor finds here is no matter.
            if (
                (done.returncode and "manage.py doctor" not in commands)
                or "Traceback" in done.stderr
                or done.returncode not in {0, 1}
            ):
                failed[commands] = done.stdout + done.stderr
    assert failed == {}
