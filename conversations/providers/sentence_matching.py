"""Which sentence answers a question best, by words alone: pure, deterministic, for any language.

A word of the question finds the same word, or one that shares letter trigrams with it (inflection). Scripts that write
no spaces are compared by pairs of characters. Words that are rare in the sentences weigh more, function words nothing.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
WORD = re.compile(r"\w+")
SMALL_WORDS = (
    "a about all also am an and any are as at be been being but by can could did do does for from get go had "
    "has have he her hers him his how i if in into is it its just know like ll m may me might mine my no not "
    "of off on one or our ours out please re s shall she should so some t tell than that the their theirs them "
    "then there these they this those to too up us ve was way we were what when where which who whom whose why "
    "will with would you your yours der die das und ist ein eine mein meine ich wir du was wer wo wie le la "
    "les et est un une mon ma je nous qui que quel el los las y es una mi yo quien cual и в не на я мы что кто "
    "как это мой моя"
)
FUNCTION_WORDS = frozenset(SMALL_WORDS.split())
MOST_QUESTION_WORDS = 60
LEAST_LIKENESS = 0.25
NEARLY_AS_GOOD = 0.9


@dataclass(frozen=True, kw_only=True)
class ContextSentence:
    """``trust`` scales how well it meets a question."""

    text: str
    speaker: str
    trust: float = 1.0
    is_question: bool = False


@dataclass(frozen=True, kw_only=True)
class Match:
    sentence: ContextSentence
    coverage: float
    """How much of the question it meets, from 0 to 1, times its trust."""


def has_content(text: str) -> bool:
    return not FUNCTION_WORDS.issuperset(words(text))


def words(text: str) -> list[str]:
    found: list[str] = []
    for word in WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        runs = UNSPACED.findall(word)
        found.extend(first + second for run in runs for first, second in pairwise(run))
        found.extend(run for run in runs if len(run) == 1)
        found.extend(part for part in UNSPACED.split(word) if part)
    return found


def best_match(question: str, sentences: Sequence[ContextSentence]) -> Match | None:
    """The sentence that answers the question best, the newest (last) of those nearly as good; None without one."""
    matches = coverages(question, sentences)
    best = max((match.coverage for match in matches), default=0.0)
    nearly = [match for match in matches if match.coverage >= NEARLY_AS_GOOD * best]
    return nearly[-1] if best else None


def coverages(question: str, sentences: Sequence[ContextSentence]) -> list[Match]:
    """Each sentence, in its order, with how far it meets the question."""
    vocabularies = [frozenset(words(sentence.text)) for sentence in sentences]
    weights = question_weights(question, vocabularies)
    likeness = likenesses(weights, frozenset().union(*vocabularies))
    return [
        Match(sentence=sentence, coverage=sentence.trust * coverage(weights, likeness, vocabulary))
        for sentence, vocabulary in zip(sentences, vocabularies, strict=True)
    ]


def question_weights(question: str, vocabularies: Sequence[frozenset[str]]) -> dict[str, float]:
    """The words of content, and how much each tells: "who is" tells nothing of whom."""
    frequency = Counter(word for vocabulary in vocabularies for word in vocabulary)
    distinct = [word for word in dict.fromkeys(words(question)) if word not in FUNCTION_WORDS]
    return {word: rarity(frequency[word], len(vocabularies)) for word in distinct[:MOST_QUESTION_WORDS]}


def rarity(frequency: int, sentences: int) -> float:
    return math.log(1 + sentences / max(frequency, 1)) / math.log(1 + max(sentences, 1))


def coverage(
    weights: Mapping[str, float], likeness: Mapping[str, Mapping[str, float]], vocabulary: frozenset[str]
) -> float:
    met = sum(
        weight * max((likeness[asked][word] for word in likeness[asked].keys() & vocabulary), default=0.0)
        for asked, weight in weights.items()
    )
    return met / sum(weights.values()) if weights else 0.0


def likenesses(asked: Iterable[str], vocabulary: frozenset[str]) -> dict[str, dict[str, float]]:
    """For each asked word the words of the vocabulary that are like it, from LEAST_LIKENESS to 1 for the same word."""
    index: defaultdict[str, set[str]] = defaultdict(set)
    for word in vocabulary:
        for trigram in trigrams(word):
            index[trigram].add(word)
    return {word: alike(word, index, vocabulary) for word in asked}


def alike(asked: str, index: Mapping[str, set[str]], vocabulary: frozenset[str]) -> dict[str, float]:
    own = trigrams(asked)
    shared = Counter(word for trigram in own for word in index.get(trigram, ()))
    dice = {word: 2 * count / (len(own) + len(trigrams(word))) for word, count in shared.items()}
    likeness = {word: value for word, value in dice.items() if value >= LEAST_LIKENESS}
    return likeness | ({asked: 1.0} if asked in vocabulary else {})


def trigrams(word: str) -> frozenset[str]:
    """Of a word between marks for its ends; none for a pair of an unspaced script, which is the same or not."""
    if UNSPACED.match(word):
        return frozenset()
    marked = f"^{word}$"
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))
