"""The chunks of one stream of Chat Completions, whoever brings them: pure."""

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
from conversations.providers.chat_calls import PiecedCalls, calls_in
from conversations.providers.chat_errors import error_in, nested, number, refusal_details, stream_error, text_in
from conversations.providers.errors import StreamError
from conversations.providers.event_stream import StreamEvent
from conversations.providers.harmony import Piece
from conversations.providers.inline_thoughts import InlineThoughts
from conversations.providers.message_stream import LONGEST_DETAILS, MESSAGE_ID_CHARS
from conversations.providers.repeats import RepeatFilter
from conversations.runtime.text import clean, paired
from conversations.runtime.word_tables import read_tables

TABLES = read_tables(__file__)
REASONS: Mapping[str, str] = TABLES["reasons"]
UNFINISHED = frozenset(TABLES["unfinished"]["words"])
FAILURES: Mapping[str, str] = TABLES["failures"]

THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_content")
"""The fields of a delta that may hold what the model thinks; while a server renames one it sends both."""
THOUGHT_PARTS = frozenset({"thinking", "reasoning"})
NO_REASON = "unknown"
"""Where a server ends its stream without a word on why the model stopped."""
ORDINARY = frozenset({"end_turn", "tool_use"})
"""Reasons that say no more than that it is done."""


@dataclass
class ChatAccumulator:
    """What the stream has said so far.

    ``reason`` is the last one that was told, ``is_done`` that the server said that nothing more comes. Only the end of the
    stream ends it: there are servers that tell a reason with each chunk, or with one in the middle (``went_on``).
    """

    calls: PiecedCalls
    inline: InlineThoughts
    last: Finished = field(default_factory=lambda: Finished(stop_reason=""))
    usage: Usage | None = None
    reason: str = ""
    went_on: bool = False
    has_figures_after: bool = False
    begun: bool = False
    is_done: bool = False
    declined: str = ""
    thought: list[str] | None = None
    """Pieces of what the model thinks right now."""
    content: RepeatFilter = field(default_factory=RepeatFilter)
    text: RepeatFilter = field(default_factory=RepeatFilter)
    thoughts: RepeatFilter = field(default_factory=RepeatFilter)
    tagged: list[str] = field(default_factory=list)
    """Thoughts between tags, held back while the server may have told them in a field as well."""

    @property
    def is_over(self) -> bool:
        return self.is_done

    @property
    def may_be_over(self) -> bool:
        return bool(self.reason) and not self.went_on and (self.content.has_said or self.calls.any)

    @property
    def is_settled(self) -> bool:
        return self.may_be_over and self.has_figures_after

    def take(self, event: StreamEvent) -> Sequence[ProviderEvent]:
        """Note one event. Raises ``StreamError`` and ``ValueError``."""
        if not event.data:
            return ()
        if event.is_end:
            self.is_done = True
            return ()
        chunk = event.parse()
        if error := error_in(chunk):
            raise stream_error(error)
        self._learn(chunk)
        choices = choices_of(chunk)
        told = [*self._told_usage(chunk), *(heard for choice in choices for heard in self._choice(choice))]
        self.has_figures_after = not choices and isinstance(chunk.get("usage"), dict)
        return told

    def end(self, request_id: str) -> Sequence[ProviderEvent]:
        """What is whole now that the stream is over, and its end. Raises ``StreamError``."""
        rest = [*self._say_held(), *self._pause()]
        finished = self._finished(request_id)
        return [*rest, *self.calls.end(self.last.message_id), finished]

    def _finished(self, request_id: str) -> Finished:
        if not self.begun:
            raise StreamError("bad_stream" if self.is_done else "cut_off")
        if failure := FAILURES.get(self.reason):
            raise StreamError(failure)
        reason, details = self.reason or self._without_reason(), None
        if self.calls.any and reason in (*ORDINARY, NO_REASON):
            reason = "tool_use"
        elif reason == "tool_use" and not self.calls.any:
            reason = NO_REASON
        if self.declined or reason == refusals.STOP_REASON:
            reason, details = refusals.STOP_REASON, refusal_details(self.declined)
        return replace(
            self.last, stop_reason=reason, usage=self.usage or Usage(), request_id=request_id, stop_details=details
        )

    def _without_reason(self) -> str:
        """A call that may have been cut off is never made; of a text it is said that it may not be whole."""
        has_said = self.content.has_said or self.thoughts.has_said or self.declined
        if not self.is_done and not (self.calls.are_whole and (self.calls.any or has_said)):
            raise StreamError("cut_off")
        return NO_REASON

    def _learn(self, chunk: Mapping[str, Any]) -> None:
        message_id, model = (clean(text_in(chunk.get(name)))[:MESSAGE_ID_CHARS] for name in ("id", "model"))
        self.last = replace(self.last, message_id=message_id or self.last.message_id, model=model or self.last.model)

    def _told_usage(self, chunk: Mapping[str, Any]) -> list[ProviderEvent]:
        told = chunk.get("usage") or nested(chunk, "x_groq", "usage")
        if not isinstance(told, dict):
            return []
        self.usage = usage_of(told)
        return [UsageSoFar(usage=self.usage, message_id=self.last.message_id)]

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[ProviderEvent]:
        self.begun = True
        delta, whole = choice.get("delta"), choice.get("message")
        if not isinstance(delta, dict):
            delta = {"content": choice.get("text")} if whole is None else {}
        if says_something(delta):
            self.went_on = self.went_on or bool(self.reason)
            yield from self._delta(delta)
        if isinstance(whole, dict):
            yield from self._delta(self._rest_of(whole))
        self._note_reason(choice.get("finish_reason") or choice.get("finishReason"), after=says_something(delta))

    def _note_reason(self, value: object, *, after: bool) -> None:
        """A reason that says more stands against a mere "done", unless something came ``after`` it."""
        told = clean(value) if isinstance(value, str) else ""
        if not told or told.lower() in UNFINISHED:
            return
        reason = REASONS.get(told.lower(), told)
        if after or self.went_on or reason not in ORDINARY or self.reason in ("", *ORDINARY):
            self.reason = reason

    def _rest_of(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """What a message that is said to be the whole has beyond what came."""
        content = "".join(text_in(part) for part in parts_of(message.get("content")) if not is_thought(part))
        if not (self.content.has_said or self.thoughts.has_said or self.calls.any):
            is_text = isinstance(message.get("content"), str)
            return {**message, "content": self.inline.whole(content)} if is_text else dict(message)
        said = self.content.said
        is_longer = content.startswith(said) and len(content) > len(said)
        rest: dict[str, Any] = {"content": content[len(said) :]} if is_longer else {}
        return rest if self.calls.any else rest | {"tool_calls": message.get("tool_calls")}

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ProviderEvent]:
        yield from self._think(next((text for name in THOUGHTS if (text := thoughts_in(delta.get(name)))), ""))
        for part in parts_of(delta.get("content")):
            if is_thought(part):
                yield from self._think(thoughts_in(part.get("thinking") or part.get("reasoning") or part.get("text")))
            else:
                yield from self._say(self.inline.feed(self.content.feed(text_in(part))))
        if refusal := text_in(delta.get("refusal")):
            self.declined = (self.declined + refusal)[:LONGEST_DETAILS]
        for piece in calls_in(delta):
            yield from self._say_held()
            yield from self._call(piece)

    def _call(self, piece: Mapping[str, Any]) -> Iterator[ProviderEvent]:
        yield from self._pause()
        yield from self.calls.take(piece, self.last.message_id)

    def _say(self, pieces: Iterable[Piece]) -> Iterator[ProviderEvent]:
        for piece in pieces:
            if piece.is_thought:
                self.tagged.append(piece.text)
                if not self.thoughts.has_said:
                    yield from self._say_tagged()
                continue
            yield from self._say_tagged()
            if piece.number:
                function = {"name": piece.call, "arguments": piece.text}
                yield from self._call({"index": f"harmony {piece.number}", "function": function})
            else:
                yield from self._say_text(self.text.feed(piece.text))

    def _say_text(self, text: str) -> Iterator[ProviderEvent]:
        if text:
            yield from self._pause()
            yield TextDelta(text=text)

    def _say_held(self) -> Iterator[ProviderEvent]:
        """It does something else now, or nothing more: what was held back is whole."""
        yield from self._say(self.inline.feed(self.content.end()))
        yield from self._say(self.inline.end())
        yield from self._say_tagged()
        yield from self._say_text(self.text.end())

    def _think(self, text: str) -> Iterator[ProviderEvent]:
        if new := self.thoughts.feed(text):
            yield from self._add_thought(new)

    def _say_tagged(self) -> Iterator[ProviderEvent]:
        """Thoughts between tags, unless they are those that came in a field."""
        tagged, self.tagged = "".join(self.tagged), []
        if tagged and not (self.thoughts.has_said and squeezed(self.thoughts.said).startswith(squeezed(tagged))):
            if self.thoughts.has_said:
                yield from self._pause()
            yield from self._add_thought(tagged)

    def _add_thought(self, text: str) -> Iterator[ProviderEvent]:
        if self.thought is None:
            self.thought = []
            yield ThinkingStarted()
        self.thought.append(text)
        yield ThinkingDelta(text=text)

    def _pause(self) -> list[ProviderEvent]:
        """It says or does something else now."""
        rest = self.thoughts.end()
        late = [*self._add_thought(rest)] if rest else []
        if self.thought is None:
            return []
        block = {"type": "thinking", "thinking": paired("".join(self.thought))}
        self.thought = None
        return [*late, ThinkingDone(block=block)]


def choices_of(chunk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of several answers only the first is asked for. Some servers leave out the choice around the message."""
    choices = chunk.get("choices")
    if choices is None and isinstance(chunk.get("message"), dict):  # Ollama's own shape
        return [{"delta": chunk["message"], "finish_reason": chunk.get("done_reason")}]
    told = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return [choice for choice in told if choice.get("index") in (0, None)]


def parts_of(content: object) -> list[Mapping[str, Any]]:
    """The parts of a content, which mostly is one text; Mistral also sends lists."""
    parts = content if isinstance(content, list) else [content]
    told = ({"type": "text", "text": part} if isinstance(part, str) else part for part in parts)
    return [part for part in told if isinstance(part, dict)]


def says_something(delta: Mapping[str, Any]) -> bool:
    return any(delta.get(name) for name in ("content", "refusal", *THOUGHTS)) or bool(calls_in(delta))


def is_thought(part: Mapping[str, Any]) -> bool:
    return part.get("type") in THOUGHT_PARTS or part.get("thought") is True


def thoughts_in(value: object) -> str:
    parts = value if isinstance(value, list) else [value]
    return "".join(text_in(part) or (text_in(part.get("summary")) if isinstance(part, dict) else "") for part in parts)


def squeezed(text: str) -> str:
    return "".join(text.split())


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
