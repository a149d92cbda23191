"""Which sentences of a conversation carry most, by how rare and how central their words are. Pure."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from memory.consolidation.findings import MOST_MOMENTS
from memory.consolidation.sentences import SpokenSentence
from memory.consolidation.statements import (
    LEAST_WORDS,
    capitalised,
    leans,
    shortened,
    statements,
    undertakings,
    without_opener,
)
from memory.language import cue_phrases
from memory.language.words import asks, stems

SENTENCES = 5
OF_THE_ASSISTANT = 2
LONGEST_QUOTE = 180


def weighed(sentences: Sequence[SpokenSentence]) -> tuple[list[SpokenSentence], list[SpokenSentence]]:
    """The sentences that carry most, for the summary, and of the others those that tell what happened to the person."""
    words = [[stem for stem in stems(sentence.text) if stem not in cue_phrases.FILLERS] for sentence in sentences]
    counts = Counter(chain.from_iterable(map(set, words)))
    mean = max(1.0, sum(map(len, words)) / len(words))
    weights = [
        _weight(sentence, stems_in, counts, len(sentences), mean)
        for sentence, stems_in in zip(sentences, words, strict=True)
    ]
    ranked = sorted(range(len(sentences)), key=lambda n: (-weights[n], n))
    chosen: list[int] = []
    for n in ranked:
        assistants = sum(not sentences[m].turn.is_persons for m in chosen)
        if weights[n] <= 0 or len(chosen) == SENTENCES:
            break
        if not sentences[n].turn.is_persons and assistants >= OF_THE_ASSISTANT:
            continue
        if all(_overlap(words[n], words[m]) < 0.5 for m in chosen):
            chosen.append(n)
    moments = [
        n
        for n in ranked
        if n not in chosen and sentences[n].is_own_word and _tells_of_person(sentences[n]) and weights[n] > 0
    ]
    return [sentences[n] for n in sorted(chosen)], [sentences[n] for n in sorted(moments[:MOST_MOMENTS])]


def _weight(sentence: SpokenSentence, words: Sequence[str], counts: Counter[str], sentences: int, mean: float) -> float:
    """Words that come back tell what it is about, rare ones and names tell it apart; length counts little, as in BM25."""
    rare = sum(math.log(1 + sentences / counts[word]) * (1 + math.log(counts[word])) for word in {*words})
    names = len(re.findall(r"(?<=[a-zß-ÿ,] )[A-Z]\w+|\d+", sentence.text))
    weight = (rare + names) * 2.2 / (1.2 + len(words) / mean)
    weight *= 1.4 if sentence.is_own_word else 1.0
    weight *= 1.5 if _tells_of_person(sentence) else 1.0
    weight *= 0.6 if asks(sentence.text) and sentence.speaker else 1.0
    weight *= 0.5 if leans(sentence.text) else 1.0
    return weight * (0.4 if cue_phrases.REACTION.match(sentence.text) or len(words) < LEAST_WORDS else 1.0)


def _tells_of_person(sentence: SpokenSentence) -> bool:
    return sentence.is_own_word and bool(statements(sentence.text) or undertakings(sentence.text))


def _overlap(some: Sequence[str], others: Sequence[str]) -> float:
    return len({*some} & {*others}) / max(1, min(len({*some}), len({*others})))


def line(sentence: SpokenSentence) -> str:
    who = sentence.speaker or ("User" if sentence.turn.is_persons else "Assistant")
    return f"{who}: {shortened(capitalised(without_opener(sentence.text)), LONGEST_QUOTE)}"
