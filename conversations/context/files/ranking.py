"""How much the parts of files bear on a text. Pure: BM25 over the parts of the files in question."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import reduce
from operator import or_
from typing import Any

from conversations.context.files.excerpts import PartKey
from conversations.runtime.values import dataclass
from memory.language.words import index_stems, term, words_of

MOST_WORDS = 12
EVERY_WORD = (1 << MOST_WORDS) - 1
MOST_TERMS = 2_000
"""Of one part."""
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
OFTEN = 3
"""How often a word stands in a part that is about it."""
MEAN_OFTEN = 4
"""How often such a word is taken to stand there."""
OFTEN_MARK = "\x1f"
"""Follows a stem that stands there so often: it is a term of its own, so that no count has to be kept with each term."""


@dataclass(frozen=True, kw_only=True)
class SoughtWords:
    """The words of a text that count: for each place the terms that stand for it in any of its forms, and the one that says
    that it stands in a part often."""

    places: Sequence[frozenset[int]] = ()
    often: Sequence[int] = ()

    @property
    def terms(self) -> list[tuple[int, int, int]]:
        """Every term with its place, and the one that says *often* of that."""
        often = self.often
        return [(term, place, often[place]) for place, terms in enumerate(self.places) for term in sorted(terms)]

    @property
    def columns(self) -> dict[str, Any]:
        """The same as statements take it."""
        terms = self.terms
        return {
            "terms": [term for term, _, _ in terms],
            "places": [place for _, place, _ in terms],
            "often": [often for _, _, often in terms],
            "most_words": MOST_WORDS,
        }

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every term with its place; those that say *often* have places of their own after all others."""
        words = [(term, place) for place, terms in enumerate(self.places) for term in sorted(terms)]
        return words + [(term, MOST_WORDS + place) for place, term in enumerate(self.often)]


@dataclass(frozen=True, kw_only=True, slots=True)
class PartWords:
    """Which of the sought words stand in a part and which stand there often, as bits by their place, and how long it is, in
    any unit."""

    key: PartKey
    bits: int
    length: int


def sought_words(user_id: int, text: str) -> SoughtWords:
    """What a text asks for: its first words that count."""
    words = dict(words_of(text)[:MOST_WORDS])
    return SoughtWords(
        places=[
            frozenset({term(user_id, stem), *(term(user_id, other) for other in others)})
            for stem, others in words.items()
        ],
        often=[term(user_id, stem + OFTEN_MARK) for stem in words],
    )


def part_terms(user_id: int, *texts: str) -> list[int]:
    """What a part is found by: its words, with its label and heading, and which of them stand there often."""
    words = [index_stems(text) for text in texts]
    counts = Counter(stem for own, _ in words for stem in own)
    often = (stem + OFTEN_MARK for stem, count in counts.items() if count >= OFTEN)
    others = (stem for _, within in words for stem in within)
    return [*dict.fromkeys(term(user_id, stem) for stem in (*counts, *often, *others))][:MOST_TERMS]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherParts:
    """Parts that are not weighed, and how many of them hold each word, by its place: they tell how rare the words are."""

    count: int = 0
    holding: Mapping[int, int] = field(default_factory=dict)


NO_OTHERS = OtherParts()


def scores(parts: Sequence[PartWords], others: OtherParts = NO_OTHERS) -> Mapping[PartKey, float]:
    """Of the parts that hold any of the words."""
    if not parts:
        return {}
    mean, every = max(1.0, sum(part.length for part in parts) / len(parts)), len(parts) + others.count
    held = reduce(or_, (part.bits for part in parts)) & EVERY_WORD
    holding = [
        sum([part.bits >> place & 1 for part in parts]) + others.holding.get(place, 0)
        for place in range(held.bit_length())
    ]
    rarity = [math.log(1 + (every - count + 0.5) / (count + 0.5)) for count in holding]
    sums = {bits: _sums(bits, rarity) for bits in {part.bits for part in parts if part.bits & EVERY_WORD}}
    return {part.key: _score(*sums[part.bits], part.length / mean) for part in parts if part.bits in sums}


def _sums(bits: int, rarity: Sequence[float]) -> tuple[float, float]:
    """How rare the words are together that stand in a part now and then, and those that stand there often."""
    held = [place for place in range(len(rarity)) if bits >> place & 1]
    often = sum(rarity[place] for place in held if bits >> (MOST_WORDS + place) & 1)
    return sum(rarity[place] for place in held) - often, often


def _score(seldom: float, often: float, length: float) -> float:
    """``length``: as a multiple of the mean."""
    slowness = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length)
    return (SATURATION + 1) * (seldom / (1 + slowness) + often * MEAN_OFTEN / (MEAN_OFTEN + slowness))
