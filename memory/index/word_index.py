"""The index that turns are found by, kept up. A turn is indexed right after it was stored, by whoever comes first."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import batched
from typing import Any

from django.db import connection
from django.db.backends.postgresql.psycopg_any import Jsonb

from memory.language.words import asks, speaker, stems, term
from memory.models import Vocabulary

MOST_TERMS = 1_000
BATCH = 250
SAMPLE = 4_000
"""Turns that words are counted in."""
COMMON, NAMES = 200, 20
"""One turn of so many holds a common word; is said by somebody whose name counts as a speaker's."""

# A place of a path can get another turn, when a reply is tried again. Whoever is late changes nothing, nor brings back a turn
# that was cleared away meanwhile: the lock waits for whoever clears the thread.
STORE = """
WITH stored AS (
    INSERT INTO memory_indexedturn AS indexed
    SELECT new.* FROM jsonb_populate_recordset(NULL::memory_indexedturn, %(rows)s) AS new
    JOIN conversations_thread AS thread ON thread.id = new.thread_id AND thread.cleared_through < new.position
    FOR KEY SHARE OF thread
    ON CONFLICT (thread_id, depth) DO UPDATE
    SET position = excluded.position, day = excluded.day, speaker = excluded.speaker, asks = excluded.asks,
        length = excluded.length, terms = excluded.terms
    WHERE indexed.position < excluded.position
    RETURNING user_id, length
)
UPDATE memory_vocabulary AS vocabulary
SET turns = vocabulary.turns + added.turns, length = vocabulary.length + added.length
FROM (SELECT user_id, count(*) AS turns, sum(length) AS length FROM stored GROUP BY user_id) AS added
WHERE vocabulary.user_id = added.user_id
"""

COUNT = """
WITH every AS MATERIALIZED (
    SELECT count(*) AS turns, coalesce(sum(length), 0) AS length, count(*) / %(sample)s + 1 AS step
    FROM memory_indexedturn WHERE thread_id = ANY(%(threads)s)
), drawn AS MATERIALIZED (
    SELECT speaker, terms FROM memory_indexedturn, every WHERE thread_id = ANY(%(threads)s) AND depth %% step = 0
), size AS (
    SELECT count(*)::float AS turns FROM drawn
), common AS (
    SELECT term, (count(*) * 1000000 / max(size.turns))::int AS share FROM size, drawn, unnest(terms) AS term
    GROUP BY term HAVING count(*) * %(common)s > max(size.turns)
), names AS (
    SELECT speaker FROM size, drawn WHERE speaker <> ALL(%(roles)s)
    GROUP BY speaker HAVING count(*) * %(names)s > max(size.turns)
)
INSERT INTO memory_vocabulary (user_id, turns, length, counted_turns, common, shares, names)
SELECT %(user)s, turns, length, turns,
       coalesce((SELECT array_agg(term ORDER BY term) FROM common), '{}'),
       coalesce((SELECT array_agg(share ORDER BY term) FROM common), '{}'),
       coalesce((SELECT array_agg(speaker) FROM names), '{}')
FROM every
ON CONFLICT (user_id) DO UPDATE
SET turns = excluded.turns, length = excluded.length, counted_turns = excluded.counted_turns,
    common = excluded.common, shares = excluded.shares, names = excluded.names
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SaidTurn:
    """A turn as the index needs it."""

    thread: uuid.UUID
    depth: int
    position: int
    role: str
    text: str
    at: datetime


def indexed(user_id: int, turn: SaidTurn) -> dict[str, Any]:
    """The row of a turn. Pure."""
    name, body = speaker(turn.text)
    words = stems(body)
    unique = list(dict.fromkeys(words))[:MOST_TERMS]
    days = [day_term(user_id, turn.at.date())] if turn.text else []
    return {
        "thread_id": str(turn.thread),
        "depth": turn.depth,
        "position": turn.position,
        "user_id": user_id,
        "day": turn.at.date().isoformat(),
        "speaker": term(user_id, name or role(turn.role)),
        "asks": asks(body),
        "length": len(words),
        "terms": [*dict.fromkeys(term(user_id, word) for word in unique), *days],
    }


def role(name: str) -> str:
    """What stands for a role where a name could stand: no stem is like this."""
    return f"\0{name}"


def day_term(user_id: int, day: date) -> int:
    return term(user_id, f"\0{day.isoformat()}")


def store(user_id: int, turns: Iterable[SaidTurn]) -> None:
    """Index turns of a user. To do so again changes nothing."""
    for batch in batched((indexed(user_id, turn) for turn in turns), BATCH):
        rows = sorted(
            batch, key=lambda row: (row["thread_id"], row["depth"])
        )  # one order, so that nobody waits crosswise
        with connection.cursor() as cursor:
            cursor.execute(STORE, {"rows": Jsonb(rows, dumps=_dumps)})


def count_words(user_id: int, threads: Sequence[uuid.UUID]) -> None:
    """Count anew how common the words of a user are, in the threads that are all of the user's."""
    values: dict[str, Any] = {
        "user": user_id,
        "threads": list(threads),
        "sample": SAMPLE,
        "common": COMMON,
        "names": NAMES,
        "roles": [term(user_id, role("user")), term(user_id, role("assistant"))],
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)


def needs_counting(user_id: int) -> bool:
    """Whether there are a quarter more turns than when the words were counted, or they never were."""
    known = Vocabulary.objects.filter(user=user_id).values_list("turns", "counted_turns").first()
    return known is None or known[0] > known[1] * 5 // 4 + 20


def caught_up(user_id: int, until: datetime) -> None:
    Vocabulary.objects.filter(user=user_id).update(indexed_until=until)


def forget_counts(user_id: int) -> None:
    """After a thread was deleted: until they are counted anew, words count as they are found."""
    Vocabulary.objects.filter(user=user_id).delete()


_dumps = json.JSONEncoder(separators=(",", ":")).encode
