"""The events of one stream of the Messages API, whoever brings them: pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conversations.providers.base import (
    COUNTED_TOKENS,
    Finished,
    ProviderEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ThinkingStarted,
    Usage,
    UsageSoFar,
    is_token_figure,
)
from conversations.providers.cited_documents import CitedDocument, marks_for
from conversations.providers.errors import StreamError, code_for_type
from conversations.providers.event_stream import StreamEvent
from conversations.providers.harmony import Piece
from conversations.providers.inline_thoughts import InlineThoughts
from conversations.providers.repeats import RepeatFilter
from conversations.providers.tool_calls import ToolCalls
from conversations.runtime.text import clean, clean_deep, paired

MESSAGE_ID_CHARS = 100
LONGEST_TAIL = 1_000
LONGEST_DETAILS = 4_000
"""Characters of an object of the provider's that is kept as it is."""


class Progress:
    """Content that is neither text, thinking nor a call of ours: the model is at work."""


Heard = ProviderEvent | Progress


UNFINISHED = Finished(stop_reason="")
NO_REASON = "unknown"
"""Where a server ends its message without a word on why the model stopped."""
REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
"""Words of Chat Completions that servers pass on which translate from there."""
REASON_FIELDS = ("stop_reason", "stopReason", "finish_reason")


@dataclass
class MessageAccumulator:
    """What the stream has said so far. ``complete``: the server said that nothing more comes."""

    last: Finished = UNFINISHED
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
    text: RepeatFilter = field(default_factory=RepeatFilter)
    inline: InlineThoughts = field(default_factory=lambda: InlineThoughts({}))
    tagged: str | None = None
    """What the model thinks right now, between tags in its text."""
    newest: int = 0
    """The index of the block that was begun last: what a server that tells none means."""
    untrue_citations: int = 0

    @property
    def is_over(self) -> bool:
        return self.complete

    @property
    def may_be_over(self) -> bool:
        return self.complete or self.is_settled

    @property
    def is_settled(self) -> bool:
        """Why the model stopped is told after all content."""
        return bool(self.last.stop_reason) and self.has_content

    @property
    def has_content(self) -> bool:
        return self.text.has_said or self.calls.any

    def take(self, event: StreamEvent) -> Sequence[Heard]:
        """Note one event. Raises ``StreamError`` and ``ValueError``."""
        if event.is_end:
            self.complete = True
            return ()
        return self.take_object(event.parse()) if event.data else ()

    def take_object(self, event: Mapping[str, Any]) -> Sequence[Heard]:
        """Kinds that are not known are passed over, as the API asks of its clients."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                return self.begin(message)
            case {"type": "content_block_start" | "content_block_delta" | "content_block_stop" as kind}:
                self.begun = True
                index = index if isinstance(index := event.get("index"), int) else self.index_of(kind)
                return self.take_content({**event, "index": index})
            case {"type": "message_delta", "delta": dict(delta), **rest}:
                details, diagnostics = as_it_came(delta.get("stop_details")), as_it_came(rest.get("diagnostics"))
                self.learn(stop_reason=reason_in(delta), stop_details=details, diagnostics=diagnostics)
                self.note_usage(rest.get("usage"))
                return [self.so_far()]
            case {"type": "message_stop"}:
                self.complete = True
            case {"type": "message", "content": list(content)} if not self.has_content:
                return self.take_whole(event, content)
            case {"error": {"type": error_type, "message": str(message)}}:
                raise StreamError(code_for_type(error_type) or "server_error", message)
            case {"type": "error"} | {"error": dict() | str()}:
                raise StreamError("server_error")
        return ()

    def begin(self, message: Mapping[str, Any]) -> Sequence[Heard]:
        self.begun = True
        self.note_usage(message.get("usage"))
        message_id, model = (clean(str(message.get(name) or ""))[:MESSAGE_ID_CHARS] for name in ("id", "model"))
        self.learn(message_id=message_id, model=model, diagnostics=as_it_came(message.get("diagnostics")))
        return [self.so_far()]

    def take_whole(self, message: Mapping[str, Any], content: Sequence[object]) -> Sequence[Heard]:
        """A server that does not stream sends the message itself."""
        heard = [*self.begin(message)]
        for index, block in enumerate(content):
            if isinstance(block, dict) and isinstance(text := block.get("text"), str) and not self.text.has_said:
                block = {**block, "text": self.inline.whole(text)}
            heard += self.take_content({"type": "content_block_start", "index": index, "content_block": block})
            heard += self.take_content({"type": "content_block_stop", "index": index})
        self.learn(stop_reason=reason_in(message), stop_details=as_it_came(message.get("stop_details")))
        self.complete = True
        return heard

    def index_of(self, kind: str) -> int:
        """Of an event that tells none."""
        if kind == "content_block_start":
            return self.newest + 1
        return self.newest

    def take_content(self, event: Mapping[str, Any]) -> Sequence[Heard]:
        match event:
            case {"type": "content_block_stop", "index": int(index)}:
                return self.end_block(index)
            case {"type": "content_block_start", "index": int(index)}:
                ended = [heard for before in self.left_open(index) for heard in self.end_block(before)]
                self.newest = index
                return [*ended, *self.take_part(event, index)]
            case {"index": int(index)}:
                return self.take_part(event, index)
        return ()

    def left_open(self, index: int) -> Iterable[int]:
        """Blocks that another one begins after: thoughts do not interleave, and an index is used once."""
        return [*self.thoughts, *([index] if index in self.calls.open else ())]

    def take_part(self, event: Mapping[str, Any], index: int) -> Sequence[Heard]:
        match event:
            case {"content_block": {"type": "text", "text": str(text)}} | {
                "delta": {"type": "text_delta", "text": str(text)}
            }:
                return self.take_text(index, text)
            case {"content_block": {"type": "tool_use"} as block}:
                return [*self.end_text(), *self.calls.start(index, block, self.last.message_id)]
            case {"content_block": {"type": "thinking" | "redacted_thinking"} as block}:
                self.thoughts[index] = {name: part for name, part in block.items() if isinstance(part, str)}
                return [*self.end_text(), ThinkingStarted(), *thought(block)]
            case {"content_block": dict()}:
                return [Progress()]
            case {"delta": dict(delta)}:
                return self.take_delta(delta, index)
        return ()

    def take_delta(self, delta: Mapping[str, Any], index: int) -> Sequence[Heard]:
        match delta:
            case {"type": "citations_delta", "citation": citation}:
                marks = marks_for(citation, self.documents)
                self.cited.setdefault(index, []).extend(marks)
                self.untrue_citations += not marks
                return [Progress()]
            case {"type": "input_json_delta", "partial_json": str() | dict() as piece} if index in self.calls.open:
                return self.calls.write(index, piece if isinstance(piece, str) else json.dumps(piece))
            case {"type": "thinking_delta", "thinking": str(piece)}:
                return [*self.begin_thought(index), *self.add_thought(index, piece, delta)]
            case {"type": "signature_delta", "signature": str(signature)} if index in self.thoughts:
                self.thoughts[index]["signature"] = signature
                return ()
        return [Progress()] if any(value for key, value in delta.items() if key != "type") else []

    def begin_thought(self, index: int) -> Sequence[Heard]:
        """One whose block was never begun, or was thought to be over."""
        if index in self.thoughts:
            return ()
        self.thoughts[index] = {"type": "thinking", "thinking": ""}
        return [*self.end_text(), ThinkingStarted()]

    def add_thought(self, index: int, piece: str, delta: Mapping[str, Any]) -> Sequence[Heard]:
        self.thoughts[index]["thinking"] = self.thoughts[index].get("thinking", "") + piece
        return thought(delta)

    def take_text(self, index: int, text: str) -> Sequence[Heard]:
        if self.documents:
            self.tails[index] = (self.tails.get(index, "") + text)[-LONGEST_TAIL:]
        return self.say(self.inline.feed(self.text.feed(text)))

    def end_text(self) -> Sequence[Heard]:
        """What was held back of it. Before any there may be thoughts of another kind."""
        held = self.text.end()
        if not self.text.has_said:
            return []
        return [*self.say([*self.inline.feed(held), *self.inline.end()]), *self.end_tagged()]

    def say(self, pieces: Iterable[Piece]) -> Sequence[Heard]:
        heard: list[Heard] = []
        for piece in pieces:
            if not piece.is_thought:
                heard += [*self.end_tagged(), *said(piece.text)]
                continue
            heard += [ThinkingStarted()] if self.tagged is None else []
            self.tagged = (self.tagged or "") + piece.text
            heard.append(ThinkingDelta(text=piece.text))
        return heard

    def end_tagged(self) -> Sequence[Heard]:
        tagged, self.tagged = self.tagged, None
        return [] if tagged is None else [ThinkingDone(block={"type": "thinking", "thinking": paired(tagged)})]

    def end_block(self, index: int) -> Sequence[Heard]:
        if index in self.thoughts:
            block = self.thoughts.pop(index)
            return [ThinkingDone(block={name: paired(part) for name, part in block.items()})]
        return [*self.calls.stop(index), *self.end_citations(index)]

    def end_citations(self, index: int) -> Sequence[Heard]:
        """What its text cites, unless the model has said so in words."""
        tail = self.tails.pop(index, "")
        marks = [mark for mark in dict.fromkeys(self.cited.pop(index, ())) if mark not in tail]
        if not marks:
            return []
        is_apart = not tail or tail[-1].isspace()
        return [*self.end_text(), TextDelta(text=" ".join([*marks, ""] if is_apart else ["", *marks]))]

    def note_usage(self, usage: object) -> None:
        """Later figures replace earlier ones: the API's are cumulative."""
        match usage:
            case {"cache_creation": {"ephemeral_1h_input_tokens": tokens}} if is_token_figure(tokens):
                self.usage["cache_creation_1h_input_tokens"] = tokens
        match usage:
            case {"output_tokens_details": {"thinking_tokens": tokens}} if is_token_figure(tokens):
                self.usage["thinking_tokens"] = tokens
        if isinstance(usage, dict):
            self.usage |= {name: n for name in COUNTED_TOKENS if is_token_figure(n := usage.get(name))}

    def learn(self, **values: Any) -> None:
        self.last = replace(self.last, **{name: value for name, value in values.items() if value})

    def so_far(self) -> UsageSoFar:
        return UsageSoFar(usage=Usage(**self.usage), message_id=self.last.message_id)

    def end(self, request_id: str) -> Sequence[Heard]:
        """What is whole now that the stream is over, and its end. Raises ``StreamError``.

        That it is whole shows in its last event, or in why the model stopped, which is told after all content. A block may
        lack its end, but a call that may have been cut off is never made.
        """
        if not self.begun:
            raise StreamError("bad_stream")
        reason = self.last.stop_reason or (NO_REASON if self.complete and self.has_content else "")
        if not reason or not all(call.is_whole for call in self.calls.open.values()):
            raise StreamError("cut_off")
        if self.calls.any and reason in ("end_turn", NO_REASON):
            reason = "tool_use"
        blocks = sorted({*self.thoughts, *self.calls.open, *self.cited})
        rest = [heard for index in blocks for heard in self.end_block(index)]
        finished = replace(self.last, stop_reason=reason, usage=Usage(**self.usage), request_id=request_id)
        return [*rest, *self.end_text(), finished]


def reason_in(delta: Mapping[str, Any]) -> str:
    told = next((value for name in REASON_FIELDS if isinstance(value := delta.get(name), str) and value), "")
    return REASONS.get(told, told)


def said(text: str) -> list[Heard]:
    return [TextDelta(text=text)] if text else []


def thought(part: Mapping[str, Any]) -> list[Heard]:
    text = part.get("thinking")
    return [ThinkingDelta(text=text)] if isinstance(text, str) and text else []


def as_it_came(details: object) -> dict[str, Any] | None:
    """Shown to staff as the provider said it, so only what can be stored and is short enough to read."""
    if isinstance(details, dict) and details and len(json.dumps(details)) <= LONGEST_DETAILS:
        cleaned: dict[str, Any] = clean_deep(details)
        return cleaned
    return None
