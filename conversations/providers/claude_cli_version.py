"""Which version the Claude CLI is of. Asked once for each program, as it is on disk."""

import re
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

OLDEST = "2.1.302"
"""The oldest that the tests passed with: 2.1.248 is the first that can be restricted, 2.1.293 the first that knows the models
that Openbook uses by default, and that one doesn't say why a request failed."""
SECONDS = 10.0
NUMBERS = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def version_of(path: str, environment: Mapping[str, str]) -> str:
    """What it says, such as ``2.1.330 (Claude Code)``; empty where it says nothing in time. Raises ``OSError``."""
    status = Path(path).stat()
    return _run_version(path, status.st_mtime_ns, status.st_size, tuple(environment.items()))


def is_supported(version: str) -> bool:
    return (numbers := _numbers(version)) is not None and numbers >= (_numbers(OLDEST) or ())


def _numbers(version: str) -> tuple[int, ...] | None:
    match = NUMBERS.match(version)
    return tuple(map(int, match.groups())) if match else None


@lru_cache(maxsize=16)
def _run_version(path: str, modified: int, size: int, environment: tuple[tuple[str, str], ...]) -> str:
    with tempfile.TemporaryDirectory(prefix="openbook-", ignore_cleanup_errors=True) as home:
        try:
            completed = subprocess.run(  # noqa: S603 – the program that staff named, and nothing of a request
                [path, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=True,
                cwd=home,
                env={**dict(environment), "HOME": home},
            )
        except subprocess.SubprocessError:
            return ""
    return completed.stdout.decode(errors="replace").strip()
