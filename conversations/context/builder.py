"""What a model request is given: gather, window, fit, assemble. Reads, never writes (requirement C2)."""

import hashlib
import json
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from conversations.context.budget import Budget, shorten
from conversations.context.sources import read_history
from conversations.context.tokens import TURN_OVERHEAD, estimate_tokens, text_of, turn_tokens
from conversations.context.windowing import LAST_PAIR, Run, Turn, account, window
from conversations.models import Assistant, text_blocks
from conversations.providers.base import Payload, Provider
from conversations.sessions import Session

SMALLEST_SHARE = 32
"""Estimated tokens that even a shortened turn keeps."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the system text."""

    name: str
    text: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Context:
    """Everything that one model request is given, and the account of what it is not."""

    provider: str
    model: str
    max_tokens: int
    sections: Sequence[Section]
    history: Sequence[Turn]
    newest: Turn
    runs: Sequence[Run]
    turns_loaded: int
    budget: Budget
    payload: Payload
    timings_ms: dict[str, float]

    @property
    def history_tokens(self) -> int:
        return sum(turn.token_count for turn in self.history)

    @property
    def total_tokens(self) -> int:
        return sum(section.tokens for section in self.sections) + self.history_tokens + self.newest.token_count

    @property
    def left_out(self) -> dict[str, int]:
        """How many turns were left out, by reason."""
        counts: dict[str, int] = {}
        for run in self.runs:
            if not run.included:
                counts[run.reason.value] = counts.get(run.reason.value, 0) + run.count
        return counts


def build_context(
    *,
    assistant: Assistant,
    provider: Provider,
    user_id: int,
    thread_id: uuid.UUID | None,
    newest: Turn,
    session: Session,
    at: datetime,
) -> Context:
    """The context of the request that answers ``newest``, which may not be stored yet; ``None`` is a thread to come.

    ``at`` is the time of the request: the same rows at the same time give the same bytes.
    """
    started = time.perf_counter()
    budget = Budget.of(assistant)
    sections = [_section("base", assistant.system_prompt)]
    candidates = read_history(thread_id, before=newest.position, budget=budget) if thread_id else []
    history_ms = _milliseconds_since(started)
    kept, left_out = window(candidates, budget, begin_at=None)
    kept, newest = fit(sections, kept, newest, budget)
    model = assistant.model or provider.default_model()
    payload = provider.render(
        model=model,
        max_tokens=assistant.max_output_tokens,
        system=system_blocks(section.text for section in sections),
        messages=api_messages([*kept, newest]),
    )
    return Context(
        provider=provider.name,
        model=model,
        max_tokens=assistant.max_output_tokens,
        sections=sections,
        history=kept,
        newest=newest,
        runs=account(kept, newest, left_out, stand_ins(kept, newest)),
        turns_loaded=len(candidates),
        budget=budget,
        payload=payload,
        timings_ms={"history": history_ms, "total": _milliseconds_since(started)},
    )


def fit(sections: Sequence[Section], history: list[Turn], newest: Turn, budget: Budget) -> tuple[list[Turn], Turn]:
    """Bring the whole within its budget by dropping the oldest turns, and within the hard cap whatever it takes (W5, W6).

    Under the cap nothing is shortened. Above it the last pair and the newest message are, with a visible mark, and the
    message gets at least three quarters of the room.
    """
    fixed = sum(section.tokens for section in sections) + newest.token_count
    tokens = [turn.token_count for turn in history]
    while len(tokens) > LAST_PAIR and fixed + sum(tokens) > budget.total_tokens:
        tokens.pop(0)
    history = history[len(history) - len(tokens) :]
    if fixed + sum(tokens) <= budget.hard_cap:
        return history, newest
    room = max(budget.hard_cap - sum(section.tokens for section in sections), SMALLEST_SHARE * (len(history) + 1))
    newest = shortened(newest, room - min(sum(tokens), max(room // 4, SMALLEST_SHARE * len(history))))
    left = room - newest.token_count
    if sum(tokens) <= left:
        return history, newest
    return [shortened(turn, left // len(history)) for turn in history], newest


def shortened(turn: Turn, tokens: int) -> Turn:
    if turn.token_count <= tokens:
        return turn
    text = shorten(text_of(turn.content), tokens - TURN_OVERHEAD)
    content = text_blocks(text)
    count = turn_tokens(content)
    # The mark itself takes some tokens, more than the shortest turns have.
    return replace(turn, content=content, token_count=count, shortened=text) if count < turn.token_count else turn


def stand_ins(history: Sequence[Turn], newest: Turn) -> dict[int, str]:
    """Position to digest of the turns that are sent shortened."""
    return {turn.position: sha256(turn.shortened).hex() for turn in [*history, newest] if turn.shortened}


def system_blocks(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [block for text in texts for block in text_blocks(text)]


def api_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Turns as the API wants them: roles alternate and the first is the user's, so neighbours of one role are joined."""
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if not messages and turn.role == "assistant":
            messages.append({"role": "user", "content": text_blocks("[Earlier turns are left out.]")})
        if messages and messages[-1]["role"] == turn.role:
            messages[-1]["content"] = [*messages[-1]["content"], *turn.content]
        else:
            messages.append({"role": turn.role, "content": list(turn.content)})
    return messages


def canonical(payload: Payload) -> bytes:
    """The request as JSON with sorted keys, without spaces, in UTF-8: what the digest is taken of (S4)."""
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _section(name: str, text: str) -> Section:
    return Section(name=name, text=text, tokens=estimate_tokens(text))


def _milliseconds_since(start: float) -> float:
    return round((time.perf_counter() - start) * 1000, 3)
