"""The points of turns, kept beside the index of their words where `OPENBOOK_EMBEDDINGS` is on, and searched by closeness.

The table is no model's: a PostgreSQL without the extension must do, so no migration makes it. It leans on the index: a turn
that leaves the index, is emptied there or replaced loses its point at once, whoever does it and whatever the setting says.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import batched
from typing import Any

from django.db import connection, transaction

from memory.index.embeddings import DIMENSIONS, EmbeddingModel
from memory.index.ranking import AROUND
from memory.language.words import speaker

TABLE = "memory_turnvector"
OLDEST_EXTENSION = (0, 8)
BATCH = 100
NEAREST = 100
"""Turns that are looked at, the closest first."""
FAR = 0.2
"""How close two turns are that have nothing in common, about: 1 is the same."""
FEW_TURNS = 10_000
"""So few turns of a user are all compared; of more, those that the graph leads to."""
GRAPH = f"SET LOCAL hnsw.iterative_scan = relaxed_order; SET LOCAL hnsw.ef_search = {NEAREST}"

TABLES = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE {TABLE} (
    thread_id uuid NOT NULL,
    depth integer NOT NULL,
    position integer NOT NULL,
    user_id integer NOT NULL,
    point vector({DIMENSIONS}) NOT NULL,
    PRIMARY KEY (thread_id, depth),
    FOREIGN KEY (thread_id, depth) REFERENCES memory_indexedturn (thread_id, depth) ON DELETE CASCADE
);
CREATE INDEX turn_vector_user ON {TABLE} (user_id);
CREATE INDEX turn_vector_point ON {TABLE} USING hnsw (point vector_ip_ops);
CREATE OR REPLACE FUNCTION memory_point_leaves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM {TABLE} WHERE thread_id = NEW.thread_id AND depth = NEW.depth;
    RETURN NULL;
END $$;
CREATE TRIGGER memory_point_leaves AFTER UPDATE ON memory_indexedturn FOR EACH ROW
    WHEN (NEW.length = 0 OR NEW.position <> OLD.position) EXECUTE FUNCTION memory_point_leaves();
"""  # noqa: S608

# Locked, so that what is forgotten at this moment either has no row any more or waits, and then finds this one.
STORE = f"""
INSERT INTO {TABLE} AS stored (thread_id, depth, position, user_id, point)
SELECT indexed.thread_id, indexed.depth, indexed.position, indexed.user_id, new.point::vector
FROM unnest(%(threads)s::uuid[], %(depths)s::int[], %(positions)s::int[], %(points)s::text[])
     AS new (thread_id, depth, position, point)
JOIN memory_indexedturn AS indexed USING (thread_id, depth)
WHERE indexed.position = new.position AND indexed.length > 0
ORDER BY thread_id, depth
FOR SHARE OF indexed
ON CONFLICT (thread_id, depth) DO UPDATE SET position = excluded.position, point = excluded.point
WHERE stored.position < excluded.position
"""  # noqa: S608

# The point is read once, not for each turn. A turn's closeness is spread to the turns around it, as the score of its words is.
NEAR = f"""
WITH closest AS MATERIALIZED (
    SELECT thread_id, depth, -(point <#> (SELECT %(point)s::vector)) - %(far)s::float AS score
    FROM {TABLE} WHERE user_id = %(user)s
    ORDER BY {{order}} LIMIT {NEAREST}
)
SELECT thread_id, closest.depth + away AS depth, sum(score * share) AS score
FROM closest, unnest(%(away)s::int[], %(share)s::float[]) AS spread (away, share)
WHERE score > 0 AND (thread_id IS DISTINCT FROM %(here)s::uuid OR closest.depth + away < %(before)s::int)
GROUP BY thread_id, closest.depth + away
ORDER BY score DESC, thread_id, depth LIMIT %(wanted)s
"""  # noqa: S608
BY_GRAPH = NEAR.replace("{order}", "point <#> (SELECT %(point)s::vector)")
ONE_BY_ONE = NEAR.replace("{order}", "(point <#> (SELECT %(point)s::vector)) + 0")  # which no index knows


class NoVectors(Exception):
    """This PostgreSQL can't hold points. The message is for staff."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnembeddedTurn:
    """A turn of the index that has no point yet."""

    thread: uuid.UUID
    depth: int
    position: int
    text: str


def prepare() -> None:
    """Make the table, where it is not there yet. Raises ``NoVectors`` and ``DatabaseError``."""
    if TABLE in connection.introspection.table_names():
        return
    if problem := missing():
        raise NoVectors(problem)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(TABLES)


def missing() -> str:
    """Why this PostgreSQL can't hold points; nothing where it can."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
        )
        row = cursor.fetchone()
    if row is None:
        return "This PostgreSQL does not have the extension pgvector."
    version = tuple(int(part) for part in row[0].split(".")[:2])
    return "" if version >= OLDEST_EXTENSION else f"This PostgreSQL has pgvector {row[0]}; 0.8 or newer is needed."


def store(model: EmbeddingModel, turns: Iterable[UnembeddedTurn]) -> None:
    """Give turns their points. To do so again changes nothing."""
    for batch in batched(turns, BATCH):
        values: dict[str, Any] = {
            "threads": [turn.thread for turn in batch],
            "depths": [turn.depth for turn in batch],
            "positions": [turn.position for turn in batch],
            "points": list(model.embed([without_speaker(turn.text) for turn in batch])),
        }
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(STORE, values)


def values_of(
    model: EmbeddingModel, user_id: int, text: str, *, wanted: int, here: uuid.UUID | None, before: int
) -> dict[str, Any]:
    """What ``NEAR`` is asked with. Pure."""
    (point,) = model.embed([text])
    return {
        "user": user_id,
        "point": point,
        "far": FAR,
        "away": [away for away, _ in AROUND],
        "share": [share for _, share in AROUND],
        "wanted": wanted,
        "here": here,
        "before": before,
    }


def without_speaker(text: str) -> str:
    """Without the name that it begins with: who said it is not what it means."""
    return speaker(text)[1]
