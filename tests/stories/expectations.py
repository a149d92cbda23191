"""What the requests of stories should hold: written by name, and compared line by line."""

import difflib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ACCEPTED = "ACCEPTED_STORIES"

type Requests = list[dict[str, Any]]


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def accepted() -> Sequence[str]:
    return os.environ.get(ACCEPTED, "").split()


def expected(name: str) -> Requests:
    path = _expectation(name)
    requests: Requests = json.loads(path.read_text("utf-8")) if path.exists() else []
    return requests


def write(name: str, requests: Requests) -> None:
    _expectation(name).write_text(_lines(requests), "utf-8")


def difference(before: Requests, after: Requests) -> str:
    """By the line, with the request that it is in; empty where there is none."""
    old, new = (_lines(requests).splitlines() for requests in (before, after))
    return "\n".join(difflib.unified_diff(old, new, "accepted", "now", n=4, lineterm=""))


def _expectation(name: str) -> Path:
    return FOLDER / "expected" / f"{name}.json"


def _lines(requests: Requests) -> str:
    return json.dumps(requests, indent=1, ensure_ascii=False) + "\n"
