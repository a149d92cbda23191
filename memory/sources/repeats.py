"""Which texts say much the same, word for word. Pure.

Names, numbers and a "not" tell texts apart, so two are taken for one only where nothing but marks, capitals, or one word in ten
that the other leaves away lies between them.
"""

import re
from collections.abc import Hashable, Iterable

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

    Only those that begin or end alike are compared.
    """
    grouped: list[list[T]] = []
    alike: dict[Hashable, list[tuple[str, list[T]]]] = {}
    for thing, kind, text in texts:
        first, last = _letters(text[: 2 * END])[:END], _letters(text[-2 * END :])[-END:]
        places = [alike.setdefault((kind, "first", first), []), alike.setdefault((kind, "last", last), [])]
        group = next((others for place in places for other, others in place if is_alike(text, other)), None)
        if group is None:
            group = []
            grouped.append(group)
        group.append(thing)
        for place in places:
            place.append((text, group))
    return grouped


def is_alike(text: str, other: str) -> bool:
    words, others = _words(text), _words(other)
    if words == others:
        return asks(text) == asks(other)
    mine, theirs = set(words), set(others)
    more = mine ^ theirs
    most = max(len(mine), len(theirs))
    if most < LEAST_WORDS or len(more) > (1 - SHARED) * most or not (mine <= theirs or theirs <= mine):
        return False
    return not any(map(DIGIT.search, more)) and _tone(text) == _tone(other)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _words(text: str) -> Words:
    return tuple(WORD.findall(text[:LONGEST].casefold()))


def _tone(text: str) -> tuple[bool, bool]:
    return bool(NEGATED.search(text.replace("’", "'"))), asks(text)
