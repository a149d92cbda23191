"""Single values of a document, each checked at its place. Pure; all raise ``InvalidImport``."""

import math
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

from conversations.errors import InvalidImport
from conversations.import_export.disk_lists import Spool
from conversations.runtime.text import clean, one_line

DEEPEST = 64
"""Levels of a content block. PostgreSQL and Python take more, no reader does."""

MOST_CHARS = 1_000_000
"""Of a message."""

TITLE_CHARS = 200
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
"""What lies outside is no time but a mistake: zero, or milliseconds taken for seconds."""


def refuse(place: str, problem: str) -> NoReturn:
    raise InvalidImport(f"`{place}` {problem}", place=place)


def mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(place, "must be an object.")
    return value


def elements(values: dict[str, Any], name: str, place: str) -> Sequence[Any]:
    """The list of that name, empty where there is none."""
    value = values.get(name)
    if value is None:
        return []
    if not isinstance(value, list | Spool):
        refuse(at(place, name), "must be a list.")
    return value


def at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def text(value: Any, place: str, *, most: int = MOST_CHARS) -> str:
    """A clean text."""
    if not isinstance(value, str):
        refuse(place, "is missing." if value is None else "must be a text.")
    if len(value) > most:
        refuse(place, f"has {len(value):,} characters; the limit is {most:,}. Split it.")
    return clean(value)


def title(value: Any, place: str) -> str:
    return one_line(text(value, place, most=TITLE_CHARS))


def line(value: Any, place: str, *, most: int) -> str:
    """A text in one line, empty where there is none."""
    return "" if value is None else one_line(text(value, place, most=most))


def count(value: Any, place: str) -> int | None:
    if value is not None and (type(value) is not int or value < 0):
        refuse(place, "must be a number, 0 or greater.")
    return value


def switch(value: Any, place: str, *, default: bool) -> bool:
    if value is not None and type(value) is not bool:
        refuse(place, "must be true or false.")
    return default if value is None else value


def choice(value: Any, options: Iterable[str], place: str) -> str:
    options = list(options)
    if value not in options:
        refuse(place, "is missing." if value is None else f"must be one of: {', '.join(options)}.")
    return str(value)


def moment(value: Any, place: str) -> datetime | None:
    """A time in UTC; one that names no time zone is taken for UTC. ``None`` where there is none."""
    if value is None:
        return None
    try:
        parsed = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        refuse(place, "must be an ISO 8601 time, for example 2026-03-01T12:00:00Z.")
    try:
        time = parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except OverflowError:  # the first or the last day that Python knows, moved out of its calendar
        time = None
    if time is None or not EARLIEST <= time < LATEST:
        refuse(place, f"must be a time from {EARLIEST.year} on and before {LATEST.year}.")
    return time


def identifier(value: Any, place: str) -> uuid.UUID | None:
    if value is None:
        return None
    try:
        return uuid.UUID(value)
    except (AttributeError, TypeError, ValueError):
        refuse(place, "must be a UUID. Leave it out to get a new one.")


def plain(value: Any, place: str, depth: int = 0) -> Any:
    """JSON as PostgreSQL can hold it: texts and names clean, numbers finite, not too deep."""
    if depth > DEEPEST:
        refuse(place, f"is nested more than {DEEPEST} levels deep.")
    match value:
        case str():
            return clean(value)
        case float() if not math.isfinite(value):
            refuse(place, "holds a number that is too large.")
        case list():
            return [plain(each, place, depth + 1) for each in value]
        case dict():
            return {clean(name): plain(each, place, depth + 1) for name, each in value.items()}
    return value
