"""Which texts say much the same, word for word. Pure.

Names, numbers and a "not" tell texts apart, so two are taken for one only where nothing but marks, capitals, or one word in ten
that the other leaves away lies between them.
"""

import re
from collections.abc import Hashable, Iterable
from functools import cached_property

from memory.language.cue_phrases import NEGATED
from memory.language.words import asks

WORD = re.compile(r"\w+")
DIGIT = re.compile(r"\d")
SHARED = 0.9
LEAST_WORDS = 9
"""Of fewer words no one may be left away."""
END = 12
"""Letters at the beginning or at the end that are the same where a word is left away in between."""
LONGEST = 1_000
"""Characters that are compared."""

type Words = tuple[str, ...]


def groups[T](texts: Iterable[tuple[T, Hashable, str]]) -> list[list[T]]:
    """Things whose texts say much the same, together; things of different kinds never. In the order of the first of each.

    Only those that begin or end alike are compared, and hold the same numbers.
    """
    grouped: list[list[T]] = []
    alike: dict[Hashable, list[tuple[Compared, list[T]]]] = {}
    for thing, kind, text in texts:
        first, last = _letters(text[: 2 * END])[:END], _letters(text[-2 * END :])[-END:]
        compared = Compared(text)
        places = [alike.setdefault((kind, compared.numbers, end), []) for end in (("first", first), ("last", last))]
        group = next((others for place in places for other, others in place if is_alike(compared, other)), None)
        if group is None:
            group = []
            grouped.append(group)
        group.append(thing)
        for place in places:
            place.append((compared, group))
    return grouped


def repeating[T](texts: Iterable[tuple[T, str]], lines: Iterable[str]) -> list[T]:
    """The things whose texts say much the same as one of the lines, or as a text before theirs.

    What is too long to be compared whole repeats nothing, nor what has no words.
    """
    compared: list[tuple[T | None, str]] = [*((None, line) for line in lines), *texts]
    grouped = groups((thing, None, text) for thing, text in compared if len(text) <= LONGEST and WORD.search(text))
    return [thing for group in grouped for thing in group[1:] if thing is not None]


def said_again(texts: Iterable[str]) -> set[int]:
    """The places of the texts that say much the same as a later one."""
    return {n for group in groups((n, None, text) for n, text in enumerate(texts)) for n in group if n < max(group)}


class Compared:
    """A text with its words, which are looked for once, and only where there is another to compare them with."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> Words:
        return _words(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(filter(DIGIT.search, self.words)) if DIGIT.search(self.text[:LONGEST]) else frozenset()

    @cached_property
    def unique(self) -> frozenset[str]:
        return frozenset(self.words)


def is_alike(one: Compared, other: Compared) -> bool:
    if one.text == other.text:
        return True
    if one.numbers != other.numbers:
        return False
    if one.words == other.words:
        return asks(one.text) == asks(other.text)
    mine, theirs = one.unique, other.unique
    if not (mine <= theirs or theirs <= mine):
        return False
    more = mine ^ theirs
    most = max(len(mine), len(theirs))
    if most < LEAST_WORDS or len(more) > (1 - SHARED) * most:
        return False
    return _tone(one.text) == _tone(other.text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _words(text: str) -> Words:
    return tuple(WORD.findall(text[:LONGEST].casefold()))


def _tone(text: str) -> tuple[bool, bool]:
    return bool(NEGATED.search(text[:LONGEST].replace("’", "'"))), asks(text)
