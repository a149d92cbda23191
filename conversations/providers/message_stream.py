"""The events of one stream of the Messages API, whoever brings them: pure."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from conversations.providers.base import (
    COUNTED_TOKENS,
    Finished,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    Usage,
    UsageSoFar,
)
from conversations.providers.cited_documents import CitedDocument, marks_for
from conversations.providers.errors import StreamError, code_for_type
from conversations.providers.history import calls_of
from conversations.runtime.text import StreamCleaner, clean, clean_deep, paired

MESSAGE_ID_CHARS = 100
LONGEST_TAIL = 1_000
LONGEST_DETAILS = 4_000
"""Characters of an object of the provider's that is kept as it is."""


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

    def end(self) -> list[ToolEvent]:
        last = self.cleaner.end()
        if self.arguments and not "".join([*self.written, last]).strip():
            last = json.dumps(self.arguments)
        events = self.take(last)
        return [*events, ToolCalled(id=self.id, name=self.name, input=parsed("".join(self.written)))]


class ToolCalls:
    """Those of one stream, by the index of their block: blocks may interleave.

    ``taken`` are the ids of the calls in the request, since ids must be unique in all that is sent to the API later.
    """

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self.open: dict[int, OpenCall] = {}
        self._taken = set(taken)

    def start(self, index: int, block: Mapping[str, Any], message_id: str) -> list[ToolEvent]:
        if index in self.open:
            raise StreamError("bad_stream")
        arguments = block.get("input")
        call = OpenCall(
            id=self._id(block.get("id"), message_id),
            name=tool_name(block.get("name")),
            arguments=arguments if isinstance(arguments, dict) else {},
        )
        self.open[index] = call
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


class Progress:
    """Content that is neither text, thinking nor a call of ours: the model is at work."""


Heard = ProviderEvent | Progress


UNFINISHED = Finished(stop_reason="")


@dataclass
class MessageAccumulator:
    """What the stream has said so far."""

    end: Finished = UNFINISHED
    """As far as it is known, but for the usage."""
    usage: dict[str, int] = field(default_factory=dict)
    begun: bool = False
    complete: bool = False
    calls: ToolCalls = field(default_factory=ToolCalls)
    thoughts: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Blocks of thinking that are not whole yet, by their index."""
    documents: Sequence[CitedDocument] = ()
    """Of the request: what a text cites of them is said by marks at its end."""
    cited: dict[int, list[str]] = field(default_factory=dict)
    tails: dict[int, str] = field(default_factory=dict)
    """How the texts end that are being written, by the index of their block."""
    untrue_citations: int = 0

    def take(self, event: object) -> Sequence[Heard]:
        """Note one event of the stream; kinds that are not known are passed over, as the API asks of its clients."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self.begun = True
                self.note_usage(message.get("usage"))
                message_id, model = (clean(str(message.get(name) or ""))[:MESSAGE_ID_CHARS] for name in ("id", "model"))
                self.learn(message_id=message_id, model=model, diagnostics=as_it_came(message.get("diagnostics")))
                return [self.so_far()]
            case {"type": "content_block_start" | "content_block_delta"}:
                return self.take_content(event)
            case {"type": "content_block_stop", "index": int(index)}:
                if index in self.thoughts:
                    return self.end_thought(index)
                return [*self.calls.stop(index), *self.end_text(index)]
            case {"type": "message_delta", "delta": dict(delta), **rest}:
                details, diagnostics = as_it_came(delta.get("stop_details")), as_it_came(rest.get("diagnostics"))
                self.learn(stop_reason=delta.get("stop_reason"), stop_details=details, diagnostics=diagnostics)
                self.note_usage(rest.get("usage"))
                return [self.so_far()]
            case {"type": "message_stop"}:
                self.complete = True
            case {"type": "error", "error": {"type": error_type, "message": str(message)}}:
                raise StreamError(code_for_type(error_type) or "server_error", message)
            case {"type": "error"}:
                raise StreamError("server_error")
            case dict():
                pass
            case _:
                raise StreamError("bad_stream")
        return ()

    def take_content(self, event: object) -> Sequence[Heard]:
        match event:
            case {"content_block": {"type": "text", "text": str(text)}} | {
                "delta": {"type": "text_delta", "text": str(text)}
            }:
                return self.take_text(event, text)
            case {"index": int(index), "delta": {"type": "citations_delta", "citation": citation}}:
                marks = marks_for(citation, self.documents)
                self.cited.setdefault(index, []).extend(marks)
                self.untrue_citations += not marks
                return [Progress()]
            case {"index": int(index), "content_block": {"type": "tool_use"} as block}:
                return self.calls.start(index, block, self.end.message_id)
            case {"index": int(index), "delta": {"type": "input_json_delta", "partial_json": str(piece)}} if (
                index in self.calls.open
            ):
                return self.calls.write(index, piece)
            case {"index": int(index), "content_block": {"type": "thinking" | "redacted_thinking"} as block}:
                self.thoughts[index] = {name: part for name, part in block.items() if isinstance(part, str)}
                return [ThinkingStarted(), *thought(block)]
            case {"index": int(index), "delta": {"type": "thinking_delta", "thinking": str(piece)} as delta} if (
                index in self.thoughts
            ):
                self.thoughts[index]["thinking"] = self.thoughts[index].get("thinking", "") + piece
                return thought(delta)
            case {"index": int(index), "delta": {"type": "signature_delta", "signature": str(signature)}} if (
                index in self.thoughts
            ):
                self.thoughts[index]["signature"] = signature
                return ()
            case {"content_block": dict()}:
                return [Progress()]
            case {"delta": dict(delta)}:
                return [Progress()] if any(value for key, value in delta.items() if key != "type") else []
        return ()

    def take_text(self, event: object, text: str) -> Sequence[Heard]:
        match event:
            case {"index": int(index)} if self.documents:
                self.tails[index] = (self.tails.get(index, "") + text)[-LONGEST_TAIL:]
        return [TextDelta(text=text)] if text else []

    def end_text(self, index: int) -> Sequence[Heard]:
        """What its text cites, unless the model has said so in words."""
        tail = self.tails.pop(index, "")
        marks = [mark for mark in dict.fromkeys(self.cited.pop(index, ())) if mark not in tail]
        if not marks:
            return []
        is_apart = not tail or tail[-1].isspace()
        return [TextDelta(text=" ".join([*marks, ""] if is_apart else ["", *marks]))]

    def end_thought(self, index: int) -> Sequence[Heard]:
        block = self.thoughts.pop(index)
        return [ThinkingDone(block={name: paired(part) for name, part in block.items()})]

    def note_usage(self, usage: object) -> None:
        """Later figures replace earlier ones: the API's are cumulative."""
        match usage:
            case {"cache_creation": {"ephemeral_1h_input_tokens": int(tokens)}}:
                self.usage["cache_creation_1h_input_tokens"] = tokens
        match usage:
            case {"output_tokens_details": {"thinking_tokens": int(tokens)}}:
                self.usage["thinking_tokens"] = tokens
        if isinstance(usage, dict):
            self.usage |= {name: n for name in COUNTED_TOKENS if isinstance(n := usage.get(name), int)}

    def learn(self, **values: Any) -> None:
        self.end = replace(self.end, **{name: value for name, value in values.items() if value})

    def so_far(self) -> UsageSoFar:
        return UsageSoFar(usage=Usage(**self.usage), message_id=self.end.message_id)

    def finished(self, request_id: str) -> Finished:
        if not self.begun:
            raise StreamError("bad_stream")
        stop_reason: object = self.end.stop_reason
        if not (self.complete and isinstance(stop_reason, str) and stop_reason) or self.calls.open or self.thoughts:
            raise StreamError("cut_off")
        return replace(self.end, usage=Usage(**self.usage), request_id=request_id)


def thought(part: Mapping[str, Any]) -> list[Heard]:
    text = part.get("thinking")
    return [ThinkingDelta(text=text)] if isinstance(text, str) and text else []


def as_it_came(details: object) -> dict[str, Any] | None:
    """Shown to staff as the provider said it, so only what can be stored and is short enough to read."""
    if isinstance(details, dict) and details and len(json.dumps(details)) <= LONGEST_DETAILS:
        cleaned: dict[str, Any] = clean_deep(details)
        return cleaned
    return None


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
