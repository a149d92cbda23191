"""The provider's prompt cache: whether it is warm, where marks pay, and what should come from it. Pure.

The cache holds a prefix for five minutes after its last use, or for an hour where it was written at a higher price. It is read
up to the last mark whose prefix is the same to the byte, so the order of a request is from what changes least to what changes
most.
"""

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db import models

from conversations.models import Model
from conversations.runtime.values import dataclass

FIVE_MINUTES, HOUR = "5m", "1h"
"""How long entries live, in the API's own words."""
LIVES = {FIVE_MINUTES: timedelta(minutes=5), HOUR: timedelta(hours=1)}
SYSTEM, MESSAGE = "system", "message"
MOST_PAUSES = 20
FEWEST_PAUSES = 4
"""Below so many, a person's pauses tell nothing, and entries live five minutes."""
CLEARLY_LESS = 0.75
"""The share of the cost for five minutes below which an hour is chosen. Not 1: whose entries have expired begins again with a
shorter window, which the costs don't tell, and pauses to come are not those of before."""


class CacheState(models.TextChoices):
    """What to expect of the prompt cache for a request. The admin, the API and the snapshots share these codes."""

    NONE = "none", "The provider has no prompt cache to be told about"
    FIRST = "first", "The first request of the thread"
    COLD = "cold", "The entries of the request before have expired"
    OTHER_MODEL = "other_model", "The request before went to another model"
    OTHER_SYSTEM = "other_system", "The system text has changed since the request before"
    MOVED = "moved", "The window has dropped its oldest turns since the request before"
    CHANGED = "changed", "A turn that was sent before is left out or shortened now"
    TOO_SMALL = "too_small", "The prefix is smaller than what the model caches"
    WARM = "warm", "Everything that was sent before comes first again"

    def without_system(self) -> "CacheState":
        """The state once the system text had to be cut for this message."""
        return CacheState.OTHER_SYSTEM if self is CacheState.WARM else self


@dataclass(frozen=True, kw_only=True, slots=True)
class CachePrices:
    """What a token of the prompt cost that is read from the cache or written to it, beside one that is neither."""

    read: float = 0.1
    write: float = 1.25
    write_hour: float = 2.0

    @classmethod
    def of(cls, model: Model) -> "CachePrices":
        """By the newest prices of the model; where it has none, by those that most models have."""
        known = [price for price in model.prices.all() if not price.above and price.input] if model.pk else []
        if not known:
            return cls()
        price = known[-1]  # they are ordered by their days
        read, write, write_hour = price.cache_read, price.cache_write, price.cache_write_hour
        return cls(
            read=float(read / price.input),
            write=float(write / price.input),
            write_hour=float(write_hour / price.input),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifetime:
    """How long entries live, and why: what the prompts after the person's last pauses would have cost with entries of five
    minutes and of an hour, each beside no cache at all. 0 where there are too few pauses to tell."""

    name: str = FIVE_MINUTES
    cost_five_minutes: float = 0.0
    cost_hour: float = 0.0


def lifetime_for(times: Sequence[datetime], *, prefix_tokens: int, growth_tokens: int, prices: CachePrices) -> Lifetime:
    """An hour where it costs clearly less for somebody who pauses so. ``times`` are those of the person's messages, in order;
    ``growth_tokens`` is what the prefix grows by from one to the next."""
    pauses = [after - before for before, after in pairwise(times)][-MOST_PAUSES:]
    if len(pauses) < FEWEST_PAUSES or not prefix_tokens:
        return Lifetime()

    def cost(lives: timedelta, write: float) -> float:
        read = prices.read * prefix_tokens + write * growth_tokens
        written = write * (prefix_tokens + growth_tokens)
        taken = sum(read if pause <= lives else written for pause in pauses)
        return round(taken / (len(pauses) * (prefix_tokens + growth_tokens)), 3)

    five_minutes = cost(LIVES[FIVE_MINUTES], prices.write)
    hour = cost(LIVES[HOUR], prices.write_hour)
    name = HOUR if hour < five_minutes * CLEARLY_LESS else FIVE_MINUTES
    return Lifetime(name=name, cost_five_minutes=five_minutes, cost_hour=hour)


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
    lifetime: str = FIVE_MINUTES
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
    lifetime: Lifetime = field(default_factory=Lifetime)
    previous_message_id: str = ""

    def mark_at(self, place: str) -> str:
        """How long the entry lives that is marked there; empty where no mark stands."""
        return self.lifetime.name if place in self.marks else ""

    def as_dict(self) -> dict[str, Any] | None:
        """For people; ``None`` where there is nothing to tell."""
        if self == CachePlan():
            return None
        return {
            "state": self.state.value,
            "marks": list(self.marks),
            "expected": self.expected,
            "lifetime": self.lifetime.name,
            "cost_five_minutes": self.lifetime.cost_five_minutes or None,
            "cost_hour": self.lifetime.cost_hour or None,
        }


def state_before(
    previous: Previous | None,
    *,
    at: datetime,
    provider: str,
    model: str,
    sections: Sequence[str],
    expires: bool = True,
) -> CacheState:
    """Whether the cache can still hold the request before, or why not. ``sections`` are digests of the system text. One that
    doesn't expire keeps what it has until others need the room."""
    if previous is None:
        return CacheState.FIRST
    if expires and at - previous.at > LIVES[previous.lifetime]:
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
    lifetime: Lifetime,
) -> CachePlan:
    """The plan of a request with these turns – position and tokens, oldest first, the newest message last.

    The provider is asked why its cache missed since the answer before, whatever is expected, so that its diagnosis can be
    held against the expectation."""
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
        lifetime=lifetime,
        previous_message_id=previous.provider_message_id if previous else "",
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


def marked(blocks: list[dict[str, Any]], lifetime: str) -> list[dict[str, Any]]:
    """The same blocks with a mark at the last one. Entries of five minutes are the API's default."""
    mark = {"type": "ephemeral"} | ({"ttl": lifetime} if lifetime != FIVE_MINUTES else {})
    return [*blocks[:-1], blocks[-1] | {"cache_control": mark}] if blocks else blocks
