"""Secrets in files: what is read, what is said of a file that is no good, and that each documented name takes one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from config.secret_files import secret
from tests.processes import ROOT

SHOW = """
import json, os
from config import settings
print(json.dumps({name: repr(getattr(settings, name, "")) for name in dir(settings) if name.isupper()}))
"""
ADDRESSES = {
    "DATABASE_URL": "postgresql://openbook:{}@127.0.0.1:5432/openbook",
    "OPENBOOK_REPLICA_URL": "postgresql://openbook:{}@127.0.0.1:5433/openbook",
    "REDIS_URL": "redis://:{}@127.0.0.1:6379/0",
    "OPENBOOK_MAIL_URL": "smtp://user:{}@mail.example:587",
}


def documented() -> list[str]:
    page = (ROOT / "docs" / "configuration.md").read_text()
    section = page.split("## Secrets in files", 1)[1].split("```", 1)[0]
    return re.findall(r"`([A-Z_3]{6,})`", section)


@given(value=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1), around=st.text(" \t\n"))
def test_a_file_gives_what_the_variable_would(
    tmp_path_factory: pytest.TempPathFactory, value: str, around: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "secret"
    file.write_text(around + value + around, encoding="utf-8")
    assert secret({"KEY_FILE": f" {file} "}, "KEY") == secret({"KEY": value}, "KEY") == value


def test_without_a_file_the_variable_or_its_default_holds() -> None:
    assert secret({}, "KEY", "default") == secret({"KEY": " ", "KEY_FILE": ""}, "KEY", "default") == "default"
    assert secret({"KEY": " own "}, "KEY", "default") == "own"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, r"KEY_FILE can't be read: .*/secret: No such file or directory\. It must be a file that"),
        (b"", r"KEY_FILE names .*/secret, which is empty; write the value alone into it\."),
        (b" \n\n", "which is empty"),
        (b"one\ntwo\n", "which holds more than one line"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
    ],
    ids=["missing", "empty", "blank", "two lines", "not text"],
)
def test_a_file_that_is_no_good_is_told_in_words(content: bytes | None, problem: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match=problem):
        secret({"KEY_FILE": str(tmp_path / "secret")}, "KEY")


def test_a_folder_and_a_name_set_both_ways_are_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="Is a directory"):
        secret({"KEY_FILE": str(tmp_path)}, "KEY")
    with pytest.raises(ImproperlyConfigured, match=r"Both KEY and KEY_FILE are set; take one of them away\."):
        secret({"KEY": "own", "KEY_FILE": str(tmp_path / "none")}, "KEY")


def test_each_documented_name_takes_a_file(tmp_path: Path) -> None:
    """All at once, each with a value that is found again in a setting."""
    environment = {"OPENBOOK_FILES_S3_BUCKET": "files"}
    for name in (names := documented()):
        file = tmp_path / name
        file.write_text(ADDRESSES.get(name, "{}").format(f"value-of-{name}") + "\n")
        environment[f"{name}_FILE"] = str(file)
    done = run("-c", SHOW, **environment)
    assert done.returncode == 0, done.stderr
    assert len(names) == len(set(names)) >= 13
    assert [name for name in names if f"value-of-{name}" not in done.stdout] == []


def test_a_command_says_what_is_wrong_without_a_traceback(tmp_path: Path) -> None:
    done = run("manage.py", "check", SECRET_KEY_FILE=str(tmp_path / "none"))
    assert done.returncode == 1
    assert re.fullmatch(r"SECRET_KEY_FILE can't be read: .*/none: No such file or directory\..*\n", done.stderr)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", *environment}}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**given, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
