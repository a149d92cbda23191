"""What prompts cost with a provider that caches prefixes, by simulation: our window beside ones that slide. No network.

Prices are those of the Messages API, as multiples of an input token: with most models, what is read from the cache costs 0.1,
what is written to it for five minutes 1.25, for an hour 2. A request is the system text, the history, the newest message and,
after it, what changes with each message; cache marks stand at the end of the system text and of the newest message's own text.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import mean

from conversations.context.rules.prompt_cache import FIVE_MINUTES, LIVES, CachePrices, Lifetime, lifetime_for
from conversations.context.rules.windowing import window
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks
from tests.conversations.context.turns import COMPANION

PRICES = CachePrices()
SMALLEST_PREFIX = 1_024
START = datetime(2026, 3, 1, tzinfo=UTC)

SYSTEM, VOLATILE = 1_200, 600
QUESTIONS = 200
CONVERSATIONS = 30
MEAN_TOKENS, SPREAD = 60, 0.9

PACES = {"live": (0.0, 0.0), "with pauses": (0.12, 7_200.0), "beside other work": (0.6, 2_700.0)}
"""How many pauses are longer than six minutes, and how long they are at most, in seconds."""
LIMITS = {"live": 0.30, "with pauses": 0.36, "beside other work": 0.36}

Choose = Callable[[Sequence[Turn], int | None], list[Turn]]
"""The window over the history. The number is where the request before began, ``None`` when the cache is cold."""
Lives = Callable[[Sequence[Turn], Sequence[datetime]], Lifetime]
"""How long entries live, by the history and the times of the person's messages."""


@dataclass(frozen=True, kw_only=True)
class RequestCost:
    """Tokens of one request, and what they cost. ``begins`` is the position of its oldest turn."""

    begins: int
    kept: int
    total: int
    read: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class Cached:
    """The longest prefix that the provider still knows: the system text and the turns from ``begins`` to ``ends``."""

    begins: int
    ends: int
    used_at: datetime
    lives: str


def main() -> None:
    for pace in PACES:
        print(f"\n== prompt cost of {QUESTIONS} questions {pace}, mean of {CONVERSATIONS}: tokens paid for a request")
        base = 0.0
        for name, (choose, lives) in WINDOWS.items():
            talks = [simulate(choose, pace=pace, lives=lives, seed=seed) for seed in range(CONVERSATIONS)]
            requests = [request for talk in talks for request in talk]
            cost = mean(request.cost for request in requests)
            base = base or cost
            kept = mean(request.kept for request in requests)
            share = sum(request.read for request in requests) / sum(request.total for request in requests)
            drops = mean(map(moves, talks))
            limit = f"  (at most {LIMITS[pace]:.2f}x)" if name == OURS else ""
            print(
                f"  {name:<40} {cost:7.0f}  {cost / base:6.3f}x  kept {kept:6.0f} tokens"
                f"  from cache {share:4.0%}  begin moved {drops:5.1f} times{limit}"
            )


def simulate(choose: Choose, *, pace: str, lives: Lives | None, seed: int) -> list[RequestCost]:
    """The requests of one conversation."""
    draw = random.Random(seed)
    history: list[Turn] = []
    requests: list[RequestCost] = []
    cached: Cached | None = None
    times = [START]
    for _ in range(QUESTIONS):
        now = times[-1] + timedelta(seconds=seconds_between(draw, *PACES[pace]))
        times.append(now)
        if cached and now - cached.used_at > LIVES[cached.lives]:
            cached = None
        kept = choose(history, requests[-1].begins if cached else None)
        question = turn(len(history) + 1, "user", tokens(draw))
        sent = [*kept, question]
        lifetime = lives(kept, times[-len(kept) // 2 - 1 :]) if lives else None
        requests.append(priced(sent, cached, lifetime))
        if lifetime:
            cached = Cached(begins=sent[0].position, ends=question.position, used_at=now, lives=lifetime.name)
        history += [question, turn(len(history) + 2, "assistant", tokens(draw))]
    return requests


def priced(sent: Sequence[Turn], cached: Cached | None, lifetime: Lifetime | None) -> RequestCost:
    prefix = SYSTEM + sum(turn.token_count for turn in sent)
    read = 0
    if cached:
        same = sent[0].position == cached.begins
        known = SYSTEM + sum(turn.token_count for turn in sent if same and turn.position <= cached.ends)
        read = known if known >= SMALLEST_PREFIX else 0
    write = 1.0
    if lifetime and prefix >= SMALLEST_PREFIX:
        write = PRICES.write if lifetime.name == FIVE_MINUTES else PRICES.write_hour
    return RequestCost(
        begins=sent[0].position,
        kept=prefix - SYSTEM - sent[-1].token_count,
        total=prefix + VOLATILE,
        read=read,
        cost=PRICES.read * read + write * (prefix - read) + VOLATILE,
    )


def sliding(history: Sequence[Turn], begin_at: int | None) -> list[Turn]:
    """As many of the newest pairs as fit, each time."""
    return list(_sliding(history))[::-1]


def _sliding(history: Sequence[Turn]) -> Iterator[Turn]:
    taken = 0
    for answer, question in zip(history[::-2], history[-2::-2], strict=True):
        taken += question.token_count + answer.token_count
        if taken > COMPANION.history_tokens:
            return
        yield answer
        yield question


def ours(history: Sequence[Turn], begin_at: int | None) -> list[Turn]:
    # No more than the builder reads: what is certainly too old costs time here, and nothing else.
    return window(history[-COMPANION.history_turns - 1 :], COMPANION, begin_at=begin_at)[0]


def five_minutes(history: Sequence[Turn], times: Sequence[datetime]) -> Lifetime:
    return Lifetime()


def chosen(history: Sequence[Turn], times: Sequence[datetime]) -> Lifetime:
    """As the builder does."""
    size = sum(turn.token_count for turn in history)
    growth = size // max(len(history) // 2, 1)
    return lifetime_for(times, prefix_tokens=SYSTEM + size, growth_tokens=growth, prices=PRICES)


OURS = "ours: drops to the low mark, or when cold"
WINDOWS: dict[str, tuple[Choose, Lives | None]] = {
    "sliding, 3,000 tokens, no cache": (sliding, None),
    "sliding, 3,000 tokens, cached": (sliding, five_minutes),
    "as ours, entries of five minutes": (ours, five_minutes),
    OURS: (ours, chosen),
}


def moves(requests: Sequence[RequestCost]) -> int:
    return sum(one.begins != other.begins for one, other in pairwise(requests))


def turn(position: int, role: str, size: int) -> Turn:
    return Turn(position=position, depth=position, role=role, content=text_blocks("…"), token_count=size)


def tokens(draw: random.Random) -> int:
    drawn = draw.lognormvariate(math.log(MEAN_TOKENS) - SPREAD**2 / 2, SPREAD)
    return min(1_200, max(3, int(drawn)))


def seconds_between(draw: random.Random, pauses: float, longest: float) -> float:
    return draw.uniform(360, longest) if draw.random() < pauses else draw.uniform(8, 120)
