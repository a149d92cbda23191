"""The provider's prompt cache: whether it is warm, where marks pay, and what should come from it. Pure.

The cache holds a prefix for five minutes after its last use. It is read up to the last mark whose prefix is the same to the
byte, so the order of a request is from what changes least to what changes most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models

TTL = timedelta(minutes=5)
SYSTEM, MESSAGE = "system", "message"
MARK = {"cache_control": {"type": "ephemeral"}}


class CacheState(models.TextChoices):
    """What to expect of the prompt cache for a request. The admin, the API and the snapshots share these codes."""

    NONE = "none", "The provider has no prompt cache to be told about"
    FIRST = "first", "The first request of the thread"
    COLD = "cold", "The request before was more than five minutes ago"
    OTHER_MODEL = "other_model", "The request before went to another model"
    OTHER_SYSTEM = "other_system", "The system text has changed since the request before"
    MOVED = "moved", "The window has dropped its oldest turns since the request before"
    CHANGED = "changed", "A turn that was sent before is left out or shortened now"
    TOO_SMALL = "too_small", "The prefix is smaller than what the model caches"
    WARM = "warm", "Everything that was sent before comes first again"

    def without_system(self) -> "CacheState":
        """The state once the system text had to be cut for this message."""
        return CacheState.OTHER_SYSTEM if self is CacheState.WARM else self


@dataclass(frozen=True, kw_only=True)
class Previous:
    """The model request before, in the same thread. ``positions`` are the turns that it was given, oldest first, negative
    where one was shortened."""

    at: datetime
    provider: str
    model: str
    sections: tuple[str, ...]
    positions: tuple[int, ...]
    marks: tuple[str, ...] = ()
    provider_message_id: str = ""

    @property
    def began_at(self) -> int:
        return abs(self.positions[0])


@dataclass(frozen=True, kw_only=True)
class CachePlan:
    """Where marks stand, and how many estimated tokens should be read from the cache, with the reason."""

    state: CacheState = CacheState.NONE
    marks: tuple[str, ...] = ()
    expected: int = 0
    previous_message_id: str = ""

    def told(self) -> dict[str, Any] | None:
        """For people; ``None`` where there is nothing to tell."""
        if self == CachePlan():
            return None
        return {"state": self.state.value, "marks": list(self.marks), "expected": self.expected}


def state_before(
    previous: Previous | None, *, at: datetime, provider: str, model: str, sections: Sequence[str]
) -> CacheState:
    """Whether the cache can still hold the request before, or why not. ``sections`` are digests of the system text."""
    if previous is None:
        return CacheState.FIRST
    if at - previous.at > TTL:
        return CacheState.COLD
    if (previous.provider, previous.model) != (provider, model):
        return CacheState.OTHER_MODEL
    return CacheState.WARM if previous.sections == tuple(sections) else CacheState.OTHER_SYSTEM


def plan(
    before: CacheState,
    previous: Previous | None,
    *,
    cacheable_from: int | None,
    system_tokens: int,
    turns: Sequence[tuple[int, int]],
) -> CachePlan:
    """The plan of a request with these turns – position and tokens, oldest first, the newest message last."""
    if cacheable_from is None:
        return CachePlan()
    total = system_tokens + sum(tokens for _, tokens in turns)
    sizes = {SYSTEM: system_tokens, MESSAGE: total}
    marks = tuple(name for name, tokens in sizes.items() if tokens >= cacheable_from)
    state, expected = _expected(before, previous, system_tokens, turns)
    if state not in (CacheState.FIRST, CacheState.COLD) and not marks:
        state, expected = CacheState.TOO_SMALL, 0
    return CachePlan(
        state=state,
        marks=marks,
        expected=expected,
        previous_message_id=previous.provider_message_id if previous and before is CacheState.WARM else "",
    )


def _expected(
    before: CacheState, previous: Previous | None, system_tokens: int, turns: Sequence[tuple[int, int]]
) -> tuple[CacheState, int]:
    if previous is None or before is not CacheState.WARM:
        return before, 0
    system = system_tokens if SYSTEM in previous.marks else 0
    positions = [position for position, _ in turns]
    if tuple(positions[: len(previous.positions)]) != previous.positions:
        moved = not positions or positions[0] != previous.began_at
        return (CacheState.MOVED if moved else CacheState.CHANGED), system
    if MESSAGE not in previous.marks:
        return (CacheState.WARM, system) if system else (CacheState.TOO_SMALL, 0)
    sent_before = sum(tokens for _, tokens in turns[: len(previous.positions)])
    return CacheState.WARM, system_tokens + sent_before


def marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same blocks with a mark at the last one."""
    return [*blocks[:-1], blocks[-1] | MARK] if blocks else blocks
