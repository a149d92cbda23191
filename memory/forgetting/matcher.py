"""Whether a text tells what is to be forgotten. Pure.

A text tells a fact that stands in it in its own words, case and white space aside. Else one of its sentences has to hold the
words that make the fact out: 60 % of their weight, which is the more the rarer a word is with this person, with names and
numbers before all others; and among them a name, a number or a rare word with another word, or three words, or all there are.
A question has to hold 80 %, for who asks after a fact doesn't tell it. A code – a word with a digit and four characters or
more, but no year – is enough by itself. Whoever only shares the topic holds less than that.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from conversations.runtime.text import texts_in
from conversations.runtime.word_tables import read_tables
from memory.forgetting.normalization import folded, sentences
from memory.language.word_parts import LONGEST_WORD
from memory.language.words import UNSPACED, WORD, asks, bare, every_stem, stems

SHARE, SHARE_OF_QUESTION = 0.6, 0.8
NAME, NUMBER, CODE = 2.0, 1.5, 3.0
"""By how much more than other words these weigh."""
RARE = 500
"""A rare word stands in fewer than one of so many turns; with fewer turns there is no telling."""
FLATTENING = 1_000
"""Turns that are thought up, so that a short history makes no great difference between words."""
BEGINNING = 4
"""Characters that a word has in common with one that is looked for, before it is looked at closely."""
SHORT = 2
"""A sentence of so few words says nothing beside a fact that is one word."""
ENDING = 2
"""Words are compared by all but so long an ending before they are looked at closely."""
NEEDED_TOGETHER, ENOUGH = 2, 3
ROUNDING = 1e-9

COMMON, FEW = 100, 10
"""A word is common that stands in more than one of so many turns, and in more than so few."""

YEAR = re.compile(r"(?:19|20)\d\d")
DIGIT = re.compile(r"\d")
THREE_DIGITS = re.compile(r"\d\D*\d\D*\d")

NAMING, BEING, ARTICLES, OWNING, CALENDAR = (
    frozenset(read_tables(__file__)[name].split()) for name in ("naming", "being", "article", "owning", "calendar")
)

UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """A word of a fact by its stem, in the forms that it may be met in. ``start`` is what all of these begin with."""

    stem: str
    forms: frozenset[str]
    start: str
    weight: float
    is_telling: bool = False
    is_code: bool = False
    is_singled_out: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetSentence:
    """A sentence to be forgotten; ``wording`` is ``folded``, ``longest`` its longest word as written.

    Without ``words`` it is met in its own wording only.
    """

    wording: str
    longest: str
    words: tuple[Word, ...] = ()

    @property
    def weight(self) -> float:
        return sum(word.weight for word in self.words)

    @property
    def heaviest(self) -> list[Word]:
        """The fewest words of which every text that tells the fact in other words holds one, and its codes."""
        needed: list[Word] = []
        for word in sorted(self.words, key=lambda word: -word.weight):
            if word.is_code or sum(other.weight for other in needed) <= self.weight * (1 - SHARE) + ROUNDING:
                needed.append(word)
        return needed


class Lookup(dict[str, frozenset[str]]):
    """Which of the words that are looked for stand in a text, in whatever form: their stems by the words that were met.

    Most words of a long history are met again and again, so each is looked at once: by whatever language, as a text may be a
    word long.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        super().__init__()
        self._stems: dict[str, set[str]] = {}
        for word in words:
            for form in word.forms:
                self._stems.setdefault(form, set()).add(word.stem)
        self._beginnings = {form[:BEGINNING] for form in self._stems}

    def stems_in(self, text: str) -> set[str]:
        """The stems that stand in a text."""
        return set().union(*map(self.__getitem__, {*WORD.findall(folded(text))}))

    def __missing__(self, word: str) -> frozenset[str]:
        stems = self[word] = frozenset(
            stem for form in {word, *self._forms(word)} for stem in self._stems.get(form, ())
        )
        return stems

    def _forms(self, word: str) -> Iterable[str]:
        if UNSPACED.search(word):
            return stems(word)
        is_like_one = any(word[:length] in self._beginnings for length in range(1, BEGINNING + 1))
        return every_stem(word) if is_like_one else ()


class Needles:
    """Facts, and sentences that count in their own wording alone, looked for together."""

    def __init__(self, facts: Iterable[TargetSentence]) -> None:
        self.facts = list(dict.fromkeys(facts))
        self._heavy: dict[str, list[TargetSentence]] = {}
        self._by_word: dict[str, list[TargetSentence]] = {}
        self._beginnings: set[str] = set()
        for fact in self.facts:
            heaviest = fact.heaviest
            self._by_word.setdefault(_rarest(fact, heaviest), []).append(fact)
            looked_for = [form for word in heaviest for form in word.forms] or [_rarest(fact, heaviest)]
            self._beginnings |= {_beginning(form) for form in looked_for}
            for word in heaviest:
                self._heavy.setdefault(word.stem, []).append(fact)
        self._lookup = Lookup(word for fact in self.facts for word in fact.words)
        self._lengths = {len(beginning) for beginning in self._beginnings}

    def and_also(self, facts: Iterable[TargetSentence]) -> "Needles":
        return Needles([*self.facts, *facts])

    def __bool__(self) -> bool:
        return bool(self.facts)

    def tell(self, value: Any) -> bool:
        """Whether a text, or one of the texts in a JSON value, tells one of the facts."""
        return any(self._tells(text) for text in texts_in(value))

    def starts(self) -> list[str]:
        """Every text that tells one of the facts holds one of these, case aside."""
        forms = {form for fact in self.facts for word in fact.heaviest for form in _cases(word.start)}
        return sorted(forms | {form for fact in self.facts if not fact.words for form in _cases(fact.longest)})

    def _tells(self, text: str) -> bool:
        if not self.facts or not text:
            return False
        plain = folded(text)
        words, facts = {*WORD.findall(plain)}, self.facts
        if not UNSPACED.search(plain):
            if not any(word[:length] in self._beginnings for word in words for length in self._lengths):
                return False
            facts = [fact for word in words for fact in self._by_word.get(word, ())]
        if any(_stands_in(fact.wording, plain) for fact in facts):
            return True
        return any(map(self._tells_in_words, sentences(UUID.sub(" ", text))))  # parts of an id are no codes

    def _tells_in_words(self, sentence: str) -> bool:
        held = self._lookup.stems_in(sentence)
        likely = {id(fact): fact for stem in held for fact in self._heavy.get(stem, ())}
        if not likely:
            return False
        is_question = asks(sentence)
        is_short = any(len(fact.words) == 1 for fact in likely.values()) and len(stems(sentence)) <= SHORT
        return any(
            enough(fact, [word for word in fact.words if word.stem in held], is_question=is_question, is_short=is_short)
            for fact in likely.values()
        )


def enough(fact: TargetSentence, words: Sequence[Word], *, is_question: bool, is_short: bool = False) -> bool:
    """Whether these words of the fact make it out. ``is_short`` is a sentence that says hardly more than one word."""
    if any(word.is_code for word in words):
        return True
    if len(fact.words) == 1:
        return words[0].is_telling or (is_short and not is_question)
    if sum(word.weight for word in words) < fact.weight * (SHARE_OF_QUESTION if is_question else SHARE) - ROUNDING:
        return False
    together = len(words) >= NEEDED_TOGETHER and any(word.is_telling for word in words)
    return together or len(words) >= ENOUGH or len(words) == len(fact.words)


def facts_in(text: str, counts: Mapping[str, int], turns: int) -> list[TargetSentence]:
    """The sentences of a memory. ``counts`` tells by stem how many of the person's ``turns`` hold it."""
    return [fact_of(sentence, counts, turns) for sentence in sentences(text) if says_something(sentence)]


def fact_of(sentence: str, counts: Mapping[str, int], turns: int) -> TargetSentence:
    written_words = WORD.findall(unicodedata.normalize("NFKC", sentence))
    written = WrittenWords(part for word in written_words for part in UNSPACED.split(word) if part)
    words = []
    for stem in dict.fromkeys(stems(sentence)):
        same = written.of_stem(stem)
        words.append(_word(stem, written, same, counts.get(stem, 0), turns))
    return replace(quote_of(sentence), words=tuple(words))


def quote_of(sentence: str) -> TargetSentence:
    """A sentence that is met in its own wording only. It must say something."""
    longest = max(WORD.findall(sentence), key=len, default="")
    return TargetSentence(wording=bare(folded(sentence)), longest=longest)


def says_something(sentence: str) -> bool:
    return bool(bare(folded(sentence)))


def _word(stem: str, written: "WrittenWords", places: Sequence[int], count: int, turns: int) -> Word:
    same = [written[place] for place in places]
    is_number = bool(DIGIT.search(stem))
    is_code = is_number and len(stem) >= BEGINNING and not YEAR.fullmatch(stem)
    is_name = any(_is_capital(written, place) for place in places)
    is_rare = turns >= RARE and count * RARE < turns
    factor = CODE if is_code else NUMBER if is_number else NAME if is_name else 1.0
    shortest = min(same or [stem], key=len)
    return Word(
        stem=stem,
        forms=frozenset({stem, folded(stem), *map(folded, same)}),
        start=shortest if is_number or len(stem) <= BEGINNING else shortest[: len(stem) - 1],
        weight=factor * math.log((turns + FLATTENING) / (min(count, turns) + 1)),
        is_telling=is_number or is_name or is_rare,
        is_code=is_code,
        is_singled_out=not _is_common(count, turns)
        and any(_singled_out(written, place, is_rare=is_rare) for place in places),
    )


def _rarest(fact: TargetSentence, heaviest: Sequence[Word]) -> str:
    """A word that every text holds in which the fact stands in its wording."""
    written = WORD.findall(fact.wording)
    heavy = [word for word in written if heaviest and word in heaviest[0].forms]
    return max(heavy or written, key=len, default="")


def _beginning(form: str) -> str:
    return form[: max(BEGINNING, len(form) - ENDING)]


def _cases(start: str) -> set[str]:
    """What a database that knows no case but that of ASCII has to be asked for."""
    return {start} if start.isascii() else {start, start.lower(), start.capitalize(), start.upper()}


def _stands_in(wording: str, text: str) -> bool:
    """As whole words, not within others."""
    start = text.find(wording)
    while start >= 0:
        after = start + len(wording)
        if not (text[start - 1 : start].isalnum() and wording[0].isascii()) and not (
            text[after : after + 1].isalnum() and wording[-1].isascii()
        ):
            return True
        start = text.find(wording, start + 1)
    return False


def _is_common(count: int, turns: int) -> bool:
    """Whether a word that stands in ``count`` of so many turns is one that the person uses all the time."""
    return count > FEW and count * COMMON > turns


def _is_capital(written: Sequence[str], place: int) -> bool:
    """Whether a word of a sentence is written as names are, and not merely because it is the first."""
    word = written[place]
    return word[:1].isupper() and (place > 0 or word[1:] != word[1:].lower())


def _singled_out(written: "WrittenWords", place: int, *, is_rare: bool) -> bool:
    """Whether a word of a fact gives it away alone, as an answer does to whoever was told the fact before.

    So do a name, a code, a number of three digits that is no year, and what is rare with the person and stands in what the
    fact says, not in what it says that of: in "my boat is called Quillhaven" the name, not the boat.
    """
    word, before = written[place].casefold(), written[place - 1].casefold() if place else ""
    if DIGIT.search(word):
        return bool(THREE_DIGITS.search(word)) and not YEAR.fullmatch(word)
    if word in CALENDAR:
        return False
    if before in NAMING:
        return True
    if _is_capital(written, place) and not written.is_upper:
        return before not in OWNING and not (place == 1 and before in ARTICLES)
    return is_rare and place > written.frame


class WrittenWords(tuple[str, ...]):
    """The words of a sentence as they are written, with what is asked for each of them and is known once for all."""

    @cached_property
    def is_upper(self) -> bool:
        return " ".join(self).isupper()

    @cached_property
    def frame(self) -> int:
        """The place of the last word of what a sentence says something of: "my boat is called …"."""
        places = [place for place, word in enumerate(self) if word.casefold() in BEING]
        named = [place for place, word in enumerate(self) if word.casefold() in NAMING]
        return max([*places[:1], *named[:1]], default=-1)

    @cached_property
    def _by_beginning(self) -> dict[str, list[int]]:
        places = defaultdict(list)
        for place, word in enumerate(self):
            form = folded(word)
            for length in range(1, min(len(form), LONGEST_WORD) + 1):
                places[form[:length]].append(place)
        return places

    def of_stem(self, stem: str) -> list[int]:
        """The places of words that may be forms of it: they begin as it does, and are not much longer."""
        places = self._by_beginning.get(stem[: max(2, len(stem) - 1)], ())
        return [place for place in places if len(self[place]) - len(stem) <= 6]
