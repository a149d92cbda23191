"""Texts as the words that they can be found by: stems, without small words. Pure.

A word is cut to its stem by the language that its text is in; scripts that write no spaces are cut into pairs of characters.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from zlib import crc32

import snowballstemmer

from conversations.runtime.word_tables import read_tables
from memory.language.emoji import words_for_things
from memory.language.word_forms import bases_of

LONGEST_TEXT = 100_000
"""Characters of a text that are looked at."""
LONGEST_SAMPLE = 2_000
LONGEST_WORD = 40
MOST_SOUGHT = 12

type Sought = frozenset[str]
"""The stems of one word by all languages."""

# Marks belong to the letters that they stand on: without the ranges of Indic scripts their words would fall apart.
LETTER = r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u0dff]"
WORD = re.compile(f"{LETTER}+")
UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
)
SCRIPTS = {"russian": re.compile("[\u0400-\u04ff]"), "arabic": re.compile("[\u0600-\u06ff]")}
MARKS = re.compile("[\u0300-\u036f]")
ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя")
"""Letters of stems, which have no marks."""
REPEATED = re.compile(r"(.)\1{2,}")
SPEAKER = re.compile(r"\s*([^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,2}): ")
QUESTION_END = re.compile(r"[?？؟](?:[^\w?？؟]|_)*$")
BARE = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)

TABLES = read_tables(__file__)
SMALL: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in TABLES["small"].items()}
ALONE = frozenset("".join(TABLES["alone"]["chinese"].split()))
SMALL_ANYWHERE = frozenset(word for words in SMALL.values() for word in words)
BASES = {language: bases_of(language) for language in SMALL}


class Stemmers(threading.local):
    """A thread's own, by language: one keeps the word that it works on, and another thread's would be mixed into it."""

    def __init__(self) -> None:
        self.by_language = {language: snowballstemmer.stemmer(language) for language in SMALL}


STEMMERS = Stemmers()


def language_of(text: str) -> str:
    """The language whose small words a text has most of."""
    return _language(_words(text[:LONGEST_SAMPLE]))


def stems(text: str, language: str = "") -> list[str]:
    """The stems of a text in their order, each as often as it stands there; in the language that it is a part of a text of."""
    telling, language = _telling(text, language)
    return [
        *(_stem(word, language) for word in telling),
        *(_stem(word, "english") for word in words_for_things(text[:LONGEST_TEXT])),
    ]


def words_of(text: str) -> list[tuple[str, frozenset[str]]]:
    """The words of a question in their order: the stem by its language, and those by all others."""
    telling, language = _telling(text)
    telling += words_for_things(text[:LONGEST_TEXT])
    return [(stem := _stem(word, language), every_stem(word) - {stem}) for word in telling]


def _telling(text: str, language: str = "") -> tuple[list[str], str]:
    """Its words but the small ones, and the language that it is in unless that is known."""
    words = _words(text)
    language = language or _language(words)
    small = SMALL[language]
    return [word for word in words if word not in small and _tells(word)], language


def spellings(stem: str) -> set[str]:
    """What a stem may be written as by mistake: with one letter more, less, another, or two swapped; the first one is right."""
    return {stem[:kept] + tail for kept, tail in _misspelt(stem)} - {stem}


def spelling_terms(user_id: int, stem: str) -> set[int]:
    """The terms of its ``spellings``: there are hundreds, so neither their texts are made nor ``term`` has to keep them."""
    heads = [_seed(user_id)]
    for letter in stem:
        heads.append(crc32(letter.encode("utf-8", "replace"), heads[-1]))
    numbers = {crc32(tail.encode("utf-8", "replace"), heads[kept]) for kept, tail in _misspelt(stem)}
    return {*map(_signed, numbers - {heads[-1]})}


def _misspelt(stem: str) -> Iterator[tuple[int, str]]:
    """How many letters of the stem stay, from one on, and what follows them."""
    letters = next((letters for letters in ALPHABETS if stem[0] in letters), "")
    for kept in range(1, len(stem) + 1):
        tail, rest = stem[kept:], stem[kept + 1 :]
        for letter in letters:
            yield kept, letter + tail
        if tail:
            yield kept, rest
            for letter in letters:
                yield kept, letter + rest
        if rest:
            yield kept, rest[0] + tail[0] + rest[1:]


@lru_cache(maxsize=65_536)
def every_stem(word: str) -> frozenset[str]:
    """The stems of a word by all languages, for a text too short to tell its language."""
    return frozenset(_stem(word, language) for language in SMALL)


def sought(text: str) -> list[Sought]:
    """What stands for each word of a short text, in their order. Small words count only where there are no others."""
    words = [word for word in (*_words(text), *words_for_things(text)) if _tells(word)]
    telling = [word for word in words if word not in SMALL_ANYWHERE] or words
    return [every_stem(word) for word in dict.fromkeys(telling)][:MOST_SOUGHT]


def holds(text: str, wanted: Sequence[Sought]) -> bool:
    """Whether a text holds all of the words."""
    known = {*stems(speaker(text)[1])}
    return all(word & known for word in wanted)


def excerpt(text: str, wanted: Sequence[Sought], length: int = 160) -> tuple[str, list[str]]:
    """About so many characters around the first of the words, on one line, and the words as they stand in them."""
    match = next(_standing(text, wanted), None)
    middle = match[0] if match else 0
    start = max(0, min(middle - length // 3, len(text) - length))
    if start:
        start = text.find(" ", start, middle) + 1 or start
    end = start + length
    if end < len(text):
        end = text.rfind(" ", middle + len(match[1]) if match else start + 1, end) + 1 or end
    part = " ".join(text[start:end].split())
    words = dict.fromkeys(word for _, word in _standing(part, wanted))
    return f"{'…' * (start > 0)}{part}{'…' * (end < len(text))}", list(words)


def marked(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """A text in parts, each with whether it is one of the words, as ``excerpt`` gives them."""
    inside = [False] * len(text)
    for word in words:
        whole = re.escape(word) if UNSPACED.search(word) else f"(?<!{LETTER}){re.escape(word)}(?!{LETTER})"
        for match in re.finditer(f"(?={whole})", text):  # they may overlap
            inside[match.start() : match.start() + len(word)] = [True] * len(word)
    pairs = groupby(zip(text, inside, strict=True), key=itemgetter(1))
    return [("".join(letter for letter, _ in part), is_word) for is_word, part in pairs]


def _standing(text: str, wanted: Sequence[Sought]) -> Iterator[tuple[int, str]]:
    """Where each of the words stands in a text, as it is written there."""
    any_of = frozenset().union(*wanted)
    for match in WORD.finditer(text):
        folded = unicodedata.normalize("NFKC", match[0]).casefold()
        for part in _parts(folded):
            if every_stem(part) & any_of:
                inner = folded.find(part) if len(folded) == len(match[0]) and len(part) < len(folded) else 0
                yield match.start() + inner, match[0][inner : inner + len(part)]


def speaker(text: str) -> tuple[str, str]:
    """The stem of the name that a text begins with, as in transcripts ("Ada: Good morning"), and the rest; else no name."""
    match = SPEAKER.match(text)
    if match is None or not match[1][0].isupper():
        return "", text
    named = stems(match[1].split()[0])
    return (named[0], text[match.end() :]) if named else ("", text)


def bare(text: str) -> str:
    """From its first letter or digit to the last."""
    match = BARE.search(text)
    return match[0] if match else ""


def asks(text: str) -> bool:
    """Whether a text ends as a question."""
    return bool(QUESTION_END.search(text[-200:]))


@lru_cache(maxsize=65_536)
def term(user_id: int, stem: str) -> int:
    """A stem as one user's term, a number of 32 bits but 0: so one index serves each user apart."""
    return _signed(crc32(stem.encode("utf-8", "replace"), _seed(user_id)))


def _seed(user_id: int) -> int:
    return crc32(str(user_id).encode())


def _signed(number: int) -> int:
    return (number - (1 << 32) if number >> 31 else number) or 1


def _words(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text[:LONGEST_TEXT]).casefold()
    return [word for match in WORD.findall(text) for word in _parts(match)]


def _parts(word: str) -> list[str]:
    """A word, and what is written without spaces as pairs of characters, with those that are words alone."""
    if word.isascii():
        return [word]
    parts: list[str] = []
    for run in filter(None, UNSPACED.split(word)):
        if not UNSPACED.match(run) or len(run) == 1:
            parts.append(run)
        else:
            parts += [first + second for first, second in pairwise(run)]
            parts += [character for character in run if character in ALONE]
    return parts


def _tells(word: str) -> bool:
    return len(word) > 1 or not (word.isascii() and word.isalpha())


def _language(words: list[str]) -> str:
    """Whose small words are the most; English where there are none."""
    known = [word for word in words if word in SMALL_ANYWHERE]
    if not known:
        return next((name for name, script in SCRIPTS.items() if any(map(script.search, words))), "english")
    counts = small_word_counts(known, SMALL)
    return max(counts, key=counts.__getitem__)


def small_word_counts(words: Sequence[str], languages: Iterable[str]) -> dict[str, int]:
    """How many of the words, case folded, are small words of each of the languages."""
    return {language: sum(map(SMALL[language].__contains__, words)) for language in languages}


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    word = REPEATED.sub(r"\1\1", word[:LONGEST_WORD])
    stem: str = STEMMERS.by_language[language].stemWord(BASES[language].get(word, word))
    return MARKS.sub("", unicodedata.normalize("NFKD", stem)) if not stem.isascii() else stem
