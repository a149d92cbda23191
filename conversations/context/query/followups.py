"""Whether a message leans on earlier turns: a local rule, pure, without a model (Q4).

It is careful: what may stand by itself is taken to, because a query that was rewritten for nothing costs time and can mislead.
"""

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Any

from conversations.context.tokens.estimate import text_of
from conversations.context.turns.turn import Turn
from conversations.runtime.values import dataclass
from conversations.runtime.word_tables import pattern, read_tables
from memory.language.words import UNSPACED

LONGEST = 160
"""Characters. A longer message brings its own context."""
LONGEST_UNSPACED = 24
LONGEST_POINTING = 14
LONGEST_ELLIPSIS = 6
FULL_CLAUSE = 3

WORD = re.compile(r"\w+")
CLAUSE_END = re.compile(r"[,.;:!?…–—]")
OWN_MATERIAL = re.compile(r"\n|`|://|[\[{<]")
QUESTION_END = re.compile(r"[?？؟][^\w?？؟]*$")
FROM_WORD_TO_WORD = re.compile(r"\w(?:.*\w)?", re.DOTALL)
NEVER = "(?!)"
KANA = re.compile("[\u3040-\u30ff]")


@dataclass(frozen=True, kw_only=True)
class Language:
    """The small words of a language; what they are for stands at the head of ``followups.toml``."""

    common: frozenset[str]
    pointing: frozenset[str]
    final: frozenset[str]
    questions: frozenset[str]
    openers: tuple[tuple[str, ...], ...]
    special: re.Pattern[str]
    empty: re.Pattern[str]
    writes_nouns_large: bool

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> "Language":
        return cls(
            common=frozenset(table["common"].split()),
            pointing=frozenset(table["pointing"].split()),
            final=frozenset(table.get("final", "").split()),
            questions=frozenset(table["questions"].split()),
            openers=tuple(tuple(opener.split()) for opener in table["openers"]),
            special=pattern(table.get("special", NEVER)),
            empty=pattern(table.get("empty", NEVER)),
            writes_nouns_large=table.get("writes_nouns_large", False),
        )

    @cached_property
    def all_words(self) -> frozenset[str]:
        return self.common | self.pointing | self.questions


TABLES = read_tables(__file__)
LANGUAGES = [Language.of(table) for table in TABLES["languages"].values()]
UNSPACED_PATTERNS = {
    script: {name: pattern(text) for name, text in table.items()} for script, table in TABLES["unspaced"].items()
}
SOCIAL, OWN = (frozenset(TABLES["words"][name].split()) for name in ("social", "own"))


class Reference(Enum):
    """How a message leans on what was said before: with a word that points there, or by leaving out what it is about."""

    NONE = "none"
    POINTING = "pointing"
    ELLIPSIS = "ellipsis"


def worth_rewriting(text: str, turns: Sequence[Turn]) -> bool:
    """Whether a contextualised query can help: there is something earlier, and the message leans on it."""
    something_was_said = any(text_of(turn.content).strip() for turn in turns)
    return something_was_said and reference(text, last_question(turns)) is not Reference.NONE


def last_question(turns: Sequence[Turn]) -> str:
    """What the user said last."""
    return next((text_of(turn.content) for turn in reversed(turns) if turn.role == "user"), "")


def reference(text: str, previous: str = "") -> Reference:
    """``previous`` helps to tell the language of a short message."""
    text = text.strip()
    if not text or len(text) > LONGEST or OWN_MATERIAL.search(text):
        return Reference.NONE
    if UNSPACED.search(text):
        return _unspaced_reference(text)
    words = WORD.findall(text.casefold())
    if is_social(text):
        return Reference.NONE
    language = language_of(words, WORD.findall(previous[:LONGEST].casefold()))
    if len(words) <= LONGEST_POINTING and (place := _pointing_at(text, language)) is not None:
        return Reference.NONE if _names_whom(text[:place], language) else Reference.POINTING
    return Reference.ELLIPSIS if _is_ellipsis(text, words, language) else Reference.NONE


def is_social(text: str) -> bool:
    """Greetings, thanks, yes and no; also what has no word at all."""
    return SOCIAL.issuperset(WORD.findall(text.casefold()))


def language_of(words: Sequence[str], previous: Sequence[str]) -> Language:
    """Whose small words are the most in the message, and where that is even, in the one before."""
    return max(LANGUAGES, key=lambda language: (_small_words(words, language), _small_words(previous, language)))


def _small_words(words: Sequence[str], language: Language) -> int:
    return sum(word in language.all_words for word in words)


def _pointing_at(text: str, language: Language) -> int | None:
    """Where the first word that points back begins."""
    text = language.empty.sub(lambda match: " " * len(match.group()), text)
    words = list(WORD.finditer(text))
    places = [match.start() for match in words if match.group().casefold() in language.pointing]
    places += [match.start() for match in words[-1:] if match.group().casefold() in language.final]
    places += [match.start() for match in language.special.finditer(text)]
    return min(places, default=None)


def _names_whom(before: str, language: Language) -> bool:
    """Whether what stands before the pointing word in the message itself tells whom or what it means."""
    *clauses, _open_clause = CLAUSE_END.split(before)
    if sum(len(WORD.findall(clause)) for clause in clauses) >= FULL_CLAUSE:
        return True
    words = WORD.findall(before)
    if any(word.casefold() in OWN for word in words[:-1]):
        return True
    large = [len(word) > 1 and word[0].isupper() and not before.isupper() for word in words[1:]]
    if language.writes_nouns_large:  # one capital is any noun there, two in a row are a name
        return any(first and second for first, second in pairwise(large))
    return any(large)


def _is_ellipsis(text: str, words: Sequence[str], language: Language) -> bool:
    if len(words) <= LONGEST_ELLIPSIS and any(tuple(words[: len(o)]) == o for o in language.openers):
        return True
    if len(words) <= FULL_CLAUSE and language.questions.issuperset(words):
        return True
    return len(words) <= 2 and bool(QUESTION_END.search(text))


def _unspaced_reference(text: str) -> Reference:
    match = FROM_WORD_TO_WORD.search(text)
    bare = match[0] if match else ""
    if len(bare) > LONGEST_UNSPACED:
        return Reference.NONE
    script = UNSPACED_PATTERNS["japanese" if KANA.search(text) else "chinese"]
    if script["ellipsis"].search(bare):
        return Reference.ELLIPSIS
    return Reference.POINTING if script["pointing"].search(script["empty"].sub("", bare)) else Reference.NONE
