"""How much of an export is in memory at once, and how lists are written piece by piece."""

import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, repeat
from typing import Any

from conversations.runtime import long_work
from conversations.runtime.lagging import read_lagging
from conversations.runtime.shapes import moment

PAGE = 200
"""Threads, turns or memories that are read at once."""
AT_ONCE, STEP = 1_000_000, 5
"""So many bytes of turns or characters of artifacts are read at once, or one turn, or so many versions of one artifact."""


def step[**P, R](read: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """In a thread, of a replica where there is one."""
    return long_work.step(read_lagging(read))


def separators() -> Iterator[str]:
    """What stands before the elements of a list, one after another."""
    return chain([""], repeat(",\n"))


def json_lines(values: Iterable[Mapping[str, Any]]) -> str:
    return ",\n".join(map(json_text, values))


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_text)


def _text(value: Any) -> str | None:
    return moment(value) if isinstance(value, datetime) else str(value)
