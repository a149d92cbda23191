"""The values of a document, each checked at its place. Pure; all raise ``InvalidImport``."""

import math
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn, Self

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


class TextTooLong(InvalidImport):
    """The document is right, and something in it larger than what is stored."""


def refuse_length(place: str, size: int, most: int) -> NoReturn:
    raise TextTooLong(f"`{place}` has {size:,} characters; the limit is {most:,}. Split it.", place=place)


@dataclass(slots=True)
class Fields:
    """An object of a document by the names in it, and where it stands."""

    values: dict[str, Any]
    place: str

    @classmethod
    def of(cls, value: Any, place: str) -> Self:
        if not isinstance(value, dict):
            refuse(place, "must be an object.")
        return cls(value, place)

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def at(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def refuse(self, name: str, problem: str) -> NoReturn:
        refuse(self.at(name), problem)

    def elements(self, name: str, *, most: int | None = None, noun: str = "elements") -> Sequence[Any]:
        """The list of that name, empty where there is none."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list | Spool):
            self.refuse(name, "must be a list.")
        if most is not None and len(value) > most:
            self.refuse(name, f"has {len(value):,} {noun}; the limit is {most:,}.")
        return value

    def objects(self, name: str) -> "Iterator[Fields]":
        """The objects of the list of that name, each checked as it is asked for."""
        return (Fields.of(value, place) for value, place in self._placed(name))

    def texts(self, name: str, *, most: int) -> list[str]:
        return [checked_text(value, place, most=most) for value, place in self._placed(name)]

    def identifiers(self, name: str) -> list[uuid.UUID | None]:
        return [checked_id(value, place) for value, place in self._placed(name)]

    def _placed(self, name: str) -> Iterator[tuple[Any, str]]:
        return ((value, f"{self.at(name)}[{index}]") for index, value in enumerate(self.elements(name)))

    def text(self, name: str, *, most: int = MOST_CHARS) -> str:
        return checked_text(self.get(name), self.at(name), most=most)

    def title(self, name: str) -> str:
        return one_line(self.text(name, most=TITLE_CHARS))

    def line(self, name: str, *, most: int) -> str:
        """A text in one line, empty where there is none."""
        return "" if self.get(name) is None else one_line(self.text(name, most=most))

    def count(self, name: str) -> int | None:
        value = self.get(name)
        if value is not None and (type(value) is not int or value < 0):
            self.refuse(name, "must be a number, 0 or greater.")
        return value

    def switch(self, name: str, *, default: bool) -> bool:
        value = self.get(name)
        if value is not None and type(value) is not bool:
            self.refuse(name, "must be true or false.")
        return default if value is None else value

    def choice(self, name: str, options: Iterable[str], *, default: str | None = None) -> str:
        """``default`` is for a name that is not there; a null is refused."""
        value, options = self.values.get(name, default), list(options)
        if value not in options:
            self.refuse(name, "is missing." if value is None else f"must be one of: {', '.join(options)}.")
        return str(value)

    def moment(self, name: str) -> datetime | None:
        """A time in UTC; one that names no time zone is taken for UTC. ``None`` where there is none."""
        value = self.get(name)
        if value is None:
            return None
        try:
            parsed = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            self.refuse(name, "must be an ISO 8601 time, for example 2026-03-01T12:00:00Z.")
        try:
            time = parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        except OverflowError:  # the first or the last day that Python knows, moved out of its calendar
            time = None
        if time is None or not EARLIEST <= time < LATEST:
            self.refuse(name, f"must be a time from {EARLIEST.year} on and before {LATEST.year}.")
        return time

    def identifier(self, name: str) -> uuid.UUID | None:
        return checked_id(self.get(name), self.at(name))


def checked_text(value: Any, place: str, *, most: int = MOST_CHARS) -> str:
    """A clean text."""
    if not isinstance(value, str):
        refuse(place, "is missing." if value is None else "must be a text.")
    if len(value) > most:
        refuse_length(place, len(value), most)
    return clean(value)


def checked_id(value: Any, place: str) -> uuid.UUID | None:
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
