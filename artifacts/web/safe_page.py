"""The way into the package: what a frame is given for a version of an artifact."""

import json
import subprocess
import sys

from django.conf import settings

SECONDS = 10
"""The process limits its own work; this is for a machine that gives it none."""


class NotShown(Exception):
    """The content can't be read in the time and memory that a page may take."""


def still(kind: str, content: str) -> bytes:
    """The page or picture without anything that runs, loads or leads away. Raises ``NotShown``. Not for an event loop."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "artifacts.web.sanitizer_worker"],
            input=json.dumps({"kind": kind, "content": content}).encode(),
            cwd=settings.BASE_DIR,
            env={"PYTHONUTF8": "1"},
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotShown from None
    if done.returncode:
        raise NotShown
    return done.stdout
