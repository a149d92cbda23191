"""The calls of tools in one stream, whoever brings them, and their inputs: pure."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from conversations.providers.base import ToolCalled, ToolDelta, ToolStarted
from conversations.providers.errors import StreamError
from conversations.providers.history import calls_of
from conversations.runtime.text import StreamCleaner, clean_deep

DEEPEST_INPUT = 100
MAX_ID_CHARS = 100
MAX_NAME_CHARS = 64
# What the API takes back in the history of the next request.
ID = re.compile(rf"[a-zA-Z0-9_-]{{1,{MAX_ID_CHARS}}}")
NOT_OF_A_NAME = re.compile(r"[^a-zA-Z0-9_-]+")

ToolEvent = ToolStarted | ToolDelta | ToolCalled


@dataclass(kw_only=True)
class OpenCall:
    """A call whose input is being written. ``arguments`` is the input that came with its start, which mostly is empty."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    written: list[str] = field(default_factory=list)
    cleaner: StreamCleaner = field(default_factory=StreamCleaner)

    def take(self, piece: str) -> list[ToolEvent]:
        self.written.append(piece)
        return [ToolDelta(id=self.id, json=piece)] if piece else []

    @property
    def is_whole(self) -> bool:
        """Whether its input shows that nothing is missing: an object ends by itself."""
        return bool(self.arguments or parsed("".join(self.written)))

    def end(self) -> list[ToolEvent]:
        last = self.cleaner.end()
        if self.arguments and not "".join([*self.written, last]).strip():
            last = json.dumps(self.arguments)
        events = self.take(last)
        return [*events, ToolCalled(id=self.id, name=self.name, input=parsed("".join(self.written)))]


MOST_CALLS = 200
"""Of one answer: each piece of a stream is held against all that are open."""


class ToolCalls:
    """Those of one stream, by the index of their block: blocks may interleave.

    ``taken`` are the ids of the calls in the request, since ids must be unique in all that is sent to the API later.
    """

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self.open: dict[int, OpenCall] = {}
        self.any = False
        self._made = 0
        self._taken = set(taken)

    def start(self, index: int, block: Mapping[str, Any], message_id: str) -> list[ToolEvent]:
        self._made += 1
        if index in self.open or self._made > MOST_CALLS:
            raise StreamError("bad_stream")
        arguments = block.get("input")
        call = OpenCall(
            id=self._id(block.get("id"), message_id),
            name=tool_name(block.get("name")),
            arguments=arguments if isinstance(arguments, dict) else {},
        )
        self.open[index], self.any = call, True
        return [ToolStarted(id=call.id, name=call.name)]

    def write(self, index: int, piece: str) -> list[ToolEvent]:
        call = self.open[index]
        return call.take(call.cleaner.feed(piece))

    def stop(self, index: int) -> list[ToolEvent]:
        call = self.open.pop(index, None)
        return call.end() if call else []

    def _id(self, value: object, message_id: str) -> str:
        usable = isinstance(value, str) and ID.fullmatch(value) and value not in self._taken
        chosen = str(value) if usable else next(made for made in made_ids(message_id) if made not in self._taken)
        self._taken.add(chosen)
        return chosen


def made_ids(message_id: str) -> Iterator[str]:
    stem = NOT_OF_A_NAME.sub("", message_id)[: MAX_ID_CHARS - 20]
    number = 0
    while True:
        yield f"call_{stem}_{number}"
        number += 1


def tool_name(value: object) -> str:
    """As the API takes it back. One that is not a tool's name stays unlike any."""
    name = NOT_OF_A_NAME.sub("_", value) if isinstance(value, str) else ""
    return name[:MAX_NAME_CHARS] or "unnamed"


def called_ids(messages: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(str(block.get("id")) for block in calls_of(messages))


def parsed(text: str) -> dict[str, Any] | None:
    """The input as PostgreSQL can hold it; None where the text is no JSON object."""
    try:
        value = json.loads(text.strip() or "{}", strict=False, parse_constant=no_number, parse_float=finite)
    except (ValueError, RecursionError):
        return None
    fits = isinstance(value, dict) and not deeper_than(DEEPEST_INPUT, value)
    return clean_deep(value) if fits else None


def no_number(text: str) -> NoReturn:
    raise ValueError(text)


def finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else no_number(text)


def deeper_than(depth: int, value: object) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(depth == 0 or deeper_than(depth - 1, part) for part in parts)
