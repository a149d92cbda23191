"""The tool calls of one stream of Chat Completions, put together from pieces, however a server tells them. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conversations.providers.base import ProviderEvent
from conversations.providers.tool_calls import ToolCalls, parsed

NOTHING_YET = "{}"
"""Some servers begin the arguments of each call so, and send the object itself later."""


@dataclass
class PiecedCall:
    """``index`` and ``id`` are the server's, where it tells them."""

    place: int
    index: object
    id: str
    name: str = ""
    is_told: bool = False
    has_placeholder: bool = False
    written: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        return bool(parsed("".join(self.written))) if self.written else self.has_placeholder

    def is_continued_by(self, index: object, id: str, name: str) -> bool:
        """Whether a piece belongs to this call. Its ``index`` and its id should say so, but some servers give all calls the
        same index, or none, and some each piece another id."""
        if id and id == self.id:
            return True
        if index is not None and index != self.index:
            return False
        if index is None and name and (id or self.name):
            return False
        if id and self.id:
            return index is not None and not name and not self.is_whole
        return not (name and self.name and (name != self.name or self.is_whole))


class PiecedCalls:
    """A call is told of once its name is known."""

    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls
        self._pieced: list[PiecedCall] = []

    def take(self, piece: Mapping[str, Any], message_id: str) -> list[ProviderEvent]:
        id, name, written = parts_of_call(piece)
        call = self._call(piece.get("index"), id, name)
        call.id, call.name = call.id or id, call.name or name
        if written.strip() == NOTHING_YET and not call.written:
            call.has_placeholder, written = True, ""
        if written.lstrip().startswith("{") and call.written and call.is_whole:
            written = ""  # the whole once more
        if written:
            call.written.append(written)
        if not call.is_told:
            return [*self._tell(call, message_id)] if call.name else []
        return [*self._calls.write(call.place, written)] if written else []

    def end(self, message_id: str) -> list[ProviderEvent]:
        """All calls are whole now."""
        return [event for call in self._pieced for event in self._end(call, message_id)]

    @property
    def any(self) -> bool:
        return bool(self._pieced)

    @property
    def are_whole(self) -> bool:
        """Whether all that were begun have all their arguments, as far as these show it: an object ends by itself."""
        return all(call.is_whole for call in self._pieced)

    def _end(self, call: PiecedCall, message_id: str) -> Iterator[ProviderEvent]:
        if not call.is_told:
            yield from self._tell(call, message_id)
        if call.has_placeholder and not call.written:
            yield from self._calls.write(call.place, NOTHING_YET)
        yield from self._calls.stop(call.place)

    def _tell(self, call: PiecedCall, message_id: str) -> Iterator[ProviderEvent]:
        call.is_told = True
        yield from self._calls.start(call.place, {"id": call.id, "name": call.name}, message_id)
        yield from self._calls.write(call.place, "".join(call.written))

    def _call(self, index: object, id: str, name: str) -> PiecedCall:
        """The call that a piece belongs to, which may be a new one."""
        for call in reversed(self._pieced):
            if call.is_continued_by(index, id, name):
                return call
        if not (id or name) and self._pieced and not self._pieced[-1].is_whole:
            return self._pieced[-1]  # some servers count on within a call
        self._pieced.append(PiecedCall(place=len(self._pieced), index=index, id=id))
        return self._pieced[-1]


def calls_in(delta: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The pieces that say something, also where there is but one call, or in the field that there was before there could be
    several."""
    calls = delta.get("tool_calls") or delta.get("function_call") or ()
    pieces = [calls] if isinstance(calls, dict) else calls
    return [piece for piece in pieces if isinstance(piece, dict) and any(parts_of_call(piece))]


def parts_of_call(piece: Mapping[str, Any]) -> tuple[str, str, str]:
    """Its id, its name and its arguments, as far as the piece has them."""
    raw = piece.get("function")
    function: Mapping[str, Any] = raw if isinstance(raw, dict) else piece
    id, name = (value if isinstance(value, str) else "" for value in (piece.get("id"), function.get("name")))
    return id, name, arguments_of(function.get("arguments"))


def arguments_of(value: object) -> str:
    """The next piece of the JSON; some servers send the object itself."""
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict) else ""
