"""When the CI runs the tests of operators' paths: when what they look at has changed, or that can't be known."""

import os
import subprocess
from pathlib import Path

import pytest

CHANGED = Path(__file__).resolve().parent.parent / ".ci" / "changed"
BOTH_FILES = "M 644 inline deploy\ndata 1\n0\nM 644 inline page\ndata 1\n0\n"
PAGE = "M 644 inline page\ndata <<.\n{}\n.\n"
COMMIT = "commit refs/heads/main\ncommitter nobody <> 0 +0000\ndata 1\n.\n"


def run(folder: Path, *command: str | Path, stdin: str = "", **environment: str) -> int:
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": "/"} | environment
    return subprocess.run(command, cwd=folder, env=environment, input=stdin, text=True, check=False).returncode


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first commit brings both files, a hundred later ones change only the second."""
    folder = tmp_path_factory.mktemp("repository")
    commits = COMMIT + BOTH_FILES + "".join(COMMIT + PAGE.format(number) for number in range(1, 101))
    assert run(folder, "git", "init", "--initial-branch", "main") == 0
    assert run(folder, "git", "fast-import", "--quiet", stdin=commits) == 0
    return folder


def test_what_changed_in_the_latest_hundred_commits_has_changed(repository: Path) -> None:
    assert run(repository, CHANGED, "page", "deploy") == 0
    assert run(repository, CHANGED, "deploy") == 1


def test_a_base_says_what_counts(repository: Path) -> None:
    assert run(repository, CHANGED, "page", CI_BASE="HEAD~1") == 0
    assert run(repository, CHANGED, "page", CI_BASE="HEAD") == 1


def test_what_cannot_be_known_counts_as_changed(repository: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    assert run(tmp_path, "git", "clone", "--quiet", "--depth", "1", repository.as_uri(), shallow) == 0
    assert run(shallow, CHANGED, "deploy") == 0
    assert run(tmp_path, CHANGED, "deploy") == 0
    assert run(repository, CHANGED, "deploy", CI_BASE="0" * 40) == 0
