"""Texts as the words that they can be found by: stems, without small words. Pure.

A word is cut to its stem by the language that its text is in; scripts that write no spaces are cut into pairs of characters.
"""

import re
import threading
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any
from zlib import crc32

from conversations.runtime.word_tables import read_tables
from memory.language.emoji import words_for_things
from memory.language.word_families import families
from memory.language.word_forms import bases_of
from memory.language.word_parts import LONGEST_WORD, bases_sought, parts_of

LONGEST_TEXT = 100_000
"""Characters of a text that are looked at."""
LONGEST_SAMPLE = 2_000
MOST_SOUGHT = 12

type Sought = frozenset[str]
"""The stems of one word by all languages."""

# Of Arabic and Hebrew nobody types vowel marks where no child or learner is meant to read them; what has no width is not seen.
UNSEEN = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670\u00ad\u200b-\u200d\u2060\ufeff"
# Marks belong to the letters that they stand on: without those of Indic scripts and their kin words would fall apart.
MARKED = (
    "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u0f71-\u0f84\u102b-\u103e\u1056-\u1059\u105e-\u1064\u17b4-\u17d3"
)
LETTER = rf"[\w{MARKED}{UNSEEN}]"
WORD = re.compile(f"{LETTER}+")
SIGNED = r"(?<!\w)(?:[^\W\d_]{1,2}(?:\+\+|#)|[^\W\d_]{1,3}&[^\W\d_]{1,3})(?![^\W\d_])"
"""Names that signs are a part of: C++, C#, R&D, AT&T."""
GROUPED = r"(?<![\w.,])\d{1,3}(?:[.,'’]\d{3})+(?!\d)"
"""Numbers of thousands: 1,299 and 1.299."""
JOINED = re.compile(f"{SIGNED}|{GROUPED}")
TOKEN = re.compile(f"{SIGNED}|{GROUPED}|{LETTER}+")
MAY_BE_JOINED = re.compile(r"[+#&.,'’](?:(?<=\w[+#&])|(?<=\d[.,'’])(?=\d\d\d))")
"""Quick: it begins where a sign stands."""
SEPARATORS = re.compile("[.,'’]")
ALIKE = {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ħ": "h"}
"""Letters that no rule of Unicode takes apart, as who has no such key types them."""
FOLDED = re.compile(f"[{''.join(ALIKE)}{UNSEEN}]")
UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
)
SCRIPTS = {"russian": re.compile("[\u0400-\u04ff]"), "arabic": re.compile("[\u0600-\u06ff]")}
MARKS = re.compile("[\u0300-\u036f]")
UNSEEN_SIGNS = "".join(re.findall(f"[{UNSEEN}\u0300-\u036f]", "".join(map(chr, range(0xAD, 0x2070))))) + "\ufeff"
"""All marks and signs that ``bare_letters`` leaves away."""
ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя")
"""Letters of stems, which have no marks."""
REPEATED = re.compile(r"(.)\1{2,}")
SPEAKER = re.compile(r"\s*([^\W\d_][\w'’.-]{0,30}(?: [^\W\d_][\w'’.-]{0,30}){0,2}): ")
QUESTION_END = re.compile(r"[?？؟](?:[^\w?？؟]|_)*$")
BARE = re.compile(r"[^\W_](?:.*[^\W_])?", re.DOTALL)

TABLES = read_tables(__file__)
SMALL: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in TABLES["small"].items()}
ALONE = frozenset("".join(TABLES["alone"]["chinese"].split()))
ASKING: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in TABLES["asking"].items()}
SMALL_ANYWHERE = frozenset(word for words in SMALL.values() for word in words)
BASES = {language: bases_of(language) for language in SMALL}


class Stemmers(threading.local):
    """A thread's own, by language: one keeps the word that it works on, and another thread's would be mixed into it."""

    @cached_property
    def by_language(self) -> dict[str, Any]:
        import snowballstemmer  # noqa: PLC0415  (loads thirty languages, which no start needs)

        return {language: snowballstemmer.stemmer(language) for language in SMALL}


STEMMERS = Stemmers()


def language_of(text: str) -> str:
    """The language whose small words a text has most of."""
    words = WORD.findall(letters(text[:LONGEST_SAMPLE]))
    return _language([part for word in words for part in _parts(word)])


def letters(text: str) -> str:
    """A text without differences of case, of letters that are typed alike, and of what nobody sees."""
    return alike(unicodedata.normalize("NFKC", text).casefold())


def alike(text: str) -> str:
    """A text in lower case with one letter for those that are typed alike, and without what nobody sees."""
    return text if text.isascii() else FOLDED.sub(lambda match: ALIKE.get(match[0], ""), text)


def bare_letters(text: str) -> str:
    """``letters`` without the marks on them."""
    return MARKS.sub("", unicodedata.normalize("NFKD", letters(text)))


def index_stems(text: str, language: str = "") -> tuple[list[str], list[str]]:
    """The ``stems`` of a text, and what else it is found by: words within its words, and names and numbers with signs."""
    folded = letters(text[:LONGEST_TEXT])
    words, language = _telling(WORD.findall(folded), language)
    pictures = [_stem(word, "english") for word in words_for_things(text[:LONGEST_TEXT])]
    within = [
        _stem(part, language)
        for word in words
        if not word.isascii() or "_" in word
        for part in parts_of(word)
        if _tells(part)
    ]
    return [*(_stem(word, language) for word in words), *pictures], [*within, *_joined(folded)]


def _joined(folded: str) -> Iterator[str]:
    """Names and numbers with signs in them."""
    if MAY_BE_JOINED.search(folded):
        for match in JOINED.findall(folded):
            yield SEPARATORS.sub("", match) if match[0].isdigit() else match


def stems(text: str, language: str = "") -> list[str]:
    """The stems of a text in their order, each as often as it stands there; in the language that it is a part of a text of."""
    telling, language = _telling(WORD.findall(letters(text[:LONGEST_TEXT])), language)
    return [
        *(_stem(word, language) for word in telling),
        *(_stem(word, "english") for word in words_for_things(text[:LONGEST_TEXT])),
    ]


def words_of(text: str) -> list[tuple[str, frozenset[str]]]:
    """The words of a question in their order: the stem by its language, and whatever else stands for the word."""
    words = _sought_words(text)
    language = _language(words)
    telling = [word for word in words if word not in SMALL[language] and _tells(word)]
    telling += words_for_things(text[:LONGEST_TEXT])
    return [
        (stem := word if JOINED.fullmatch(word) else _stem(word, language), _forms(word) - {stem}) for word in telling
    ]


def asking_stems(text: str) -> frozenset[str]:
    """The stems of those words of a question that say how the answer is wanted ("a summary of …", "in which order"); none
    where it has no other words."""
    language = _language(_sought_words(text))
    known = ASKING.get(language, frozenset())
    sought_words = [word for word in _sought_words(text) if word not in SMALL[language] and _tells(word)]
    asking = {word for word in sought_words if word in known}
    return frozenset(_stem(word, language) for word in asking) if len(asking) < len({*sought_words}) else frozenset()


def words_in_families(text: str) -> list[tuple[str, frozenset[str]]]:
    """``words_of``, each also with the stems, in any language, of what tells the same in other words."""
    language = _language(_sought_words(text))
    known = _families()
    return [(stem, others | known.get((language, stem), frozenset()) - {stem}) for stem, others in words_of(text)]


@cache
def _families() -> Mapping[tuple[str, str], frozenset[str]]:
    """By language and stem."""
    by_stem: dict[tuple[str, str], frozenset[str]] = defaultdict(frozenset)
    for asking, found in families():
        stems_found = {_stem(letters(word), language) for language, word in found}
        for language, word in asking:
            by_stem[language, _stem(letters(word), language)] |= stems_found
    return dict(by_stem)


def _telling(written: Iterable[str], language: str = "") -> tuple[list[str], str]:
    """Words but the small ones, and the language that they are in unless that is known."""
    words = [part for word in written for part in ((word,) if word.isascii() else _parts(word))]
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
    """What stands for each word of a short text, in their order, but for small words."""
    words = [word for word in (*_sought_words(text), *words_for_things(text)) if _tells(word)]
    telling = (word for word in words if word not in SMALL_ANYWHERE)
    return [_forms(word) for word in dict.fromkeys(telling)][:MOST_SOUGHT]


def holds(text: str, wanted: Sequence[Sought]) -> bool:
    """Whether a text holds all of the words."""
    words, others = index_stems(speaker(text)[1])
    known = {*words, *others}
    return all(word & known for word in wanted)


def begins(text: str, beginning: str) -> bool:
    """Whether one of the words of a text begins so."""
    return any(_standing(text, [], beginning))


def excerpt(text: str, wanted: Sequence[Sought], length: int = 160, *, beginning: str = "") -> tuple[str, list[str]]:
    """About so many characters around the first of the words, or of what starts with ``beginning``, on one line, and the words
    as they stand in them."""
    match = next(_standing(text, wanted, beginning), None)
    middle = match[0] if match else 0
    start = max(0, min(middle - length // 3, len(text) - length))
    if start:
        start = text.find(" ", start, middle) + 1 or start
    end = start + length
    if end < len(text):
        end = text.rfind(" ", middle + len(match[1]) if match else start + 1, end) + 1 or end
    part = " ".join(text[start:end].split())
    words = dict.fromkeys(word for _, word in _standing(part, wanted, beginning))
    return f"{'…' * (start > 0)}{part}{'…' * (end < len(text))}", list(words)


def marked(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """A text in parts, each with whether it is one of the words, as ``excerpt`` gives them."""
    inside = [False] * len(text)
    for word in words:
        whole = re.escape(word)
        if not UNSPACED.search(word):  # C++ stands in C++17
            whole = f"(?<!{LETTER}){whole}" + (f"(?!{LETTER})" if WORD.match(word[-1]) else "")
        for match in re.finditer(f"(?={whole})", text):  # they may overlap
            inside[match.start() : match.start() + len(word)] = [True] * len(word)
    pairs = groupby(zip(text, inside, strict=True), key=itemgetter(1))
    return [("".join(letter for letter, _ in part), is_word) for is_word, part in pairs]


def _standing(text: str, wanted: Sequence[Sought], beginning: str = "") -> Iterator[tuple[int, str]]:
    """Where each of the words stands in a text, as it is written there."""
    any_of = frozenset().union(*wanted)
    if " " in beginning:
        for match in re.finditer(re.escape(beginning), text, re.IGNORECASE):
            yield match.start(), match[0]
        return
    start = letters(beginning)
    for match in TOKEN.finditer(text):
        word = letters(match[0])
        if (start and word.startswith(start)) or _held_by(word) & any_of:
            yield match.start(), match[0]
            continue
        if UNSPACED.search(word):
            yield from ((match.start() + start, part) for start, part in _pairs_in(match[0], any_of))


def _pairs_in(written: str, any_of: Sought) -> Iterator[tuple[int, str]]:
    """Where pairs of characters stand in what is written without spaces, with the tones that are written on them."""
    places = [place for place, sign in enumerate(written) if not unicodedata.combining(sign)] + [len(written)]
    bare_text = "".join(written[place] for place in places[:-1])
    for part in _parts(letters(written)):
        if every_stem(part) & any_of and (start := bare_text.find(part)) >= 0:
            yield places[start], written[places[start] : places[start + len(part)]]


@lru_cache(maxsize=65_536)
def _held_by(word: str) -> frozenset[str]:
    """All that a token is found by, but for pairs of characters."""
    if JOINED.fullmatch(word):
        return frozenset([SEPARATORS.sub("", word) if word[0].isdigit() else word])
    return every_stem(word).union(*map(every_stem, parts_of(word)))


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


def _sought_words(text: str) -> list[str]:
    """The words of a text that is looked for; names and numbers with signs in them are whole."""
    words: list[str] = []
    for match in TOKEN.findall(letters(text[:LONGEST_TEXT])):
        if not JOINED.fullmatch(match):
            words += _parts(match)
        else:
            words.append(SEPARATORS.sub("", match) if match[0].isdigit() else match)
    return words


def _forms(word: str) -> frozenset[str]:
    """Whatever stands for a word that is looked for."""
    if JOINED.fullmatch(word):
        return frozenset([word])
    return every_stem(word).union(*map(every_stem, bases_sought(word)))


def _parts(word: str) -> list[str]:
    """A word, and what is written without spaces as pairs of characters, with those that are words alone."""
    if word.isascii():
        return [word]
    parts: list[str] = []
    for run in filter(None, UNSPACED.split(word)):
        if not UNSPACED.match(run):
            parts.append(run)
            continue
        run = "".join(sign for sign in run if not unicodedata.combining(sign))  # tones of Thai
        if len(run) == 1:
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
