"""Words that ask for one another, in six languages: ``word_families.toml`` tells them. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from conversations.runtime.word_tables import read_tables

TABLES: Mapping[str, Any] = read_tables(__file__)
LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "ru": "russian", "ar": "arabic"}

type Words = tuple[tuple[str, str], ...]
"""Each with its language."""


def families() -> Iterator[tuple[Words, Words]]:
    """Words that are asked by, and those that they find."""
    for words in TABLES["families"].values():
        yield _words(words), _words(words)
    for words in TABLES["told_by"].values():
        found = (_words(TABLES["families"][name]) for name in words["by"].split())
        yield _words(words), tuple(word for some in found for word in some)


def _words(table: Mapping[str, str]) -> Words:
    return tuple((LANGUAGES[code], word) for code, text in table.items() if code in LANGUAGES for word in text.split())
