"""A provider that says what the screenplay has for the assistant, and calls no model."""

import asyncio
import json
import math
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping
from itertools import takewhile
from typing import Any

from config.demo.clock import Clock
from config.demo.screenplay import Attempt, Exchange, SavedArtifact, Session
from conversations.context.tokens.estimate import estimate_tokens, text_of
from conversations.providers.anthropic import AnthropicProvider
from conversations.providers.base import (
    Finished,
    Payload,
    ProviderError,
    ProviderEvent,
    TextDelta,
    ToolCalled,
    ToolDelta,
    ToolStarted,
    Usage,
)
from conversations.providers.errors import provider_error

TOKENS_A_SECOND = 70
PIECE_CHARS = 400
CACHE_SECONDS = 300
SMALLEST_CACHED = 1_024
CALL_ID, SAVE = "toolu_demo", "save_artifact"


class ScriptedModel(AnthropicProvider):
    """Renders requests as Claude is sent them. ``factor``: its tokens for each estimated one, as the table of models has it."""

    def __init__(self) -> None:
        super().__init__()
        self.clock: Clock
        self.factor = 1.0
        self.attempts: deque[Attempt] = deque()
        self.month: Mapping[str, tuple[Session, Exchange]] = {}
        self._cached: list[str] = []
        self._cached_until = -math.inf

    def obstacle(self) -> ProviderError | None:
        return None

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        self.clock.waited = 0.0
        material = _material(payload)
        attempt = self.attempts.popleft() if material is None else Attempt(text=json.dumps(self._notes(material)))
        written = attempt.artifact.content if attempt.artifact else attempt.text
        usage = self._usage(payload, written)
        self.clock.wait(0.6 + usage.input_tokens / 4_000)
        for event in _content(attempt, len(payload["messages"])):
            yield event
        self.clock.wait(usage.output_tokens / TOKENS_A_SECOND)
        yield self._end(attempt, usage, payload["model"])

    def _end(self, attempt: Attempt, usage: Usage, model: str) -> Finished:
        match attempt.ends:
            case "fail":
                raise provider_error(attempt.detail)
            case "interrupt":
                raise asyncio.CancelledError  # as it is when the server is stopped
            case "refuse":
                details = {"type": "refusal", "category": attempt.detail}
                return Finished(stop_reason="refusal", usage=usage, model=model, stop_details=details)
            case _:
                reason = "tool_use" if attempt.artifact else "end_turn"
                return Finished(stop_reason=reason, usage=usage, model=model)

    def _usage(self, payload: Payload, written: str) -> Usage:
        """As if there were a prompt cache that keeps what it was last given for five minutes."""
        now, blocks = self.clock.now.timestamp(), _blocks(payload)
        sizes = [round((estimate_tokens(block) + 4) * self.factor) for block in blocks]
        same = 0
        if now < self._cached_until:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(blocks, self._cached, strict=False)))
        read = sum(sizes[:same]) if sum(sizes[:same]) >= SMALLEST_CACHED else 0
        create = sum(sizes[:-1]) - read if sum(sizes[:-1]) >= SMALLEST_CACHED else 0
        self._cached, self._cached_until = blocks, now + CACHE_SECONDS
        return Usage(
            input_tokens=sum(sizes) - read - create,
            cache_read_input_tokens=read,
            cache_creation_input_tokens=create,
            output_tokens=round(estimate_tokens(written) * self.factor) + 4 if written else 0,
        )

    def _notes(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """What a small model would note of a part of a conversation."""
        known = {each["text"]: each["number"] for each in material["known"]}
        open_topics = {each["title"]: each["number"] for each in material["open_topics"]}
        told = [(turn["number"], *self.month[turn["text"]]) for turn in material["turns"] if turn["text"] in self.month]
        return {
            "summary": " ".join(dict.fromkeys(session.summary for _, session, _ in told if session.summary)),
            "key_moments": [],
            "facts": [_fact(fact, number, known) for number, _, exchange in told for fact in exchange.facts],
            "topics_opened": [
                {"title": title, "turns": [number]} for number, _, exchange in told for title in exchange.opened
            ],
            "topics_resolved": [
                {"topic": open_topics[title], "turns": [number]}
                for number, _, exchange in told
                for title in exchange.resolved
                if title in open_topics
            ],
        }


def _fact(fact: str, number: int, known: Mapping[str, int]) -> dict[str, Any]:
    text, _, before = fact.partition(" <- ")
    return {"text": text, "turns": [number], "replaces": [known[before]] if before in known else []}


def _material(payload: Payload) -> Mapping[str, Any] | None:
    """What the request asks to take notes of; ``None`` where it asks for a reply."""
    text = _text(payload["messages"][-1])
    try:
        material = json.loads(text)
    except ValueError:
        return None
    return material if isinstance(material, dict) and "open_topics" in material else None


def _blocks(payload: Payload) -> list[str]:
    tools = [json.dumps(tool) for tool in payload.get("tools", ())]
    return [*tools, *(text_of([block]) for block in payload["system"]), *map(_text, payload["messages"])]


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else text_of(content) or json.dumps(content)


def _content(attempt: Attempt, number: int) -> Iterator[ProviderEvent]:
    if attempt.artifact:
        yield from _call(attempt.artifact, f"{CALL_ID}_{number}")
    for start in range(0, len(attempt.text), PIECE_CHARS):
        yield TextDelta(text=attempt.text[start : start + PIECE_CHARS])


def _call(artifact: SavedArtifact, call_id: str) -> Iterator[ProviderEvent]:
    values = {"title": artifact.title, "kind": artifact.kind, "content": artifact.content}
    yield ToolStarted(id=call_id, name=SAVE)
    yield ToolDelta(id=call_id, json=json.dumps(values))
    yield ToolCalled(id=call_id, name=SAVE, input=values)
