"""How much the parts of files bear on a text. Pure: BM25 over the parts of the files in question, as for turns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conversations.context.file_excerpts import PartKey
from memory.language.words import stems, term, words_of

MOST_WORDS = 12
MOST_TERMS = 2_000
"""Of one part."""
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
FURTHER_WORD = 0.5
"""What each further word adds to the weight of a part, as for turns."""


@dataclass(frozen=True, kw_only=True)
class SoughtWords:
    """The words of a text that count: for each place the terms that stand for it in any of its forms."""

    places: Sequence[frozenset[int]] = ()

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Every term with its place."""
        return [(term, place) for place, terms in enumerate(self.places) for term in sorted(terms)]


@dataclass(frozen=True, kw_only=True, slots=True)
class PartWords:
    """Which of the sought words stand in a part, as bits by their place, and how long it is, in any unit."""

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
        ]
    )


def part_terms(user_id: int, *texts: str) -> list[int]:
    """What a part is found by: its words, with its label and heading."""
    return list(dict.fromkeys(term(user_id, stem) for text in texts for stem in stems(text)))[:MOST_TERMS]


def scores(parts: Sequence[PartWords]) -> Mapping[PartKey, float]:
    """Of the parts that hold any of the words."""
    if not parts:
        return {}
    mean = max(1.0, sum(part.length for part in parts) / len(parts))
    holding = [sum(part.bits >> place & 1 for part in parts) for place in range(MOST_WORDS)]
    rarity = [math.log(1 + (len(parts) - count + 0.5) / (count + 0.5)) for count in holding]
    weights: dict[int, float] = {}
    for bits in {part.bits for part in parts if part.bits}:
        held = [rarity[place] for place in range(MOST_WORDS) if bits >> place & 1]
        weights[bits] = sum(held) * (1 + FURTHER_WORD * (len(held) - 1))
    return {
        part.key: weights[part.bits]
        * (SATURATION + 1)
        / (1 + SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * part.length / mean))
        for part in parts
        if part.bits
    }
