"""Texts as the words that they can be found by: stems, without small words. Pure.

A word is cut to its stem by the language that its text is in; scripts that write no spaces are cut into pairs of characters.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

import snowballstemmer

from memory.languages import SMALL_WORDS

LONGEST_TEXT = 100_000
"""Characters of a text that are looked at."""
LONGEST_WORD = 40

# Marks belong to the letters that they stand on: without the ranges of Indic scripts their words would fall apart.
WORD = re.compile(r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u0dff]+")
UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
)
CYRILLIC = re.compile("[\u0400-\u04ff]")
MARKS = re.compile("[\u0300-\u036f]")
SPEAKER = re.compile(r"\s*([^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,2}): ")
QUESTION_END = re.compile(r"[?？؟][\W_]*$")

SMALL = {language: frozenset(words.split()) for language, words in SMALL_WORDS.items()}
SMALL_ANYWHERE = frozenset(word for words in SMALL.values() for word in words)
STEMMERS = {language: snowballstemmer.stemmer(language) for language in SMALL}


def stems(text: str) -> list[str]:
    """The stems of a text in their order, each as often as it stands there."""
    text = unicodedata.normalize("NFKC", text[:LONGEST_TEXT]).casefold()
    words = [word for found in WORD.findall(text) for word in _parts(found)]
    language = _language(words)
    small = SMALL[language]
    return [_stem(word, language) for word in words if word not in small and _tells(word)]


@lru_cache(maxsize=65_536)
def every_stem(word: str) -> frozenset[str]:
    """The stems of a word by all languages, for a text too short to tell its language."""
    return frozenset(_stem(word, language) for language in STEMMERS)


def speaker(text: str) -> tuple[str, str]:
    """The stem of the name that a text begins with, as in transcripts ("Ada: Good morning"), and the rest; else no name."""
    found = SPEAKER.match(text)
    if found is None or not found[1][0].isupper():
        return "", text
    named = stems(found[1].split()[0])
    return (named[0], text[found.end() :]) if named else ("", text)


def asks(text: str) -> bool:
    """Whether a text ends as a question."""
    return bool(QUESTION_END.search(text[-200:]))


@lru_cache(maxsize=65_536)
def term(user_id: int, stem: str) -> int:
    """A stem as one user's term, a number of 32 bits but 0: so one index serves each user apart."""
    number = crc32(stem.encode("utf-8", "replace"), crc32(str(user_id).encode()))
    return (number - (1 << 32) if number >> 31 else number) or 1


def _parts(word: str) -> list[str]:
    """A word, and what is written without spaces as pairs of characters."""
    if word.isascii():
        return [word]
    parts: list[str] = []
    for run in filter(None, UNSPACED.split(word)):
        if not UNSPACED.match(run) or len(run) == 1:
            parts.append(run)
        else:
            parts += [first + second for first, second in pairwise(run)]
    return parts


def _tells(word: str) -> bool:
    return len(word) > 1 or not (word.isascii() and word.isalpha())


def _language(words: list[str]) -> str:
    """Whose small words are the most; English where there are none."""
    known = [word for word in words if word in SMALL_ANYWHERE]
    if not known:
        return "russian" if any(map(CYRILLIC.search, words)) else "english"
    return max(SMALL, key=lambda language: sum(word in SMALL[language] for word in known))


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    stem: str = STEMMERS[language].stemWord(word[:LONGEST_WORD])
    return MARKS.sub("", unicodedata.normalize("NFKD", stem)) if not stem.isascii() else stem
