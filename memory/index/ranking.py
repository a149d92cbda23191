"""Which passages of a user's turns bear on a text: ranked inside PostgreSQL, best first.

The words of the text are looked up in an inverted index, the rarest first, so that the cost doesn't grow with common words.
Passages are scored by BM25, more for each further word that they hold, and more in conversations that hold more of the words;
a score is spread to the turns around, since an answer stands beside its question. Whoever is named in the text, or means
himself, and days that it names count besides.
"""

import json
import math
import re
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import accumulate, combinations
from typing import Any, NamedTuple

from django.db.backends.postgresql.psycopg_any import Jsonb

from conversations.runtime.sql_files import read_statements
from memory.index.word_index import COMMON, SaidTurn, day_term, mentioned_day_term, role, rows_of
from memory.language.days import Span, spans
from memory.language.words import asking_stems, asks, spelling_terms, stems, term, words_in_families

MOST_WORDS = 12
MOST_FETCHED = 400
"""Passages that are scored, about: those with the rarest of the words, and those that share two of the others."""
MOST_HERE = 1_000
"""Passages that are looked at for the next words, of which those of the thread that is asked in are scored."""
MOST_SCORED = 100
"""Passages whose score is spread to the turns around, at least."""
FEW_PASSAGES = 2_000
"""So few are all scored that hold any of the words."""
ASKING_SHARE = 0.3
"""The share of passages that is taken to hold a word by which somebody says how an answer is wanted: it weighs little."""
FURTHER_WORD = 0.5
"""What each further word adds to the weight of a fact, as the statement has it for passages."""
FACT = 5.2
"""How much more a fact bears on what is asked than a turn of the same words, which shares its score with those around."""
MOST_LOOKED_AT = 200
"""Words of a text."""
LONG = 4
"""Letters of a word that can be told when it is misspelt."""
PAIRS = 3
TOGETHER = 4
"""How much more often two words stand together than by chance, about."""
AFTERWARDS = timedelta(days=1)
"""A day is often told of on the next."""
ALIKE = 0.8
"""The share of words that two texts have in common where one says nothing that the other does not."""
LONG_ECHO = 20
"""Words that count, of a part of a long request."""
NEVER = 1 << 20
"""Words that no passage has."""
NOTHING = 0
"""A term that no turn has."""

SELF = re.compile(
    r"\b(?:i|i'm|my|me|mine|ich|mein\w*|mir|mich|je|mon|ma|mes|moi|yo|mi|mis|io|mio|mia|eu|meu|minha"
    r"|я|мой|моя|мне)\b|我"
)
OTHER = re.compile(
    r"\byou(?:'ve| have)? (?:\w+ )?(?:said|say|told|tell|suggest\w*|recommend\w*|mention\w*|gave|give|list\w*|wrote|explain\w*"
    r"|propos\w*|advis\w*|describ\w*|show\w*|provid\w*)\b|\byour (?:\w+ )?(?:suggestion|recommendation|advice|answer|list)s?\b"
)

SQL = read_statements(__file__)
STATEMENT, SPELLINGS, VOCABULARY = SQL["rank"], SQL["spellings"], SQL["vocabulary"]


@dataclass(frozen=True, kw_only=True)
class WordCounts:
    """How many passages a user has, how many words that count stand in them, and of the words asked for those that are common.

    ``shares``: term to the share of passages that hold it, where that is known to be large. ``names`` are speakers' terms.
    """

    passages: int = 0
    length: int = 0
    shares: Mapping[int, float] = field(default_factory=dict)
    names: frozenset[int] = frozenset()

    @property
    def mean_length(self) -> float:
        return max(1.0, self.length / self.passages) if self.passages else 12.0


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word that is looked for: its term, and those of other forms and spellings that count as much.

    ``forms`` are the stems of the others but misspellings, ``is_asking``: it says how an answer is wanted.
    """

    text: str
    term: int
    others: tuple[int, ...] = ()
    forms: frozenset[str] = frozenset()
    is_asking: bool = False

    @property
    def terms(self) -> tuple[int, ...]:
        return (self.term, *self.others)


class RankedPassage(NamedTuple):
    """Where a passage stands, as ``STATEMENT`` gives it: of the turn at a depth of a thread, which has so many ``passages``."""

    thread: uuid.UUID
    depth: int
    number: int
    position: int
    start: int
    size: int
    passages: int
    score: float


@dataclass(frozen=True, kw_only=True)
class Query:
    """What is looked for: words, who would have said it, and in which spans of days."""

    user: int
    words: Sequence[Word]
    spans: Sequence[Span] = ()
    mentions_self: bool = False
    other: bool = False
    asks: bool = False

    @property
    def long_terms(self) -> list[int]:
        return [word.term for word in self.words if len(word.text) >= LONG][:MOST_WORDS]

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.spans)


def query_of(user_id: int, text: str, at: datetime, zone: tzinfo = UTC) -> Query:
    """What a text asks for at this time, by a person whose days are those of ``zone``. Pure."""
    named = spans(text, at.astimezone(zone).date())
    left = text
    for span in named:
        left = left.replace(span.text, " ")
    folded = text.casefold()
    other = bool(OTHER.search(folded))
    return Query(
        user=user_id,
        words=(*_words(user_id, left), *_mentioned_days(user_id, named)),
        spans=tuple(_in_utc(span, zone) for span in named),
        mentions_self=not other and bool(SELF.search(folded)),
        other=other,
        asks=asks(text),
    )


def _in_utc(span: Span, zone: tzinfo) -> Span:
    """The days of UTC, by which turns are indexed, that days of a zone reach into. Pure."""
    if zone is UTC or span.first == date.min or span.last == date.max:
        return span
    first = datetime.combine(span.first, time.min, zone).astimezone(UTC)
    last = datetime.combine(span.last, time.max, zone).astimezone(UTC)
    return replace(span, first=first.date(), last=last.date())


def _words(user_id: int, text: str) -> Iterator[Word]:
    """Each with its stems by all languages, for a short text hardly tells its own, and with those of its family."""
    asking = asking_stems(text)
    for stem, others in dict(words_in_families(text)[:MOST_LOOKED_AT]).items():
        terms = tuple(term(user_id, other) for other in others)
        yield Word(text=stem, term=term(user_id, stem), others=terms, forms=others, is_asking=stem in asking)


def _mentioned_days(user_id: int, named: Iterable[Span]) -> Iterator[Word]:
    """Days as words: who told of one may have done so on another."""
    for span in named:
        if span.narrow:
            first, *others = [mentioned_day_term(user_id, day) for day in span.days]
            yield Word(text="", term=first, others=tuple(others))


def misspelt(query: Query, missing: Iterable[int]) -> dict[int, Word]:
    """What the words of a query may be written as by mistake, of those that stand nowhere: term to word. Pure."""
    nowhere = {*missing}
    return {
        number: word for word in query.words if word.term in nowhere for number in spelling_terms(query.user, word.text)
    }


def with_spellings(query: Query, words: Mapping[int, Word]) -> Query:
    """The query with these spellings of its words as well. Pure."""
    more = {word.term: tuple(number for number, other in words.items() if other is word) for word in words.values()}
    return replace(
        query,
        words=[replace(word, others=(*word.others, *more.get(word.term, ()))) for word in query.words],
    )


def counts_of(row: Sequence[Any] | None) -> tuple[WordCounts, datetime | None]:
    """The columns of ``VOCABULARY``, and until when all is indexed. Pure."""
    if row is None:
        return WordCounts(), None
    turns, length, names, until, shares = row
    common = {int(term): share / 1_000_000 for term, share in json.loads(shares or "{}").items()}
    return WordCounts(passages=turns, length=length, shares=common, names=frozenset(names)), until


def values_of(
    query: Query,
    counts: WordCounts,
    fresh: Iterable[SaidTurn],
    *,
    wanted: int,
    here: uuid.UUID | None = None,
    before: int = 0,
    for_message: bool = False,
) -> dict[str, Any]:
    """What ``STATEMENT`` is asked with. ``fresh`` are turns that are not indexed yet; of the thread ``here``, only what comes
    before this depth is wanted; ``for_message``: echoes are no evidence. Whose memory is open comes beside. Pure."""
    named = [word for word in query.words if not counts.names.isdisjoint(word.terms)]
    words = [word for word in query.words if word not in named] or named
    return {
        "user": query.user,
        **_word_values(query, words, counts, has_place=bool(here)),
        **_echo_values(query, for_message=for_message),
        "passages": counts.passages,
        "mean": counts.mean_length,
        "fresh": Jsonb([row for turn in fresh for row in rows_of(query.user, turn)]),
        "spans": [f"[{span.first},{_with_afterwards(span).last}]" for span in query.spans],
        "speakers": _speakers(query, named, counts),
        "person": term(query.user, role("user")),
        "wanted": wanted,
        "scored": max(MOST_SCORED, wanted),
        "here": here,
        "before": before,
        "most": FEW_PASSAGES,
    }


def _word_values(query: Query, words: Sequence[Word], counts: WordCounts, *, has_place: bool) -> dict[str, Any]:
    """The rarest of the words, by how passages with them are found. ``has_place``: of the next ones, passages are looked at in
    the thread that is asked in."""
    holding = {word.term: _passages_with(word, counts) for word in words}
    words = sorted(words, key=lambda word: holding[word.term])[:MOST_WORDS]
    fetched, pairs = _chosen([word.term for word in words if not word.is_asking], holding, counts.passages)
    rare = [word for word in words if word.term in fetched]
    common = [word for word in words if word.term not in fetched]
    totals = accumulate(holding[word.term] for word in common)
    looked_at = [word for word, total in zip(common, totals, strict=True) if has_place and total <= MOST_HERE]
    days = [day_term(query.user, day) for span in query.spans if span.narrow for day in _with_afterwards(span).days]
    return {
        "others": [number for word in words for number in word.others],
        "places": [place for place, word in enumerate(words) for _ in word.others],
        "known": [-1.0 if word in rare or not counts.passages else holding[word.term] for word in words],
        "rare": [*_terms(rare), *days],
        "rest": _terms(looked_at) or [NOTHING],
        **{f"t{n}": words[n].term if n < len(words) else None for n in range(MOST_WORDS)},
        **{f"p{n}": pairs[n] if n < len(pairs) else [NOTHING] for n in range(PAIRS)},
    }


def _passages_with(word: Word, counts: WordCounts) -> float:
    """About how many hold it."""
    if word.is_asking:
        return counts.passages * ASKING_SHARE
    rare = 1 / (2 * COMMON)
    return counts.passages * sum(counts.shares.get(number, 0) for number in word.terms) or counts.passages * rare


def _speakers(query: Query, named: Iterable[Word], counts: WordCounts) -> list[int]:
    """Who would have said it."""
    return [
        *(number for number in _terms(named) if number in counts.names),
        *([term(query.user, role("user"))] if query.mentions_self else []),
        *([term(query.user, role("assistant"))] if query.other else []),
    ]


def _terms(words: Iterable[Word]) -> list[int]:
    return [number for word in words for number in word.terms]


def _echo_values(query: Query, *, for_message: bool) -> dict[str, Any]:
    """Which words and lengths make a passage an echo of a message. What says the same without asking answers a question. Who
    searches wants to find what was asked, too."""
    length = len(query.words) if for_message else 0
    return {
        "every": _terms(query.words),
        "longest": int(length / ALIKE) if length else -1,
        "shortest": NEVER if query.asks else max(1, min(LONG_ECHO, math.ceil(length * ALIKE))),
    }


def _with_afterwards(span: Span) -> Span:
    return Span(first=span.first, last=span.last + AFTERWARDS)


def _chosen(terms: Sequence[int], holding: Mapping[int, float], turns: int) -> tuple[list[int], list[list[int]]]:
    """Which turns are fetched: all with one of the rarest terms, then those that hold two of the next. Rarest terms first."""
    if turns <= FEW_PASSAGES:
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
    terms = {term(query.user, stem) for stem in stems(text)}
    shared = [word.term for word in query.words if not word.is_asking and not terms.isdisjoint(word.terms)]
    passages = max(counts.passages, 1)
    weight = sum(math.log(1 + 1 / max(counts.shares.get(number, 1 / (2 * COMMON)), 1 / passages)) for number in shared)
    return weight * (1 + FURTHER_WORD * (len(shared) - 1)) * FACT if shared else 0.0
