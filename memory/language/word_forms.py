"""Irregular forms, short forms and numbers, each with the word that it is found by. Pure."""

from collections.abc import Mapping
from typing import Any

from conversations.runtime.word_tables import read_tables

TABLES: Mapping[str, Any] = read_tables(__file__)


def bases_of(language: str) -> dict[str, str]:
    """Form to word, case folded: of the language, and what is written short in any."""
    tables = (TABLES["short"], TABLES["numbers"], TABLES["irregular"].get(language, {}))
    return {
        form: base.casefold() for table in tables for base, forms in table.items() for form in forms.casefold().split()
    }
