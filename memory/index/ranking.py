"""Which turns of a user bear on a text: ranked inside PostgreSQL, best first.

The words of the text are looked up in an inverted index, the rarest first, so that the cost doesn't grow with common words.
Turns are scored by BM25, more for each further word that they hold; a score is spread to the turns around, since an answer
stands beside its question. Whoever is named in the text, or means himself, and days that it names count besides.
"""

import json
import math
import re
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate, combinations
from typing import Any

from django.db.backends.postgresql.psycopg_any import Jsonb

from conversations.runtime.sql_files import read_statements
from memory.index.word_index import COMMON, SaidTurn, day_term, indexed, role
from memory.language.days import Span, spans
from memory.language.words import stems, term

MOST_WORDS = 12
MOST_FETCHED = 400
"""Turns that are scored, about: those with the rarest of the words, and those that share two of the others."""
MOST_SCORED = 100
"""Turns whose score is spread to those around, at least."""
FEW_TURNS = 2_000
"""So few are all scored that hold any of the words."""
SHARES = (1.0, 0.6, 0.4, 0.3, 0.2, 0.1)
"""What a turn gets of the score of one that stands so far away."""
AROUND = [(side * distance, share) for distance, share in enumerate(SHARES) for side in ((1, -1) if distance else (1,))]
FURTHER_WORD = 0.5
SPOKEN, IN_SPAN, ASKING = 0.4, 0.5, -0.2
"""What is added to a score, as a part of it, for being said by whom is meant, in a span that is named, and as a question."""
PAIRS = 4
TOGETHER = 4
"""How much more often two words stand together than by chance, about."""
AFTERWARDS = timedelta(days=1)
"""A day is often told of on the next."""
NOTHING = 0
"""A term that no turn has."""

SELF = re.compile(
    r"\b(?:i|i'm|my|me|mine|ich|mein\w*|mir|mich|je|mon|ma|mes|moi|yo|mi|mis|io|mio|mia|eu|meu|minha|я|мой|моя|мне)\b|我"
)
OTHER = re.compile(
    r"\byou(?:'ve| have)? (?:\w+ )?(?:said|say|told|tell|suggest\w*|recommend\w*|mention\w*|gave|give|list\w*|wrote|explain\w*"
    r"|propos\w*|advis\w*|describ\w*|show\w*|provid\w*)\b|\byour (?:\w+ )?(?:suggestion|recommendation|advice|answer|list)s?\b"
)

SQL = read_statements(__file__)
STATEMENT, VOCABULARY = SQL["rank"], SQL["vocabulary"]


@dataclass(frozen=True, kw_only=True)
class WordCounts:
    """How many turns a user has, how many words that count stand in them, and of the words asked for those that are common.

    ``shares``: term to the share of turns that hold it, where that is known to be large. ``names`` are speakers' terms.
    """

    turns: int = 0
    length: int = 0
    shares: Mapping[int, float] = field(default_factory=dict)
    names: frozenset[int] = frozenset()

    @property
    def mean_length(self) -> float:
        return max(1.0, self.length / self.turns) if self.turns else 12.0


@dataclass(frozen=True, kw_only=True)
class Query:
    """What is looked for: terms, who would have said it, and in which spans of days."""

    user: int
    terms: Sequence[int]
    spans: Sequence[Span] = ()
    mentions_self: bool = False
    other: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.terms or self.spans)


def query_of(user_id: int, text: str, at: datetime) -> Query:
    """What a text asks for at this time. Pure."""
    named = spans(text, at.date())
    left = text
    for span in named:
        left = left.replace(span.text, " ")
    folded = text.casefold()
    other = bool(OTHER.search(folded))
    return Query(
        user=user_id,
        terms=tuple(dict.fromkeys(term(user_id, stem) for stem in stems(left)[:200])),
        spans=tuple(named),
        mentions_self=not other and bool(SELF.search(folded)),
        other=other,
    )


def counts_of(row: Sequence[Any] | None) -> tuple[WordCounts, datetime | None]:
    """The columns of ``VOCABULARY``, and until when all is indexed. Pure."""
    if row is None:
        return WordCounts(), None
    turns, length, names, until, shares = row
    common = {int(term): share / 1_000_000 for term, share in json.loads(shares or "{}").items()}
    return WordCounts(turns=turns, length=length, shares=common, names=frozenset(names)), until


def values_of(
    query: Query,
    counts: WordCounts,
    fresh: Iterable[SaidTurn],
    *,
    wanted: int,
    here: uuid.UUID | None = None,
    before: int = 0,
) -> dict[str, Any]:
    """What ``STATEMENT`` is asked with. ``fresh`` are turns that are not indexed yet; of the thread ``here``, only what comes
    before this depth is wanted. Pure."""
    speakers = [number for number in query.terms if number in counts.names]
    terms = [number for number in query.terms if number not in counts.names] or speakers
    rare = 1 / (2 * COMMON)
    holding = {number: counts.turns * counts.shares.get(number, rare) for number in terms}
    terms = sorted(terms, key=lambda number: holding[number])[:MOST_WORDS]
    fetched, pairs = _chosen(terms, holding, counts.turns)
    known = [-1.0 if number in fetched else holding[number] for number in terms]
    days = [day_term(query.user, day) for span in query.spans if span.narrow for day in _with_afterwards(span).days]
    if query.mentions_self:
        speakers.append(term(query.user, role("user")))
    if query.other:
        speakers.append(term(query.user, role("assistant")))
    return {
        "user": query.user,
        "terms": terms,
        "known": known,
        "rare": [*fetched, *days],
        "turns": counts.turns,
        "mean": counts.mean_length,
        "fresh": Jsonb([indexed(query.user, turn) for turn in fresh]),
        "spans": [f"[{span.first},{_with_afterwards(span).last}]" for span in query.spans],
        "speakers": speakers,
        "away": [away for away, _ in AROUND],
        "share": [share for _, share in AROUND],
        "further": FURTHER_WORD,
        "spoken": SPOKEN,
        "asking": ASKING,
        "in_span": IN_SPAN,
        "wanted": wanted,
        "scored": max(MOST_SCORED, 2 * wanted),
        "here": here,
        "before": before,
        "most": FEW_TURNS,
        **{f"t{n}": terms[n] if n < len(terms) else None for n in range(MOST_WORDS)},
        **{f"p{n}": pairs[n] if n < len(pairs) else [NOTHING] for n in range(PAIRS)},
    }


def _with_afterwards(span: Span) -> Span:
    return Span(first=span.first, last=span.last + AFTERWARDS)


def _chosen(terms: Sequence[int], holding: Mapping[int, float], turns: int) -> tuple[list[int], list[list[int]]]:
    """Which turns are fetched: all with one of the rarest terms, then those that hold two of the next. Rarest terms first."""
    if turns <= FEW_TURNS:
        return list(terms), []
    totals = list(accumulate(holding[term] for term in terms))
    fetched = list(terms[: bisect_right(totals, MOST_FETCHED)])
    pairs: list[list[int]] = []
    left = MOST_FETCHED - (totals[len(fetched) - 1] if fetched else 0)
    for pair in combinations(terms[len(fetched) : len(fetched) + PAIRS], 2):
        left -= min(holding[pair[0]], TOGETHER * holding[pair[0]] * holding[pair[1]] / turns)
        if (left < 0 and (fetched or pairs)) or len(pairs) == PAIRS:
            break
        pairs.append(list(pair))
    return (fetched, pairs) if fetched or pairs else (list(terms[:1]), [])


def score_of(query: Query, counts: WordCounts, text: str) -> float:
    """How much a short text of its own, such as a fact, bears on what was asked, on the scale of turns. Pure."""
    terms = {term(query.user, stem) for stem in stems(text)} & {*query.terms}
    turns = max(counts.turns, 1)
    weight = sum(math.log(1 + 1 / max(counts.shares.get(number, 1 / (2 * COMMON)), 1 / turns)) for number in terms)
    return weight * (1 + FURTHER_WORD * (len(terms) - 1)) * sum(SHARES) if terms else 0.0
