"""What the sources hold as a session begins, read from PostgreSQL. Whatever fails can't cost the reply (C9)."""

import json
import logging
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property, lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import DatabaseError

from conversations.context.gather.fallible_reads import cause_of, fetch_row, problem_of
from conversations.context.rules.standing import Known
from conversations.context.source_problems import Problem
from conversations.context.sources import InvalidRow, Reading, Row, Source, SourceQuery, all_sources
from conversations.runtime.values import dataclass

logger = logging.getLogger(__name__)

PREFERENCES = "preferences"
PREFERENCES_STATEMENT = """
SELECT json_agg(json_build_array(remembers, time_zone)) FROM memory_preferences WHERE user_id = %(user)s"""
EACH_MILLISECONDS = 100
"""Short, because one after another may stall."""


@dataclass(frozen=True, kw_only=True)
class KnownQuery:
    """Which sources are asked, for whom. Without ``memory`` those that remember something are not. ``at``: as far as a source
    can tell what it held at a time."""

    query: SourceQuery
    memory: bool = True
    but: frozenset[str] = field(default=frozenset())
    at: datetime | None = None

    @cached_property
    def sources(self) -> tuple[Source[Any], ...]:
        return tuple(
            source
            for source in all_sources()
            if source.statement
            and (self.memory or not source.is_memory)
            and source.name not in self.but
            and source.is_wanted(self.query)
        )

    @property
    def columns(self) -> Mapping[str, str]:
        """What each source is read by, as text."""
        return _columns(self.sources, memory=self.memory, then=self.at is not None)

    @cached_property
    def values(self) -> dict[str, Any]:
        """What the statements are asked with. The current time plays no part. ``None`` is a thread to come."""
        values: dict[str, Any] = {
            "user": self.query.user_id,
            "thread": self.query.thread_id,
            "depth": self.query.depth,
            "began_at": self.query.session.started_at,
        }
        for source in self.sources:
            values |= source.values(self.query)
        return values | {"at": self.at} if self.at else values


@lru_cache(maxsize=64)  # the same texts for every request: the statement with them in it is looked up by them
def _columns(sources: tuple[Source[Any], ...], *, memory: bool, then: bool) -> Mapping[str, str]:
    statements = {PREFERENCES: PREFERENCES_STATEMENT} if memory else {}
    for source in sources:
        statements[source.name] = (source.statement_then if then else "") or source.statement
    return {name: f"({statement})::text" for name, statement in statements.items()}


def read_known(query: KnownQuery) -> Known:
    """One statement for all sources; if it fails, one for each, and what fails then is left out with a problem.

    Must run within ``read_only``, and leaves it usable.
    """
    if not query.columns:
        return Known(began_at=query.query.session.started_at)
    try:
        return parse_known(query, tuple(fetch_row(f"SELECT {', '.join(query.columns.values())}", query.values)))
    except DatabaseError as error:
        return read_one_by_one(query, because=error)


def read_one_by_one(query: KnownQuery, *, because: DatabaseError) -> Known:
    logger.warning("what the sources hold is read source by source", extra={"cause": cause_of(because)})
    rows_by_source: dict[str, Sequence[Row]] = {}
    problems: list[Problem] = []
    for name, column in query.columns.items():
        try:
            (text,) = fetch_row(f"SELECT {column}", query.values, milliseconds=EACH_MILLISECONDS)
            rows_by_source[name] = _rows(text)
        except DatabaseError as error:
            problems.append(problem_of(name, error))
    return _parsed(query, rows_by_source, problems)


def complete_known(known: Known, query: KnownQuery, prepared: Mapping[str, Any]) -> Known:
    """In the light of what services said that sources were asked for, by source. May read."""
    candidates, problems = dict(known.candidates), [*known.problems]
    for source in query.sources:
        if source.name in prepared and (known.remembers or not source.is_memory):
            before, answer = candidates.pop(source.name, None), prepared[source.name]
            completed, wrong = source.completed(before, query.query, answer, known.zone)
            problems += wrong
            if completed is not None:
                candidates[source.name] = completed
    return replace(known, candidates=candidates, problems=problems)


def parse_known(query: KnownQuery, columns: tuple[str | None, ...]) -> Known:
    """What the columns stand for. Pure."""
    return _parse_cached(query, columns)


@lru_cache(maxsize=512)  # within a session the same rows come again with every request
def _parse_cached(query: KnownQuery, columns: tuple[str | None, ...]) -> Known:
    return _parsed(query, dict(zip(query.columns, map(_rows, columns), strict=True)), [])


def _rows(column: str | None) -> Sequence[Row]:
    return json.loads(column) if column else []


def _parsed(query: KnownQuery, rows_by_source: Mapping[str, Sequence[Row]], problems: Sequence[Problem]) -> Known:
    """Without its preferences nothing that is remembered is given: a person who wants nothing remembered must never get it
    because of a failure."""
    session = query.query.session
    preferences = Reading(source=PREFERENCES, session=session)
    zone: tzinfo = next(iter(preferences.parsed(rows_by_source.get(PREFERENCES, []), _zone)), UTC)
    noticed = [*problems, *preferences.problems]
    candidates: dict[str, Hashable] = {}
    for source in query.sources:
        reading = Reading(source=source.name, session=session, zone=zone)
        if source.name in rows_by_source:
            candidates[source.name] = source.read(rows_by_source[source.name], reading)
            noticed += reading.problems
    remembers = PREFERENCES in rows_by_source and all(remembers for remembers, _ in rows_by_source[PREFERENCES])
    return Known(
        began_at=session.started_at,
        remembers=remembers,
        zone=zone,
        candidates={name: each for name, each in candidates.items() if each is not None},
        problems=tuple(noticed),
    )


def _zone(row: Row) -> tzinfo:
    try:
        return ZoneInfo(row[1])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # what it raises depends on what the name looks like
        raise InvalidRow("The time zone is unknown; UTC stands in for it.") from error
