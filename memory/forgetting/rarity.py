"""Which words of a fact give it away alone, as an answer does to whoever was told the fact before. Pure.

They are names, codes, numbers of three digits that are no years, and what is rare with the person and stands in what the fact
says, not in what it says that of: in "my boat is called Quillhaven" the name, not the boat.
"""

import re
from collections.abc import Sequence

from conversations.runtime.word_tables import read_tables

COMMON, FEW = 100, 10
"""A word is common that stands in more than one of so many turns, and in more than so few."""

YEAR = re.compile(r"(?:19|20)\d\d")
DIGIT = re.compile(r"\d")
THREE_DIGITS = re.compile(r"\d\D*\d\D*\d")

NAMING, BEING, ARTICLES, OWNING, CALENDAR = (
    frozenset(read_tables(__file__)[name].split()) for name in ("naming", "being", "article", "owning", "calendar")
)


def is_common(count: int, turns: int) -> bool:
    """Whether a word that stands in ``count`` of so many turns is one that the person uses all the time."""
    return count > FEW and count * COMMON > turns


def is_capital(written: Sequence[str], place: int) -> bool:
    """Whether a word of a sentence is written as names are, and not merely because it is the first."""
    word = written[place]
    return word[:1].isupper() and (place > 0 or word[1:] != word[1:].lower())


def singled_out(written: Sequence[str], place: int, *, is_rare: bool) -> bool:
    word, before = written[place].casefold(), written[place - 1].casefold() if place else ""
    if DIGIT.search(word):
        return bool(THREE_DIGITS.search(word)) and not YEAR.fullmatch(word)
    if word in CALENDAR:
        return False
    if before in NAMING:
        return True
    if is_capital(written, place) and not " ".join(written).isupper():
        return before not in OWNING and not (place == 1 and before in ARTICLES)
    return is_rare and place > _frame(written)


def _frame(written: Sequence[str]) -> int:
    """The place of the last word of what a sentence says something of: "my boat is called …"."""
    places = [place for place, word in enumerate(written) if word.casefold() in BEING]
    named = [place for place, word in enumerate(written) if word.casefold() in NAMING]
    return max([*places[:1], *named[:1]], default=-1)
