"""The interface that scenarios use, and that each system has an adapter for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import TracebackType
from typing import Any, ClassVar, Self

Block = dict[str, Any]
"""A content block, as the Messages API has it: ``text``, ``tool_use``, ``tool_result``."""


class Ability(StrEnum):
    """What a system may offer. A scenario that needs what is not offered does not run, and the report says so."""

    SAY = "say", "store what a person says in a conversation"
    CONTEXT = "context", "tell what a model is given for a message, or what it answers"
    PEOPLE = "people", "keep several people apart"
    PROJECTS = "projects", "keep projects apart"
    TEMPORARY = "temporary", "have conversations of which nothing is remembered"
    EDIT = "edit", "edit a turn that was said"
    HISTORY = "history", "take a whole conversation with times and tool calls"
    TOOL_CALLS = "tool_calls", "choose which turns with tool calls a model is given"
    TIME_ZONE = "time_zone", "know in which time zone a person lives"
    REMEMBER = "remember", "take a note directly, and change it"
    NOTES = "notes", "list the notes that were made"
    FORGET = "forget", "forget a fact, and what tells it"
    TRACES = "traces", "show all that is stored of a person"

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class MemoryFailed(Exception):
    """A system answered what it should not: the text says which call, and what came."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A turn of a conversation that is taken whole. ``at`` has a time zone."""

    role: str
    content: str | list[Block]
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a model would be given, or what was answered.

    ``instructions`` is what stands above the conversation as the system's own words, ``messages`` what is given as turns.
    ``source`` says what was looked at: ``context`` or ``answer``.
    """

    source: str
    instructions: str = ""
    messages: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @property
    def text(self) -> str:
        """All of it, in its order."""
        return "\n".join([self.instructions, *(text for message in self.messages for text in _texts(message))])


def _texts(value: object) -> Iterator[str]:
    """Every string within, without the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)


class ChatMemory:
    """A system that remembers. An adapter offers the methods of its ``abilities``.

    ``person`` is the name of one of ``people``; ids are the system's own. Methods raise ``MemoryFailed`` where the system
    answers with an error.
    """

    name: ClassVar[str]
    abilities: frozenset[Ability]
    people: Sequence[str] = ("first", "second")

    def lacks(self, ability: Ability) -> str:
        """Why an ability is not offered, in words; empty where it is."""
        return "" if ability in self.abilities else f"{self.name} does not {ability.meaning}"

    def open_thread(self, person: str, *, project: str = "", temporary: bool = False) -> str:
        """A new conversation: its id."""
        raise NotImplementedError

    def open_project(self, person: str) -> str:
        """A project that neither uses what is remembered outside of it nor shares what is remembered in it: its id."""
        raise NotImplementedError

    def say(self, person: str, thread: str, text: str, *, edits: str = "") -> str:
        """Say something, and wait until it is answered: the id of the turn. ``edits``: in place of that turn."""
        raise NotImplementedError

    def load(self, person: str, turns: Sequence[Turn]) -> str:
        """A conversation that was held before: the id of its thread."""
        raise NotImplementedError

    def context(self, person: str, thread: str, text: str) -> Evidence:
        """What this message would be answered from."""
        raise NotImplementedError

    def remember(self, person: str, text: str) -> str:
        """Take a note: its id."""
        raise NotImplementedError

    def update(self, person: str, note: str, text: str) -> None:
        raise NotImplementedError

    def notes(self, person: str) -> list[str]:
        raise NotImplementedError

    def forget(self, person: str, turn: str, fact: str) -> None:
        """Forget a fact: the turn that said it in these words, and all that was made of it or repeats it."""
        raise NotImplementedError

    def live_in(self, person: str, time_zone: str) -> None:
        """Set the person's time zone, an IANA name."""
        raise NotImplementedError

    def traces(self, person: str) -> dict[str, str]:
        """All that is stored of the person and can be read back, by place: search, notes, summaries, recorded requests …"""
        raise NotImplementedError

    def clear(self) -> None:
        """Remove what the suite made, and put settings back: after each scenario."""

    def close(self) -> None:
        """Let go of connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.clear()
        finally:
            self.close()
