"""The chunks of one stream of Chat Completions, whoever brings them: pure."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.providers import refusals
from conversations.providers.base import (
    Finished,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    Usage,
    UsageSoFar,
)
from conversations.providers.errors import StreamError, code_for_status
from conversations.providers.inline_thoughts import InlineThoughts, Piece
from conversations.providers.message_stream import LONGEST_DETAILS, MESSAGE_ID_CHARS, ToolCalls, parsed
from conversations.runtime.text import clean, paired
from conversations.runtime.word_tables import pattern, read_tables

TABLES = read_tables(__file__)
REASONS: Mapping[str, str] = TABLES["reasons"]
FAILURES: Mapping[str, str] = TABLES["failures"]
CODES: Mapping[str, str] = TABLES["codes"]
STATUSES: Mapping[int, str] = {int(status): code for status, code in TABLES["statuses"].items()}
THOUGHT_TAGS: Mapping[str, str] = TABLES["thought_tags"]
MESSAGES = {code: pattern(text) for code, text in TABLES["messages"].items()}

THOUGHTS = ("reasoning_content", "reasoning")
"""The fields of a delta that may hold what the model thinks; while a server renames one it sends both."""
NO_REASON = "unknown"
"""Where a server ends its stream without a word on why the model stopped."""
DONE = "[DONE]"
LONGEST_LINE = 16 * 1024 * 1024


class EventReader:
    """The data of Server-Sent Events out of bytes as they come. A comment is told as ``None``: it is a sign of life."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[str] = []

    def feed(self, received: bytes) -> Iterator[str | None]:
        """Raises ``ValueError`` for what is no UTF-8, and where a line has no end."""
        whole, end, self._rest = (self._rest + received).rpartition(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise ValueError("a line without end")
        for line in whole.split(b"\n") if end else ():
            yield from self._line(line.removesuffix(b"\r").decode())

    def end(self) -> Iterator[str | None]:
        """What came last, where the server left out the empty line after it."""
        yield from self._line(self._rest.removesuffix(b"\r").decode())
        yield from self._line("")

    def _line(self, line: str) -> Iterator[str | None]:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line and self._data:
            yield "\n".join(self._data) or None
            self._data = []
        elif line and not name:
            yield None
        elif name == "data":
            self._data.append(value)
        elif name == "error":  # how earlier llama.cpp tells an error
            yield f'{{"error": {value}}}'


class PiecedCalls:
    """The calls of one stream, put together from pieces.

    The pieces of a call share its ``index``, but some servers give all calls the same one, or none: then a new id is a new
    call. A call is told of once its name is known.
    """

    def __init__(self, calls: ToolCalls) -> None:
        self._calls = calls
        self._places: list[tuple[object, str]] = []
        self._unnamed: dict[int, str] = {}
        self._written: dict[int, str] = {}

    def take(self, piece: Mapping[str, Any], message_id: str) -> list[ProviderEvent]:
        raw = piece.get("function")
        function: Mapping[str, Any] = raw if isinstance(raw, dict) else {}
        place, is_new = self._place(piece.get("index"), piece.get("id"), function.get("name"))
        written = arguments_of(function.get("arguments"))
        if is_new:
            self._unnamed[place] = ""
        self._written[place] = self._written.get(place, "") + written
        if place not in self._unnamed:
            return [*self._calls.write(place, written)]
        if not function.get("name"):
            self._unnamed[place] += written
            return []
        return [*self._begin(place, function["name"], message_id), *self._calls.write(place, written)]

    def end(self, message_id: str) -> list[ProviderEvent]:
        """All calls are whole now."""
        late = [event for place in list(self._unnamed) for event in self._begin(place, "", message_id)]
        return [*late, *(event for place in range(len(self._places)) for event in self._calls.stop(place))]

    @property
    def any(self) -> bool:
        return bool(self._places)

    def _begin(self, place: int, name: object, message_id: str) -> list[ProviderEvent]:
        written = self._unnamed.pop(place)
        started = self._calls.start(place, {"id": self._places[place][1], "name": name}, message_id)
        return [*started, *self._calls.write(place, written)]

    def _place(self, index: object, id: object, name: object) -> tuple[int, bool]:
        """Which of the calls a piece belongs to, and whether it is its first."""
        call_id = id if isinstance(id, str) else ""
        for place in reversed(range(len(self._places))):
            known_index, known_id = self._places[place]
            if call_id and known_id and call_id != known_id:
                continue
            same_index = index == known_index if index is not None else not (name and not call_id)
            if same_index and name and not call_id and parsed(self._written[place]):
                break  # a whole call before this one
            if (call_id and call_id == known_id) or same_index:
                self._places[place] = (known_index, known_id or call_id)
                return place, False
        self._places.append((index, call_id))
        return len(self._places) - 1, True


@dataclass
class ChatAccumulator:
    """What the stream has said so far. ``done``: the server said that nothing more comes."""

    calls: PiecedCalls
    inline: InlineThoughts
    end: Finished = field(default_factory=lambda: Finished(stop_reason=""))
    usage: Usage | None = None
    reason: str = ""
    begun: bool = False
    done: bool = False
    declined: str = ""
    thought: list[str] | None = None
    """Pieces of what the model thinks right now."""

    def take(self, data: str) -> Sequence[ProviderEvent]:
        """Note one event. Raises ``StreamError`` and ``ValueError``."""
        if data.startswith(DONE):
            self.done = True
            return ()
        chunk = json.loads(data)
        if not isinstance(chunk, dict):
            raise StreamError("bad_stream")
        if error := error_in(chunk):
            raise stream_error(error)
        self._learn(chunk)
        return [*self._told_usage(chunk), *(heard for choice in choices_of(chunk) for heard in self._choice(choice))]

    def close(self) -> list[ProviderEvent]:
        """What is whole now that the stream is over."""
        return [*self._say_held(), *self._pause(), *self.calls.end(self.end.message_id)]

    def finished(self, request_id: str) -> Finished:
        if not self.begun:
            raise StreamError("bad_stream" if self.done else "cut_off")
        if not (self.reason or self.done):
            raise StreamError("cut_off")
        if failure := FAILURES.get(self.reason):
            raise StreamError(failure)
        reason = REASONS.get(self.reason, self.reason or NO_REASON)
        if reason == "end_turn" and self.calls.any:
            reason = "tool_use"
        details = None
        if self.declined or reason == refusals.STOP_REASON:
            reason, details = refusals.STOP_REASON, refusal_details(self.declined)
        return replace(
            self.end, stop_reason=reason, usage=self.usage or Usage(), request_id=request_id, stop_details=details
        )

    def _learn(self, chunk: Mapping[str, Any]) -> None:
        message_id, model = (clean(text_in(chunk.get(name)))[:MESSAGE_ID_CHARS] for name in ("id", "model"))
        self.end = replace(self.end, message_id=message_id or self.end.message_id, model=model or self.end.model)

    def _told_usage(self, chunk: Mapping[str, Any]) -> list[ProviderEvent]:
        told = chunk.get("usage") or nested(chunk, "x_groq", "usage")
        if not isinstance(told, dict):
            return []
        self.usage = usage_of(told)
        return [UsageSoFar(usage=self.usage, message_id=self.end.message_id)]

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[ProviderEvent]:
        self.begun = True
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.reason = clean(reason)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ProviderEvent]:
        yield from self._think(next((text for name in THOUGHTS if (text := text_in(delta.get(name)))), ""))
        for part in parts_of(delta.get("content")):
            if part.get("type") == "thinking":
                yield from self._think("".join(map(text_in, parts_of(part.get("thinking")))))
            else:
                yield from self._say(self.inline.feed(text_in(part)))
        if refusal := text_in(delta.get("refusal")):
            self.declined = (self.declined + refusal)[:LONGEST_DETAILS]
        for piece in delta.get("tool_calls") or ():
            if isinstance(piece, dict):
                yield from self._say_held()
                yield from self._pause()
                yield from self.calls.take(piece, self.end.message_id)

    def _say(self, pieces: Iterable[Piece]) -> Iterator[ProviderEvent]:
        for piece in pieces:
            if piece.is_thought:
                yield from self._add_thought(piece.text)
            else:
                yield from self._pause()
                yield TextDelta(text=piece.text)

    def _say_held(self) -> Iterator[ProviderEvent]:
        """It does something else now, or nothing more: what was held back is whole."""
        yield from self._say(self.inline.end())

    def _think(self, text: str) -> Iterator[ProviderEvent]:
        """Where a server tells thoughts apart, none stand in the text."""
        if text:
            yield from self._say_held()
            yield from self._add_thought(text)

    def _add_thought(self, text: str) -> Iterator[ProviderEvent]:
        if self.thought is None:
            self.thought = []
            yield ThinkingStarted()
        self.thought.append(text)
        yield ThinkingDelta(text=text)

    def _pause(self) -> list[ProviderEvent]:
        """It says or does something else now."""
        if self.thought is None:
            return []
        block = {"type": "thinking", "thinking": paired("".join(self.thought))}
        self.thought = None
        return [ThinkingDone(block=block)]


def choices_of(chunk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of several answers only the first is asked for."""
    choices = chunk.get("choices")
    told = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return [choice for choice in told if choice.get("index") in (0, None)]


def parts_of(content: object) -> list[Mapping[str, Any]]:
    """The parts of a content, which mostly is one text; Mistral also sends lists."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def text_in(value: object) -> str:
    text = value.get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def arguments_of(value: object) -> str:
    """The next piece of the JSON; some servers send the object itself."""
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, dict) else ""


def usage_of(told: Mapping[str, Any]) -> Usage:
    """In the Messages API's way of counting, where the input does not hold what the cache gave or took."""
    read = number(nested(told, "prompt_tokens_details", "cached_tokens") or told.get("prompt_cache_hit_tokens"))
    written = number(nested(told, "prompt_tokens_details", "cache_write_tokens"))
    return Usage(
        input_tokens=max(number(told.get("prompt_tokens")) - read - written, 0),
        output_tokens=number(told.get("completion_tokens")),
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        thinking_tokens=number(nested(told, "completion_tokens_details", "reasoning_tokens")),
    )


def nested(value: Mapping[str, Any], *names: str) -> Any:
    found: Any = value
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def error_in(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The error object that an event holds or is."""
    error = chunk.get("error")
    if isinstance(error, str) and error:
        return {"message": error}
    if isinstance(error, dict):
        return error
    return chunk if chunk.get("object") == "error" else None  # how earlier vLLM tells an error


def stream_error(error: Mapping[str, Any], status: int | None = None) -> StreamError:
    """An error object in Openbook's words. Without an HTTP status its own code may be one."""
    code, detail = error.get("code"), text_in(error.get("message"))
    told = status or number(code) or (number(int(code)) if isinstance(code, str) and code.isdecimal() else 0)
    return StreamError(code_of(error, told or None), detail, status=status)


def code_of(error: Mapping[str, Any], status: int | None) -> str:
    message = text_in(error.get("message"))
    if nested(error, "metadata", "flagged_input") is not None:  # OpenRouter's moderation
        return refusals.CODE
    named = (CODES.get(value) for value in (error.get("code"), error.get("type")) if isinstance(value, str))
    said = (code for code, words in MESSAGES.items() if words.search(message))
    by_status = (STATUSES.get(status) or code_for_status(status)) if status and status >= 300 else "server_error"
    return next(filter(None, (*said, *named)), by_status)


def refusal_details(explanation: str) -> dict[str, Any]:
    return {"type": refusals.STOP_REASON, "category": None, "explanation": clean(explanation)[:LONGEST_DETAILS] or None}
