"""Real tokens of a context against its budget: counted by tokenizers that are not the estimate, before and after the factor of
a model is learnt from what it reported. No network, no database.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean

from conversations.context.rules.windowing import window
from conversations.context.tokens.budget import Budget
from conversations.context.tokens.calibration import FEWEST, Sample, learnt
from conversations.context.tokens.estimate import TURN_OVERHEAD, text_of, turn_tokens
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks
from tests.conversations.context.corpus import corpus
from tests.conversations.context.tokenizers import O200K, REFERENCES
from tests.conversations.context.turns import COMPANION

HELD_OUT = 1
CONVERSATIONS = 40
TURNS = 120
NEWER = 1.3
"""Tokens of Claude 4.7 and later for each of the tokenizer of 2023, as documented. No tokenizer of theirs is published."""

TALKS = {
    "English": ("English chat", "English prose"),
    "English with code and JSON": ("English chat", "code", "JSON, minified"),
    "Russian": ("Russian",),
    "Chinese": ("Chinese",),
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Real tokens of contexts as parts of their budget."""

    mean: float
    most: float
    over: float

    def __str__(self) -> str:
        return f"{self.mean:5.2f} {self.most:5.2f} {self.over:4.0%}"


def main() -> None:
    print(f"\n== real tokens of a history of {COMPANION.history_tokens:,}: mean, most, how many are over")
    print(f"  {'':<28}{'':<16}{'plain estimate':>20}{'factor':>9}{'learnt factor':>20}")
    for talk, kinds in TALKS.items():
        for name, count in tokenizers().items():
            factor = learnt_from(kinds, count)
            plain, fitted = measured(kinds, count, PLAIN), measured(kinds, count, factor)
            print(f"  {talk:<28}{name:<16}{plain!s:>20}{factor.value:>9.2f}{fitted!s:>20}")


def tokenizers() -> dict[str, Callable[[str], float]]:
    known: dict[str, Callable[[str], float]] = {**REFERENCES, "o200k": O200K}
    claude = REFERENCES.get("Claude, 2023")
    if claude:
        known["Claude, 5.5"] = lambda text: NEWER * claude(text)
    return known


def learnt_from(kinds: Sequence[str], count: Callable[[str], float]) -> Factor:
    """As after the first ten replies."""
    histories = islice(contexts(kinds, PLAIN, seed="first"), FEWEST)
    samples = [
        Sample(user=user, estimated=sum(turn.token_count for turn in history), reported=round(real(history, count)))
        for user, history in enumerate(histories)
    ]
    factor = learnt(samples)
    assert factor, "ten replies are enough"
    return factor


def measured(kinds: Sequence[str], count: Callable[[str], float], factor: Factor) -> Measured:
    parts = [real(history, count) / COMPANION.history_tokens for history in contexts(kinds, factor, seed="next")]
    return Measured(mean=mean(parts), most=max(parts), over=sum(part > 1 for part in parts) / len(parts))


def contexts(kinds: Sequence[str], factor: Factor, *, seed: str) -> Iterator[Sequence[Turn]]:
    """The fullest window of each of many conversations: right before its oldest turns are dropped."""
    budget = COMPANION.estimated(factor)
    for number in range(CONVERSATIONS):
        yield fullest(talk_of(kinds, f"{seed} {number}"), budget)


def fullest(turns: Sequence[Turn], budget: Budget) -> Sequence[Turn]:
    histories = [window(turns[:end], budget, begin_at=1)[0] for end in range(2, len(turns) + 1)]
    return max(histories, key=lambda history: sum(turn.token_count for turn in history))


def talk_of(kinds: Sequence[str], seed: str) -> list[Turn]:
    draw = random.Random(seed)
    texts = [text for kind in kinds for text in corpus(HELD_OUT)[kind]]
    return [turn_of(position, draw.choice(texts)) for position in range(1, TURNS + 1)]


def turn_of(position: int, text: str) -> Turn:
    content = text_blocks(text)
    role = "user" if position % 2 else "assistant"
    return Turn(position=position, depth=position, role=role, content=content, token_count=turn_tokens(content))


def real(history: Sequence[Turn], count: Callable[[str], float]) -> float:
    return sum(count(text_of(turn.content)) + TURN_OVERHEAD for turn in history)
