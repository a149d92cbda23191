"""Months, weekdays, numbers and units of time by language: ``date_words.toml``. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from conversations.runtime.word_tables import read_tables

Numbers = Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class DateWords:
    """What each word of a language stands for. ``pairs`` are two of a unit in one word; a weekend ends on its Sunday."""

    months: Numbers
    weekdays: Numbers
    weekend: Numbers
    numbers: Numbers
    units: Numbers
    pairs: Numbers

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        return cls(
            months=numbered(enumerate(table["months"], 1)),
            weekdays=numbered(enumerate(table["weekdays"])),
            weekend=numbered([(6, table["weekend"])]),
            numbers=numbered(table["numbers"].items()),
            units=numbered(table["units"].items()),
            pairs=numbered(table.get("pairs", {}).items()),
        )


def numbered(table: Iterable[tuple[int | str, str]]) -> dict[str, int]:
    return {word: int(number) for number, words in table for word in words.split("|")}


def any_of(*words: Iterable[str]) -> str:
    """A pattern for one of them. The longest first, for one may begin another."""
    return "|".join(
        re.escape(word) for word in sorted({word for some in words for word in some}, key=len, reverse=True)
    )


def small(text: str) -> str:
    """In small letters, each where it was."""
    if text.isascii():
        return text.lower()
    return text.replace("\u0130", "i").lower().replace("’", "'")


LANGUAGES = {name: DateWords.of(table) for name, table in read_tables(__file__).items()}
