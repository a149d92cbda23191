"""The parts of a context brought within the budget and the hard cap. Pure: the same parts give the same context (W5, W6)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from conversations.context.budget import Budget, shorten
from conversations.context.tiers import Tier, cut
from conversations.context.tokens import TURN_OVERHEAD, estimate_tokens, text_of, turn_tokens
from conversations.context.windowing import Turn, least_kept, whole
from conversations.models import text_blocks

SMALLEST_SHARE = 32
"""Estimated tokens that even a shortened turn keeps."""

MESSAGE_ROOM = 300
"""Kept free for the newest message and what stands beside it, so that a message of usual length moves nothing else."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A text that Openbook puts into the request, by its name in the snapshot."""

    name: str
    text: str
    tokens: int

    @classmethod
    @lru_cache(maxsize=256)  # the same texts come again with every request
    def of(cls, name: str, text: str) -> "Section":
        return cls(name=name, text=text, tokens=estimate_tokens(text))


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a request is made of, in the order in which it is sent."""

    base: Section
    tiers: Sequence[Tier] = ()
    history: Sequence[Turn] = ()
    newest: Turn
    additions: Sequence[Section] = ()

    @property
    def system(self) -> list[Section]:
        """The parts of the system text, in order (C1)."""
        sent = (tier for tier in self.tiers if tier.text)
        return [self.base, *(Section(name=tier.name, text=tier.text, tokens=tier.tokens) for tier in sent)]

    @property
    def turns(self) -> list[Turn]:
        return [*self.history, self.newest]

    @property
    def standing_tokens(self) -> int:
        return self.base.tokens + sum(tier.tokens for tier in self.tiers)

    @property
    def message_tokens(self) -> int:
        return self.newest.token_count + sum(addition.tokens for addition in self.additions)

    @property
    def history_tokens(self) -> int:
        return sum(turn.token_count for turn in self.history)

    @property
    def total_tokens(self) -> int:
        return self.standing_tokens + self.history_tokens + self.message_tokens


def standing_room(base: Section, budget: Budget) -> int:
    """What the tiers may take together: they are the same all session long, so they leave room for a history that grows."""
    growing = (budget.history_tokens - budget.history_tokens_low) // 3
    return max(0, budget.total_tokens - base.tokens - budget.history_tokens_low - growing - MESSAGE_ROOM)


def memory_room(base: Section, budget: Budget) -> int:
    """What the memory may take, which nothing else cuts: beside it the cap leaves room for a message of usual length."""
    return max(0, budget.hard_cap - base.tokens - MESSAGE_ROOM)


def history_room(standing_tokens: int, budget: Budget) -> Budget:
    """The budget with the high mark that is left beside what stands before the history."""
    room = max(budget.total_tokens - standing_tokens - MESSAGE_ROOM, 0)
    high = min(budget.history_tokens, room)
    return replace(budget, history_tokens=high, history_tokens_low=min(budget.history_tokens_low, high))


def fit(parts: Parts, budget: Budget) -> Parts:
    """Within the budget by cutting the tiers, then dropping the oldest turns; within the hard cap whatever it takes (W5, W6).

    Under the cap no turn is shortened. Above it the last pair loses its tool calls, and it and the newest message are
    shortened, with a visible mark; the message gets at least three quarters of the room.
    """
    over = parts.total_tokens - budget.total_tokens
    if over > 0:
        cuttable = sum(tier.tokens for tier in parts.tiers)
        parts = replace(parts, tiers=cut(parts.tiers, max(0, cuttable - over)))
    parts = replace(parts, history=_newest_that_fit(parts, budget))
    if parts.total_tokens > budget.hard_cap:
        parts = _shortened_to(replace(parts, additions=()), budget.hard_cap)
    return parts


def _newest_that_fit(parts: Parts, budget: Budget) -> Sequence[Turn]:
    """The history without its oldest turns, as many as it takes; the last pair stays, and tool calls stay whole."""
    history = list(parts.history)
    least = least_kept(history, budget)
    tokens = parts.total_tokens
    while len(history) > least and tokens > budget.total_tokens:
        tokens -= history.pop(0).token_count
    return whole(history)[0] if len(history) < len(parts.history) else parts.history


def _shortened_to(parts: Parts, cap: int) -> Parts:
    room = max(cap - parts.standing_tokens, SMALLEST_SHARE)
    spoken = _spoken(parts.history)
    history = spoken[max(0, len(spoken) + 1 - room // SMALLEST_SHARE) :]
    parts = replace(parts, history=history)
    if parts.newest.token_count + parts.history_tokens <= room:
        return parts
    newest = shortened(parts.newest, room - min(parts.history_tokens, max(room // 4, SMALLEST_SHARE * len(history))))
    left = room - newest.token_count
    if parts.history_tokens > left:
        history = [shortened(turn, left // len(history)) for turn in history]
    return replace(parts, history=history, newest=newest)


def _spoken(turns: Sequence[Turn]) -> list[Turn]:
    """What can be shortened: the texts. Tool calls go whole, and so with their results."""
    texts = [(turn, text_of(turn.content)) for turn in turns]
    return [shortened(turn, turn_tokens(text_blocks(text))) for turn, text in texts if text]


def shortened(turn: Turn, tokens: int) -> Turn:
    """The turn as text with a mark in the middle, in about so many tokens; unchanged where it is no longer than that."""
    if turn.token_count <= tokens:
        return turn
    text = shorten(text_of(turn.content), tokens - TURN_OVERHEAD)
    content = text_blocks(text)
    count = turn_tokens(content)
    # The mark itself takes some tokens, more than the shortest turns have.
    return replace(turn, content=content, token_count=count, shortened=text) if count < turn.token_count else turn
