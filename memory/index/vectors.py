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

from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.index.embeddings import EmbeddingModel
from memory.language.words import speaker

TABLE = "memory_turnvector"
OLDEST_EXTENSION = (0, 8)
BATCH = 100
FAR = 0.2
"""How close two turns are that have nothing in common, about: 1 is the same."""
SHARES = (1.0, 0.6, 0.4, 0.3, 0.2, 0.1)
AROUND = [(side * distance, share) for distance, share in enumerate(SHARES) for side in ((1, -1) if distance else (1,))]
FEW_TURNS = 10_000
"""So few turns of a user are all compared; of more, those that the graph leads to."""
SQL = read_statements(__file__)
GRAPH, BY_GRAPH, ONE_BY_ONE = SQL["search_graph"], SQL["near_by_graph"], SQL["near_one_by_one"]
"""How to search by the graph, and the statements that find the closest turns, by it or without."""


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
        cursor.execute(SQL["tables"])


def missing() -> str:
    """Why this PostgreSQL can't hold points; nothing where it can."""
    versions = run(
        "SELECT coalesce(installed_version, default_version) FROM pg_available_extensions WHERE name = 'vector'"
    )
    if not versions:
        return "This PostgreSQL does not have the extension pgvector."
    ((version,),) = versions
    is_enough = tuple(map(int, version.split(".")[:2])) >= OLDEST_EXTENSION
    return "" if is_enough else f"This PostgreSQL has pgvector {version}; 0.8 or newer is needed."


def store(model: EmbeddingModel, turns: Iterable[UnembeddedTurn]) -> None:
    """Give turns their points. To do so again changes nothing."""
    for batch in batched(turns, BATCH):
        with transaction.atomic():
            run(
                SQL["store"],
                threads=[turn.thread for turn in batch],
                depths=[turn.depth for turn in batch],
                positions=[turn.position for turn in batch],
                points=list(model.embed([without_speaker(turn.text) for turn in batch])),
            )


def values_of(
    model: EmbeddingModel, user_id: int, text: str, *, wanted: int, here: uuid.UUID | None, before: int
) -> dict[str, Any]:
    """What both statements are asked with. Pure."""
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
