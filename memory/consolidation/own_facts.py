"""Which parts of a message tell a lasting fact of the person who writes it. Pure.

A logistic regression: words of the part, words before and behind it in the message, and signs of its place are features,
each with a weight. The weights are learnt (``make own-facts``) from messages that were made for it, in five languages, of which
``tests/benchmarks/whose`` says whose facts they tell; of texts in other languages nothing is known. Why: decision 59.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import groupby, pairwise
from pathlib import Path

from memory.consolidation.sentences import SENTENCE_END
from memory.consolidation.statements import WORD, statements
from memory.language import first_person

WEIGHTS = Path(__file__).with_suffix(".tsv")
"""A feature and its weight in hundredths a line; the first has no name and is what each part begins with."""
SURE = 0.75
"""How likely a fact is of which no rule knows, for it to be noted."""
POSSIBLE, LEAST_AROUND = 0.15, 0.5
"""Where rules find a fact beside something else, how likely it is at least, and what weight speaks for it around it."""
TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
BREAK = re.compile(r"[,;:]\s+|(?<!\s)\s+[-–—]+\s+|[()]|(?<=\w)\s+(?=¿)")
QUOTES = re.compile('["“”„«»]')
STEM = 5
"""Letters of a word that count, which makes the forms of a word one."""
AROUND = 40
"""Words before a part and behind it that are looked at, of so many characters at most:"""
LONGEST_AROUND = 400
SHARE_AROUND = 3.0
"""What they weigh together, however many they are, as the square root of the sum of squares."""
LONGEST_GREETING = 2
"""Words."""
I_AND_MINE = """
i i'm im i've ive i'd i'll me my mine we we're our us
ich mein meine meinen meiner meinem mir mich wir uns unser unsere
je j'ai j'suis j'habite mon ma mes moi nous notre nos
yo mi mis soy tengo vivo nuestro nuestra
я меня мне мой моя мои мы нас у наш наша
"""
FIRST_PERSON = frozenset(I_AND_MINE.split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Characters of a message from ``start`` to before ``end``, in the sentence from ``opens`` to before ``closes``.

    ``is_found``: rules find a statement of the person there; ``is_plain``: they do in each sentence that is no greeting.
    """

    opens: int
    closes: int
    start: int
    end: int
    is_found: bool
    is_plain: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """A part of a message with its words, and the weights of what is inside it and of what is around it."""

    part: Part
    words: str
    inside: float
    around: float

    @property
    def probability(self) -> float:
        """How likely it tells a lasting fact of who writes: 0 to 1."""
        return 1 / (1 + math.exp(-(self.inside + self.around)))

    @property
    def lets_rules(self) -> bool:
        """Whether rules that find a fact there are believed: what stands inside they know themselves."""
        return self.part.is_plain or (self.around > LEAST_AROUND and self.probability > POSSIBLE)


def knows(text: str) -> bool:
    """Whether it may be in one of the languages that the weights were learnt in."""
    return first_person.CHINESE not in first_person.written_in(text)


def of_sentences(message: str, sentences: Iterable[str]) -> Iterator[Sequence[Judgement]]:
    """Of each sentence, in the order of the message, its parts. What was cut out of the message before it was taken apart is in
    none; spaces and marks may be others."""
    judgements = judged(message)
    at = 0
    for sentence in sentences:
        words, start = words_of(sentence), at
        while start < len(judgements) and judgements[start].words not in words:
            start += 1
        end = start
        while end < len(judgements) and judgements[end].words in words:
            end += 1
        yield judgements[start:end]
        at = end if end > start else at


def sure(message: str, judgements: Iterable[Judgement]) -> Iterator[str]:
    """What of a sentence most surely tells such a fact: parts that stand side by side together."""
    for is_sure, run in groupby(judgements, key=lambda judgement: judgement.probability > SURE):
        if is_sure:
            some = [judgement.part for judgement in run]
            yield message[some[0].start : some[-1].end]


def may_be(judgements: Iterable[Judgement], text: str) -> bool:
    """Whether what rules found in a sentence may tell such a fact, by the parts that it holds or is held by."""
    words = words_of(text)
    own = [judgement for judgement in judgements if judgement.words in words or words in judgement.words]
    return not own or any(judgement.lets_rules for judgement in own)


def words_of(text: str) -> str:
    """Its words alone."""
    return " ".join(WORD.findall(text.casefold()))


@lru_cache(maxsize=512)
def judged(message: str) -> tuple[Judgement, ...]:
    """All parts of a message, in order."""
    return tuple(_judgement(message, part) for part in parts(message))


def _judgement(message: str, part: Part) -> Judgement:
    weights = _weights()
    weighed = [(feature, weights.get(feature, 0.0) * value) for feature, value in features(message, part).items()]
    inside = sum(weight for feature, weight in weighed if feature.startswith(INSIDE))
    return Judgement(
        part=part,
        words=words_of(message[part.start : part.end]),
        inside=weights[""] + inside,
        around=sum(weight for _, weight in weighed) - inside,
    )


@cache
def _weights() -> dict[str, float]:
    lines = (line.rpartition("\t") for line in WEIGHTS.read_text(encoding="utf-8").splitlines())
    return {feature: int(hundredths) / 100 for feature, _, hundredths in lines}


def parts(message: str) -> Iterator[Part]:
    """What lies between the breaks of its sentences, where there are words."""
    sentences = [span for span in _sentences(message) if words_of(message[slice(*span)])]
    texts = [" ".join(message[slice(*span)].split()) for span in sentences]
    found = [[words_of(statement) for statement in statements(text)] for text in texts]
    is_plain = all(
        stated or len(words_of(text).split()) <= LONGEST_GREETING for stated, text in zip(found, texts, strict=True)
    )
    for (opens, closes), stated in zip(sentences, found, strict=True):
        cuts = [opens, *(end for match in BREAK.finditer(message, opens, closes) for end in match.span()), closes]
        for start, end in zip(cuts[::2], cuts[1::2], strict=True):
            if words := words_of(message[start:end]):
                yield Part(
                    opens=opens,
                    closes=closes,
                    start=start,
                    end=end,
                    is_found=any(words in text or text in words for text in stated),
                    is_plain=is_plain,
                )


def _sentences(message: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in message.splitlines(keepends=True):
        start = at
        for match in SENTENCE_END.finditer(line):
            yield start, at + match.start()
            start = at + match.end()
        yield start, at + len(line)
        at += len(line)


INSIDE, BEFORE, BEHIND, SIGN = "s ", "b ", "a ", "?"
"""How the features of a place begin."""


def features(message: str, part: Part) -> dict[str, float]:
    """Words and runs of words of the part, before it and behind it, and signs of its place, each with how much it counts."""
    words = _words(message[part.start : part.end])
    own = ["^", *map(_stem, words), "$"]
    before = _words(message[max(0, part.start - LONGEST_AROUND) : part.start])[-AROUND:]
    behind = _words(message[part.end : part.end + LONGEST_AROUND])[:AROUND]
    around = {*_runs(BEFORE, ["^", *map(_stem, before)]), *_runs(BEHIND, [*map(_stem, behind), "$"])}
    inside = {
        *_runs(INSIDE, own),
        *(f"{INSIDE}{one} {two} {three}" for one, two, three in zip(own, own[1:], own[2:], strict=False)),
    }
    signs = {
        *_signs(message, part),
        f"words {min(8, len(words) // 2)}",
        f"words around {min(8, (len(before) + len(behind)) // 8)}",
        f"first person {_count_first_person(words)}",
        f"first person before {_count_first_person(before)}",
    }
    return (
        dict.fromkeys(inside, 1.0)
        | dict.fromkeys(around, SHARE_AROUND / math.sqrt(len(around)))
        | {f"{SIGN}{sign}": 1.0 for sign in signs}
    )


def _words(text: str) -> list[str]:
    return ["#" if word.isdigit() else word.replace("’", "'") for word in TOKEN.findall(text.casefold())]


def _stem(word: str) -> str:
    return word[:STEM]


def _runs(place: str, words: Sequence[str]) -> Iterator[str]:
    for word in words:
        yield f"{place}{word}"
    for one, other in pairwise(words):
        yield f"{place}{one} {other}"


def _count_first_person(words: Sequence[str]) -> int:
    return min(3, sum(word in FIRST_PERSON for word in words))


def _signs(message: str, part: Part) -> Iterator[str]:
    text, sentence = message[part.start : part.end], message[part.opens : part.closes]
    before, behind = message[: part.start], message[part.end :]
    signs = {
        "opens the sentence": part.start == part.opens,
        "ends the sentence": part.end == part.closes,
        "opens the message": not before.strip(),
        "ends the message": not behind.strip(),
        "a line before": "\n" in before.strip(),
        "a line behind": "\n" in behind.strip(),
        "a colon before": ":" in before,
        "within quotes": len(QUOTES.findall(before)) % 2 == 1,
        "quotes inside": QUOTES.search(text) is not None,
        "quotes": QUOTES.search(message) is not None,
        "asks": "?" in text,
        "sentence asks": "?" in sentence,
        "asks behind": "?" in behind,
        "no capital": message[:1].islower(),
        "exclaims": "!" in message,
        "a number": any(map(str.isdigit, text)),
        "by rules": part.is_found,
        "by rules, plain": part.is_found and part.is_plain,
        "by rules, sentence asks": part.is_found and "?" in sentence,
    }
    yield from (sign for sign, is_so in signs.items() if is_so)
    yield f"capitals {min(3, sum(word[:1].isupper() for word in text.split()[1:]))}"
