"""Words within a word as it is written: without the particles of Korean and the prefixes of Hebrew, and the parts of a handle.

They are found beside the word itself, so none of these rules has to be right about every word. Pure.
"""

import re
from collections.abc import Iterator

from conversations.runtime.word_tables import read_tables

HANGUL = re.compile("[\uac00-\ud7a3]{2,}")
HEBREW = re.compile("[\u05d0-\u05ea]{3,}")
LONGEST_WORD = 40
MOST_PARTICLES = 3
PREFIXES = frozenset("הובלמשכ")
SHORTEST = {1: 2, 2: 3}
"""Letters that have to stay when so many prefixes of Hebrew are taken off."""

TABLES = read_tables(__file__)
PARTICLES = sorted(TABLES["particles"]["korean"].split(), key=len, reverse=True)


def parts_of(word: str) -> Iterator[str]:
    """What else a text that holds the word is found by."""
    word = word[:LONGEST_WORD]
    if HANGUL.fullmatch(word):
        yield from _without_particles(word, least=1)
    elif HEBREW.fullmatch(word):
        yield from _without_prefixes(word)
    elif "_" in word:
        yield from filter(None, word.split("_"))


def bases_sought(word: str) -> Iterator[str]:
    """What else a word that is looked for stands for. What a single syllable would be left of is looked for as it is."""
    word = word[:LONGEST_WORD]
    if HANGUL.fullmatch(word):
        yield from _without_particles(word, least=2)
    elif HEBREW.fullmatch(word):
        yield from _without_prefixes(word)


def _without_particles(word: str, *, least: int) -> Iterator[str]:
    """The word after each particle that is taken off its end. A longer particle may leave a single syllable."""
    for _ in range(MOST_PARTICLES):
        particle = next((ending for ending in PARTICLES if word.endswith(ending)), "")
        left = len(word) - len(particle)
        if not particle or left < (least if len(particle) == 1 else 1):
            return
        word = word[:left]
        yield word


def _without_prefixes(word: str) -> Iterator[str]:
    for taken, shortest in SHORTEST.items():
        if word[taken - 1] not in PREFIXES or len(word) - taken < shortest:
            return
        yield word[taken:]
