"""What a sentence tells to hold in a person's life, or to have ended, by kind (a home, a car): ``fact_kinds.toml``. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conversations.runtime.word_tables import pattern_for_later, read_tables
from memory.language import cue_phrases

TABLES = read_tables(__file__)
NOTHING = "(?!)"


@dataclass(frozen=True, kw_only=True, slots=True)
class FactKind:
    """``is_single``: a person has one of it at a time. ``is_own``: it is told of the person alone, not of somebody near."""

    name: str
    is_single: bool
    is_own: bool
    holds: re.Pattern[str]
    ends: re.Pattern[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """What a sentence says of a kind, from ``start`` on. ``aspect`` is which of several a person has one each of, or of what
    ends what it is: all of the kind where it is empty."""

    kind: FactKind
    aspect: str
    ends: bool
    start: int


def _kind(name: str, table: dict[str, Any]) -> FactKind:
    holds, ends = ("|".join(table.get(key, [NOTHING])) for key in ("holds", "ends"))
    return FactKind(
        name=name,
        is_single=table.get("is_single", False),
        is_own=table.get("is_own", False),
        holds=pattern_for_later(holds, TABLES["parts"]),
        ends=pattern_for_later(ends, TABLES["parts"]),
    )


KINDS = tuple(_kind(name, table) for name, table in TABLES.items() if "holds" in table)
LIKES, DISLIKES = (pattern_for_later(TABLES["feelings"][name], TABLES["parts"]) for name in ("likes", "dislikes"))


@lru_cache(maxsize=8_192)
def claims_of(text: str) -> tuple[Claim, ...]:
    """What a sentence says, at most that one thing of a kind holds and one ends."""
    return tuple(_claims(text.replace("’", "'")))


def _claims(text: str) -> Iterator[Claim]:
    of_another = cue_phrases.KINDRED.match(text)
    for kind in KINDS:
        if kind.is_own and of_another:
            continue
        for pattern, ends in ((kind.holds, False), (kind.ends, True)):
            if match := pattern.search(text):
                aspect = next(filter(None, match.groupdict().values()), "")
                yield Claim(kind=kind, aspect=aspect.casefold().strip(), ends=ends, start=match.start())
