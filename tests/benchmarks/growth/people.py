"""A year of people, made by a seeded program. All figures in capitals are assumptions. Pure."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

DAYS = 365
HABITS = ((0.2, 5.0), (0.5, 1.5), (0.3, 0.5))
"""Shares of people, and on how many days of a week they write."""
WEEKDAYS = (1.15, 1.2, 1.2, 1.15, 1.1, 0.6, 0.6)
"""How much likelier each day of the week is than a mean one, from Monday on."""
THREADS_MORE = 0.8
"""Threads of an active day beyond the first, in the mean (Poisson)."""
MESSAGES = 6
"""Messages of a thread on a day, in the mean (geometric)."""
FILES = 0.03
"""Messages that bring a file."""
PAGES = (1.8, 0.9)
"""Of a file: mean and deviation of the logarithm; 9 pages in the mean."""
BUSIEST_HOUR = 0.11
"""Of a day's messages."""
BURST = 3.0
"""The busiest seconds, by the mean of the busiest hour."""
QUESTION_WORDS, ANSWER_WORDS = (3.0, 0.9), (5.0, 0.8)
"""Lengths: mean and deviation of the logarithm; 30 and 204 words in the mean."""


@dataclass(frozen=True, kw_only=True)
class Year:
    """What people did on each of its days."""

    people: int
    messages: Sequence[int]
    threads: Sequence[int]
    pages: Sequence[int]

    @property
    def peak(self) -> float:
        """Messages a second in the busiest seconds of the busiest day."""
        return max(self.messages) * BUSIEST_HOUR / 3_600 * BURST


def year(people: int, seed: int = 19) -> Year:
    draw = random.Random(seed)
    messages, threads, pages = [0] * DAYS, [0] * DAYS, [0] * DAYS
    shares, weeks = zip(*HABITS, strict=True)
    for a_week in draw.choices(weeks, shares, k=people):
        chances = [min(1.0, a_week / 7 * factor) for factor in WEEKDAYS]
        for day in range(DAYS):
            if draw.random() < chances[day % 7]:
                begun = 1 + poisson(draw, THREADS_MORE)
                said = sum(geometric(draw, MESSAGES) for _ in range(begun))
                threads[day] += begun
                messages[day] += said
                for _ in range(binomial(draw, said, FILES)):
                    pages[day] += max(1, round(draw.lognormvariate(*PAGES)))
    return Year(people=people, messages=messages, threads=threads, pages=pages)


def words(draw: random.Random, of: tuple[float, float]) -> int:
    return min(2_000, max(1, round(draw.lognormvariate(*of))))


def poisson(draw: random.Random, mean: float) -> int:
    count, product, limit = 0, draw.random(), math.exp(-mean)
    while product > limit:
        count, product = count + 1, product * draw.random()
    return count


def geometric(draw: random.Random, mean: float) -> int:
    """From 1 on."""
    return 1 + int(math.log(1 - draw.random()) / math.log(1 - 1 / mean))


def binomial(draw: random.Random, of: int, chance: float) -> int:
    return sum(draw.random() < chance for _ in range(of))
