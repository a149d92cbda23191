"""What prompts cost with a provider that caches prefixes, by simulation: our window beside ones that slide. No network.

Prices are those of the Messages API, as multiples of an input token: with most models, what is read from the cache costs 0.1,
what is written to it for five minutes 1.25. A request is the system text, the history, the newest message and, after it, what
changes with each message; cache marks stand at the end of the system text and of the newest message's own text.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean

from conversations.context.windowing import Turn, window
from conversations.models import text_blocks
from conversations.providers import prices
from tests.conversations.context.turns import COMPANION

PRICE = prices.SHIPPED["anthropic", "claude-sonnet-4-6"][0]
READ, WRITE = float(PRICE.cache_read / PRICE.input), float(PRICE.cache_write / PRICE.input)
SMALLEST_PREFIX = 1_024
LIVES_SECONDS = 300.0

SYSTEM, VOLATILE = 1_200, 600
QUESTIONS = 200
CONVERSATIONS = 30
MEAN_TOKENS, SPREAD = 60, 0.9
PAUSES = 0.12

PACES = {"live": 0.0, "with pauses": PAUSES}
LIMITS = {"live": 0.30, "with pauses": 0.35}

Choose = Callable[[Sequence[Turn], int | None], list[Turn]]
"""The window over the history. The number is where the request before began, ``None`` when the cache is cold."""


@dataclass(frozen=True, kw_only=True)
class Request:
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
    used_at: float


def main() -> None:
    for pace, pauses in PACES.items():
        print(f"\n== prompt cost of {QUESTIONS} questions {pace}, mean of {CONVERSATIONS}: tokens paid for a request")
        base = 0.0
        for name, (choose, caches) in WINDOWS.items():
            talks = [simulate(choose, pauses=pauses, caches=caches, seed=seed) for seed in range(CONVERSATIONS)]
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


def simulate(choose: Choose, *, pauses: float, caches: bool, seed: int) -> list[Request]:
    """The requests of one conversation."""
    draw = random.Random(seed)
    history: list[Turn] = []
    requests: list[Request] = []
    cached: Cached | None = None
    now = 0.0
    for _ in range(QUESTIONS):
        now += seconds_between(draw, pauses)
        if cached and now - cached.used_at > LIVES_SECONDS:
            cached = None
        kept = choose(history, requests[-1].begins if cached else None)
        question = turn(len(history) + 1, "user", tokens(draw))
        sent = [*kept, question]
        requests.append(priced(sent, cached, caches=caches))
        if caches:
            cached = Cached(begins=sent[0].position, ends=question.position, used_at=now)
        history += [question, turn(len(history) + 2, "assistant", tokens(draw))]
    return requests


def priced(sent: Sequence[Turn], cached: Cached | None, *, caches: bool) -> Request:
    prefix = SYSTEM + sum(turn.token_count for turn in sent)
    read = 0
    if cached:
        same = sent[0].position == cached.begins
        known = SYSTEM + sum(turn.token_count for turn in sent if same and turn.position <= cached.ends)
        read = known if known >= SMALLEST_PREFIX else 0
    writes = caches and prefix >= SMALLEST_PREFIX
    return Request(
        begins=sent[0].position,
        kept=prefix - SYSTEM - sent[-1].token_count,
        total=prefix + VOLATILE,
        read=read,
        cost=READ * read + (WRITE if writes else 1) * (prefix - read) + VOLATILE,
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


OURS = "ours: drops to the low mark, or when cold"
WINDOWS: dict[str, tuple[Choose, bool]] = {
    "sliding, 3,000 tokens, no cache": (sliding, False),
    "sliding, 3,000 tokens, cached": (sliding, True),
    OURS: (ours, True),
}


def moves(requests: Sequence[Request]) -> int:
    return sum(one.begins != other.begins for one, other in pairwise(requests))


def turn(position: int, role: str, size: int) -> Turn:
    return Turn(position=position, depth=position, role=role, content=text_blocks("…"), token_count=size)


def tokens(draw: random.Random) -> int:
    drawn = draw.lognormvariate(math.log(MEAN_TOKENS) - SPREAD**2 / 2, SPREAD)
    return min(1_200, max(3, int(drawn)))


def seconds_between(draw: random.Random, pauses: float) -> float:
    return draw.uniform(360, 7_200) if draw.random() < pauses else draw.uniform(8, 120)
