"""The index that turns are found by, kept up. A turn is indexed right after it was stored, by whoever comes first."""

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import batched
from typing import Any

from django.db.backends.postgresql.psycopg_any import Jsonb

from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.language.days import spans
from memory.language.passages import Passage, passages
from memory.language.words import asks, index_stems, language_of, speaker, term
from memory.models import Vocabulary

MOST_TERMS = 1_000
WHOLE = {"user": 1_000, "assistant": 500}
"""Characters up to which a turn is one passage: what a person says seldom stands by itself in parts."""
BATCH = 250
SAMPLE = 4_000
"""Turns that words are counted in."""
COMMON, NAMES = 200, 20
"""One turn of so many holds a common word; is said by somebody whose name counts as a speaker's."""

SQL = read_statements(__file__)


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidTurn:
    """A turn as the index needs it. ``path``: the version of its thread's path that it was read on, if that is to hold."""

    thread: uuid.UUID
    depth: int
    position: int
    role: str
    text: str
    at: datetime
    path: int | None = None


def rows_of(user_id: int, turn: SaidTurn) -> list[dict[str, Any]]:
    """The rows of a turn, one for each passage. Pure."""
    name, body = speaker(turn.text)
    begin = len(turn.text) - len(body)
    language = language_of(body)
    shared = {
        "thread_id": str(turn.thread),
        "depth": turn.depth,
        "position": turn.position,
        "user_id": user_id,
        "day": turn.at.date().isoformat(),
        "speaker": term(user_id, name or role(turn.role)),
    }
    parts = passages(turn.text, whole=WHOLE[turn.role]) or [Passage(start=0, end=0)]
    return [
        shared
        | _passage_columns(user_id, number, part, turn.text[max(part.start, begin) : part.end], language, turn.at)
        for number, part in enumerate(parts)
    ]


def _passage_columns(
    user_id: int, number: int, part: Passage, text: str, language: str, at: datetime
) -> dict[str, Any]:
    words, others = index_stems(text, language)
    unique = list(dict.fromkeys([*words, *others]))[:MOST_TERMS]
    days = [day_term(user_id, at.date())] if text and not number else []
    days += [mentioned_day_term(user_id, day) for day in _mentioned_days(text, at.date())]
    return {
        "number": number,
        "start": part.start,
        "size": part.end - part.start,
        "asks": asks(text),
        "length": len(words),
        "terms": [*dict.fromkeys([*(term(user_id, word) for word in unique), *days])],
    }


def _mentioned_days(text: str, said_on: date) -> Iterator[date]:
    """The days that a text tells of. A date without a year is the last one before it was said."""
    nearest = {span.text: span for span in reversed(spans(text, said_on)) if span.narrow}
    for span in nearest.values():
        yield from span.days


def role(name: str) -> str:
    """What stands for a role where a name could stand: no stem is like this."""
    return f"\0{name}"


def day_term(user_id: int, day: date) -> int:
    return term(user_id, f"\0{day.isoformat()}")


def mentioned_day_term(user_id: int, day: date) -> int:
    """Of a day that is told of, maybe on another: "last Friday" counts from when it was said."""
    return term(user_id, f"\0\0{day.isoformat()}")


def store(user_id: int, turns: Iterable[SaidTurn]) -> None:
    """Index turns of a user. To do so again changes nothing."""
    for batch in batched(turns, BATCH):
        store_batch(user_id, batch)


def store_batch(user_id: int, turns: Sequence[SaidTurn], *, until: datetime | None = None) -> bool:
    """The same for some hundred turns, in one statement; none of a thread whose path has moved since they were read.
    ``until``: with these, all that was stored by then is indexed.

    Returns whether the words are due to be counted: there are a quarter more turns than when they were, or they never were,
    and there is no row to note it in.
    """
    # One order, so that nobody waits crosswise.
    in_order = sorted(turns, key=lambda turn: (str(turn.thread), turn.depth))
    passages = [row for turn in in_order for row in rows_of(user_id, turn)]
    paths = {str(turn.thread): turn.path for turn in turns}
    values = {"rows": Jsonb(passages, dumps=_dumps), "paths": Jsonb(paths, dumps=_dumps)}
    rows = run(SQL["store"], user=user_id, until=until, **values)
    return not rows or rows[0][0]


def count_words(user_id: int, threads: Sequence[uuid.UUID]) -> None:
    """Count anew how common the words of a user are, in the threads that are all of the user's."""
    run(
        SQL["count"],
        user=user_id,
        threads=list(threads),
        sample=SAMPLE,
        common=COMMON,
        names=NAMES,
        roles=[term(user_id, role("user")), term(user_id, role("assistant"))],
    )


def forget_counts(user_id: int) -> None:
    """After a thread was deleted: until they are counted anew, words count as they are found."""
    Vocabulary.objects.filter(user=user_id).delete()


_dumps = json.JSONEncoder(separators=(",", ":")).encode
