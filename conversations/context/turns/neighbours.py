"""What stands around turns, as far as it decides which of them no model is given. Reads only."""

import json
import uuid
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from conversations.context.gather.fallible_reads import fetch_rows
from conversations.context.reasons import Reason
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact
from conversations.models import text_blocks
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

REACH = 10
"""Turns on each side of one: longer than an answer with its tool calls, and than what is said within five seconds."""
FURTHEST = timedelta(days=1)
"""How far apart the times of a question and of what it made are at most, where only the clock tells of it."""

SQL = read_statements(__file__)


@dataclass(frozen=True, kw_only=True, slots=True)
class PathPlace:
    """A turn by its depth on the path of a thread."""

    thread: uuid.UUID
    depth: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A turn without what it says: of its blocks only what kind they are, and which call they belong to."""

    thread: uuid.UUID
    depth: int
    id: uuid.UUID
    position: int
    role: str
    status: str
    offline: bool
    created_at: datetime
    reply: uuid.UUID | None
    content: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NeighbourVersion(FilterArtifact):
    """A version of an artifact that was made, which may have been deleted since."""

    artifact: uuid.UUID
    is_deleted: bool
    depth: int | None

    @property
    def is_proven(self) -> bool:
        return bool(self.message or self.reply)


@dataclass(frozen=True, kw_only=True)
class Neighbourhood:
    """Stretches of neighbouring turns, and what was made in their threads."""

    stretches: Sequence[Sequence[Neighbour]]
    made: Mapping[uuid.UUID, Sequence[NeighbourVersion]]

    def exclusions(self, *, here: uuid.UUID | None = None, filtering: bool = True) -> dict[uuid.UUID, Reason]:
        """The ids of those turns that are left out of what the thread ``here`` is given, with their reasons.

        What made an artifact comes back to its own thread when the artifact is deleted, or where it does not filter, and to no
        other (F5, F11).
        """
        reasons: dict[uuid.UUID, Reason] = {}
        for turns in self.stretches:
            versions = self.made.get(turns[0].thread, ())
            if turns[0].thread == here:
                versions = [version for version in versions if filtering and not version.is_deleted]
            reasons |= exclusions(turns, versions)
        return reasons


def read_exclusions(
    user_id: int, places: Sequence[PathPlace], *, here: uuid.UUID | None = None, filtering: bool = True
) -> dict[uuid.UUID, Reason]:
    """Of the turns at these places those that the thread ``here`` is not given. Reads on only near what was made or refused."""
    threads = list({place.thread for place in places})
    values = {"user": user_id, "threads": threads}
    made = read_made(user_id, threads)
    refused = {(thread, depth) for thread, depth in fetch_rows(SQL["refused"], values, binary=True)}
    near = [place for place in places if _is_near(place, made.get(place.thread, ()), refused)]
    return read_neighbourhood(user_id, near, made).exclusions(here=here, filtering=filtering) if near else {}


def read_made(user_id: int, threads: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, Sequence[NeighbourVersion]]:
    """What was made in these threads, deleted or not."""
    made: defaultdict[uuid.UUID, list[NeighbourVersion]] = defaultdict(list)
    for thread, *version in fetch_rows(SQL["made"], {"user": user_id, "threads": threads}, binary=True):
        made[thread].append(NeighbourVersion(*version))
    return made


def read_neighbourhood(
    user_id: int, places: Iterable[PathPlace], made: Mapping[uuid.UUID, Sequence[NeighbourVersion]]
) -> Neighbourhood:
    """The turns at these places and around them."""
    stretches = list(_stretches(places))
    values = {
        "user": user_id,
        "threads": [thread for thread, _, _ in stretches],
        "firsts": [first for _, first, _ in stretches],
        "lasts": [last for _, _, last in stretches],
    }
    rows = [(*row[:-1], _blocks(row[-1])) for row in fetch_rows(SQL["turns"], values, binary=True)]
    turns = [Neighbour(*row) for row in rows]
    numbered = groupby(enumerate(turns), key=lambda each: (each[1].thread, each[1].depth - each[0]))
    return Neighbourhood(stretches=[[turn for _, turn in run] for _, run in numbered], made=made)


def _is_near(place: PathPlace, versions: Iterable[NeighbourVersion], refused: Container[tuple[uuid.UUID, int]]) -> bool:
    for version in versions:
        if version.depth is None:
            if not version.is_proven and abs(version.created_at - place.at) <= FURTHEST:
                return True
        elif abs(version.depth - place.depth) <= REACH:
            return True
    return any((place.thread, depth) in refused for depth in range(place.depth - REACH, place.depth + REACH + 1))


def _stretches(places: Iterable[PathPlace]) -> Iterator[tuple[uuid.UUID, int, int]]:
    """From which depth to which, so that no two of a thread touch."""
    wanted = sorted({(place.thread, place.depth) for place in places})
    for thread, group in groupby(wanted, key=lambda each: each[0]):
        depths = [depth for _, depth in group]
        first, last = depths[0] - REACH, depths[0] + REACH
        for depth in depths[1:]:
            if depth - REACH > last + 1:
                yield thread, first, last
                first = depth - REACH
            last = depth + REACH
        yield thread, first, last


def _blocks(content: str | None) -> Sequence[dict[str, Any]]:
    return json.loads(content) if content else text_blocks("…")
