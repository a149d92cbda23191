"""From a script to the stream that the model would send: it thinks first, counts, and stops where it may say no more.

A script says what is told; this adds what the real model adds without being asked. Figures, ids and thinking that a script
names itself are kept.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from conversations.context.tokens.estimate import estimate_tokens
from tests.model_scripts import (
    CITED,
    END_USAGE,
    MESSAGE_ID,
    MODEL,
    USAGE,
    Event,
    ScriptedStream,
    Step,
    block_delta,
    block_start,
    block_stop,
    message_delta,
    message_stop,
    ping,
)
from tests.model_server.caching import Figures
from tests.model_server.families import effort_of, family_of, shows_notes, shows_thinking, thinks
from tests.model_server.prompts import TOKENS_PER_ESTIMATED
from tests.model_server.rules import blocks, documents

SHARES = {"low": 0.2, "medium": 0.6, "high": 1.0, "xhigh": 2.5, "max": 5.0}
SENTENCE_ENDS = re.compile(r"[.!?…:](?:\s|$)")
SHORT_NOTE_SENTENCES = 2

Sign = Callable[..., str]
"""The signature for a thinking block of this text and as many tokens; one that a script gave it is kept."""


@dataclass(frozen=True, kw_only=True)
class Thinking:
    """What a model does before it answers. ``tokens`` at high effort; ``steps`` come meanwhile."""

    tokens: int = 600
    summary: str = "The question is plain, so I answer it in few words."
    steps: tuple[Step, ...] = (ping(),)

    def tokens_for(self, body: Mapping[str, Any]) -> int:
        tokens = round(self.tokens * SHARES[effort_of(body)])
        budget: int = (body.get("thinking") or {}).get("budget_tokens", tokens)
        return min(tokens, budget)


@dataclass(frozen=True, kw_only=True)
class TokenRoom:
    """Tokens that an answer may take, and what is said when they are used up."""

    tokens: float
    stop_reason: str = "max_tokens"


@dataclass(kw_only=True)
class ServedAnswer:
    body: Mapping[str, Any]
    message_id: str
    figures: Figures
    thinking: Thinking
    sign: Sign
    room: TokenRoom
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the message, such as its diagnostics."""

    def of(self, script: ScriptedStream) -> ScriptedStream:
        steps = list(script.steps)
        start = next((i for i, step in enumerate(steps) if is_event(step, "message_start")), len(steps))
        if start == len(steps):
            return script
        begins: Any = steps[start]
        counted = begins["message"]["usage"] is USAGE
        thinks_first = script.thinks and thinks(self.body) and not any(map(starts_thinking, steps))
        thought = self._thought() if thinks_first and self.room.tokens > 0 else []
        thinking_tokens = self.thinking.tokens_for(self.body) if thought else 0
        self._sign_own(steps)
        said = [self._with_cited(shifted(step, by=1 if thought else 0)) for step in steps[start + 1 :]]
        told, text_tokens = fit_into(said, replace(self.room, tokens=self.room.tokens - thinking_tokens))
        if counted:
            told = [self._with_usage(step, thinking_tokens, text_tokens) for step in told]
        return replace(script, steps=(*steps[:start], self._message_start(begins), *thought, *self._with_notes(told)))

    def _with_cited(self, step: Step) -> Step:
        """With the title and the words that a citation leaves to the server."""
        match step:
            case {"delta": {"type": "citations_delta", "citation": {"cited_text": str(text)} as citation}} if (
                text == CITED
            ):
                document = documents(self.body)[citation["document_index"]]
                assert (document.get("citations") or {}).get("enabled"), "nobody asked for citations"
                content = document["source"]["content"]
                cited = content[citation["start_block_index"] : citation["end_block_index"]]
                told = {
                    "cited_text": "".join(part.get("text", "") for part in cited),
                    "document_title": document["title"],
                }
                delta = {"type": "citations_delta", "citation": citation | told}
                return block_delta(index_of(step), delta)
        return step

    def _message_start(self, event: Any) -> Event:
        message = {**self.extras, **event["message"]}
        defaults = {"id": (MESSAGE_ID, self.message_id), "model": (MODEL, self.body["model"])}
        message |= {key: own for key, (default, own) in defaults.items() if message[key] == default}
        if message["usage"] is USAGE:
            message["usage"] = self.figures.usage() | {"output_tokens": 1}
        return {**event, "message": message}

    def _thought(self) -> list[Step]:
        shown = self.thinking.summary if shows_thinking(self.body) else ""
        return self._thinking_block(0, shown, self.thinking.tokens_for(self.body), self.thinking.steps)

    def _thinking_block(self, index: int, shown: str, tokens: int, meanwhile: Iterable[Step] = ()) -> list[Step]:
        pieces = re.findall(r"\S+\s*", shown) or [""]  # the documentation shows one empty piece where nothing is shown
        return [
            block_start(index, {"type": "thinking", "thinking": "", "signature": ""}),
            *meanwhile,
            *(block_delta(index, {"type": "thinking_delta", "thinking": piece}) for piece in pieces),
            block_delta(index, {"type": "signature_delta", "signature": self.sign(shown, tokens)}),
            block_stop(index),
        ]

    def _sign_own(self, steps: Sequence[Step]) -> None:
        """Thinking of the script's own comes back, too."""
        for part in segments(steps):
            deltas = [step["delta"] for step in part if isinstance(step, dict) and "delta" in step]
            signature = next((delta["signature"] for delta in deltas if "signature" in delta), "")
            if starts_thinking(part[0]) and signature:
                text = "".join(delta.get("thinking", "") for delta in deltas)
                self.sign(text, estimate_tokens(text), signature)

    def _with_usage(self, step: Step, thinking_tokens: int, text_tokens: float) -> Step:
        if not is_event(step, "message_delta") or step["usage"] is not END_USAGE:
            return step
        thinking_tokens = round(min(thinking_tokens, self.room.tokens))
        said = {"output_tokens": thinking_tokens + round(text_tokens)}
        usage = self.figures.cumulative() | said | {"output_tokens_details": {"thinking_tokens": thinking_tokens}}
        return {**step, "usage": usage}

    def _with_notes(self, steps: Sequence[Step]) -> Iterator[Step]:
        """Where the model does so, a text before a further call of a tool comes as thinking."""
        parts = list(segments(steps))
        called = blocks(self.body["messages"][-1])[0]["type"] == "tool_result"
        for part, following in zip(parts, [*parts[1:], []], strict=True):
            if called and block_type(part) == "text" and block_type(following) == "tool_use" and self._is_note(part):
                yield from self._note(part)
            else:
                yield from part
            called = called or block_type(part) == "tool_use"

    def _is_note(self, part: Sequence[Step]) -> bool:
        notes = family_of(self.body["model"]).notes
        return notes == "all" or (notes == "long" and len(SENTENCE_ENDS.findall(text_in(part))) > SHORT_NOTE_SENTENCES)

    def _note(self, part: Sequence[Step]) -> list[Step]:
        text, index = text_in(part), index_of(part[0])
        others = [step for step in part if not isinstance(step, dict)]
        return self._thinking_block(index, text if shows_notes(self.body) else "", round(written_tokens(part)), others)


def fit_into(steps: Sequence[Step], room: TokenRoom) -> tuple[list[Step], float]:
    """The steps as far as there is room for what they write, and the tokens of that."""
    whole = written_tokens(steps)
    if whole <= room.tokens:
        return list(steps), whole
    pieces = [i for i, step in enumerate(steps) if piece_of(step)]
    if room.tokens <= 0 or not pieces:
        return [message_delta(room.stop_reason), message_stop()], 0
    fitting = bisect_right(pieces, room.tokens, key=lambda i: written_tokens(steps[: i + 1]))
    before = list(steps[: pieces[fitting]])
    rest = cut_piece(before, steps[pieces[fitting]], room)
    kept = [*before, rest] if rest else list(steps[: pieces[fitting - 1] + 1]) if fitting else []
    begun = [index_of(step) for step in kept if is_event(step, "content_block_start")]
    ended = [index_of(step) for step in kept if is_event(step, "content_block_stop")]
    closing = [block_stop(index) for index in begun if index not in ended]
    return [*kept, *closing, message_delta(room.stop_reason), message_stop()], room.tokens


def cut_piece(before: Sequence[Step], step: Any, room: TokenRoom) -> Step | None:
    """As much of the piece as there is room for, if any."""
    key = next(key for key in PIECES if key in step["delta"])
    text = step["delta"][key]
    cuts = [step | {"delta": step["delta"] | {key: text[:length]}} for length in range(1, len(text))]
    fitting = bisect_right(cuts, room.tokens, key=lambda cut: written_tokens([*before, cut]))
    return cuts[fitting - 1] if fitting else None


PIECES = ("text", "partial_json")


def piece_of(step: Step) -> str:
    """What this step writes of an answer."""
    delta = step.get("delta", {}) if isinstance(step, dict) else {}
    return str(next((delta[key] for key in PIECES if key in delta), ""))


def written_tokens(steps: Iterable[Step]) -> float:
    texts: dict[int, list[str]] = {}
    for step in steps:
        if piece := piece_of(step):
            texts.setdefault(index_of(step), []).append(piece)
    return sum(estimate_tokens("".join(pieces)) for pieces in texts.values()) * TOKENS_PER_ESTIMATED


def is_event(step: Step, kind: str) -> TypeGuard[Event]:
    return isinstance(step, dict) and step.get("type") == kind


def index_of(step: Step) -> int:
    return int(step["index"]) if isinstance(step, dict) and "index" in step else -1


def shifted(step: Step, *, by: int) -> Step:
    return step | {"index": step["index"] + by} if isinstance(step, dict) and "index" in step else step


def starts_thinking(step: Step) -> bool:
    return block_type([step]) in ("thinking", "redacted_thinking")


def block_type(part: Sequence[Step]) -> str:
    """The type of the block that begins with the first of these steps, if one does."""
    first = part[0] if part else None
    return str(first["content_block"]["type"]) if isinstance(first, dict) and "content_block" in first else ""


def segments(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Each block with all that comes until it ends, and single steps between blocks."""
    part: list[Step] = []
    for step in steps:
        part.append(step)
        if not is_event(part[0], "content_block_start") or is_event(step, "content_block_stop"):
            yield part
            part = []
    if part:
        yield part


def text_in(part: Sequence[Step]) -> str:
    return "".join(piece_of(step) for step in part)
