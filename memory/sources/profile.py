"""What is known of the person as a session begins, read from PostgreSQL. Whatever fails can't cost the reply (C9)."""

import json
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import DatabaseError

from conversations.context.fallible_reads import cause_of, fetch_row, problem_of
from conversations.context.sessions import Session
from conversations.context.source_problems import Problem, ProblemKind
from memory.sources.sections import (
    LAST_CONVERSATION,
    MEMORY,
    OPEN_THREADS,
    TODAY,
    KnownFact,
    OpenTopic,
    Profile,
    Summary,
)
from memory.tags import thread_tag

logger = logging.getLogger(__name__)

PREFERENCES = "preferences"
LONG_AWAY = timedelta(hours=24)
EACH_MILLISECONDS = 100
"""Short, because one after another may stall."""

# Index ranges that end at their LIMITs, each as one JSON list of rows. A text of more than 20,000 bytes comes as null.
# Which day it is for the person is told by a row of the same statement; UTC's date is at most a day from anyone's.
SOURCES = {
    PREFERENCES: """
SELECT json_agg(json_build_array(remembers, time_zone)) FROM memory_preferences WHERE user_id = %(user)s""",
    MEMORY: """
SELECT json_agg(json_build_array(id, CASE WHEN octet_length(content) <= 20000 THEN content END, valid_until)
                ORDER BY created_at DESC, id DESC)
FROM (
    SELECT fact.* FROM unnest(%(places)s::text[]) AS place, LATERAL (
        (SELECT id, content, created_at, valid_until FROM memory_memory
         WHERE user_id = %(user)s AND confined_to = place AND ended_at IS NULL AND valid_until IS NULL
         ORDER BY created_at DESC, id DESC LIMIT 40)
        UNION ALL
        (SELECT id, content, created_at, valid_until FROM memory_memory
         WHERE user_id = %(user)s AND confined_to = place AND ended_at IS NULL AND valid_until IS NOT NULL
         ORDER BY valid_until DESC, id DESC LIMIT 10)
    ) AS fact
    ORDER BY created_at DESC, id DESC LIMIT 40
) AS facts""",
    TODAY: """
SELECT json_agg(json_build_array(id, CASE WHEN octet_length(text) <= 20000 THEN text END, day,
                                 CASE WHEN octet_length(key_moments::text) <= 20000 THEN key_moments END))
FROM memory_dailysummary WHERE user_id = %(user)s AND day BETWEEN %(day)s::date - 1 AND %(day)s::date + 1""",
    OPEN_THREADS: """
SELECT json_agg(json_build_array(id, title, opened_at) ORDER BY opened_at DESC, id DESC)
FROM (
    SELECT id, title, opened_at FROM memory_topic WHERE user_id = %(user)s AND resolved_at IS NULL
    ORDER BY opened_at DESC, id DESC LIMIT 10
) AS topics""",
    LAST_CONVERSATION: """
SELECT json_agg(json_build_array(id, CASE WHEN octet_length(text) <= 20000 THEN text END, ended_at))
FROM (
    SELECT id, text, ended_at FROM (
        SELECT id, thread_id, text, ended_at FROM memory_threadsummary
        WHERE %(long_away)s AND user_id = %(user)s AND ended_at < %(began_at)s
        ORDER BY ended_at DESC, id DESC LIMIT 20
    ) AS newest
    WHERE thread_id IS DISTINCT FROM %(thread)s ORDER BY ended_at DESC, id DESC LIMIT 1
) AS conversation""",
}
COLUMNS = [f"({source})::text" for source in SOURCES.values()]
STATEMENT = f"SELECT {', '.join(COLUMNS)}"

type Row = list[Any]


class InvalidRow(Exception):
    """A row that can't be used. The message holds no text of it."""


def asked_of(*, user_id: int, thread_id: uuid.UUID | None, session: Session) -> dict[str, Any]:
    """The values that the sources are asked with. The current time plays no part. ``None`` is a thread to come."""
    return {
        "user": user_id,
        "thread": thread_id,
        "places": ["", thread_tag(thread_id)] if thread_id else [""],
        "day": session.started_at.astimezone(UTC).date(),
        "began_at": session.started_at,
        "long_away": session.away_since is not None and session.started_at - session.away_since > LONG_AWAY,
    }


def read_standing(*, user_id: int, thread_id: uuid.UUID | None, session: Session) -> Profile:
    """One statement for all of it; if it fails, one for each source, and what fails then is left out with a problem.

    Must run within ``read_only``, and leaves it usable.
    """
    values = asked_of(user_id=user_id, thread_id=thread_id, session=session)
    try:
        return standing_of(tuple(fetch_row(STATEMENT, values)), session)
    except DatabaseError as error:
        return read_one_by_one(values, session, because=error)


def read_one_by_one(values: Mapping[str, Any], session: Session, *, because: DatabaseError) -> Profile:
    logger.warning("what is known of the person is read source by source", extra={"cause": cause_of(because)})
    return parse_profile(*_one_by_one(values), session)


@lru_cache(maxsize=512)  # within a session the same rows come again with every request
def standing_of(columns: tuple[str | None, ...], session: Session) -> Profile:
    """What the columns of ``STATEMENT`` stand for. Pure."""
    rows_by_source = {source: json.loads(rows) if rows else [] for source, rows in zip(SOURCES, columns, strict=True)}
    return parse_profile(rows_by_source, [], session)


def _one_by_one(values: Mapping[str, Any]) -> tuple[dict[str, list[Row]], list[Problem]]:
    rows_by_source: dict[str, list[Row]] = {}
    problems: list[Problem] = []
    for source, statement in SOURCES.items():
        try:
            (rows,) = fetch_row(statement, values, milliseconds=EACH_MILLISECONDS)
            rows_by_source[source] = rows or []
        except DatabaseError as error:
            problems.append(problem_of(source, error))
    return rows_by_source, problems


def parse_profile(rows_by_source: Mapping[str, list[Row]], problems: Sequence[Problem], session: Session) -> Profile:
    """The rows as what they stand for; a row that can't be used is left out with a problem. Pure.

    Without its preferences nothing is given: a person who wants nothing remembered must never get it because of a failure.
    """
    noticed = list(problems)

    def read[T](source: str, rows: Sequence[Row], meaning: Callable[[Row], T]) -> tuple[T, ...]:
        usable = []
        for row in rows:
            try:
                usable.append(meaning(row))
            except InvalidRow as garbage:
                noticed.append(Problem(source=source, kind=ProblemKind.GARBAGE, message=str(garbage)))
        return tuple(usable)

    preferences = rows_by_source.get(PREFERENCES)
    zone = next(iter(read(PREFERENCES, preferences or [], _zone)), UTC)
    days = [
        row for row in rows_by_source.get(TODAY, []) if row[2] == session.started_at.astimezone(zone).date().isoformat()
    ]
    last = read(LAST_CONVERSATION, rows_by_source.get(LAST_CONVERSATION, []), lambda row: _conversation(row, zone))
    return Profile(
        began_at=session.started_at,
        remembers=preferences is not None and all(remembers for remembers, _ in preferences),
        facts=read(MEMORY, rows_by_source.get(MEMORY, []), _fact),
        today=next(iter(read(TODAY, days, _day)), None),
        topics=read(OPEN_THREADS, rows_by_source.get(OPEN_THREADS, []), lambda row: _topic(row, zone)),
        last_conversation=next(iter(last), None),
        problems=tuple(noticed),
    )


def _zone(row: Row) -> tzinfo:
    try:
        return ZoneInfo(row[1])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # what it raises depends on what the name looks like
        raise InvalidRow("The time zone is unknown; UTC stands in for it.") from error


def _fact(row: Row) -> KnownFact:
    id, text, valid_until = row
    return KnownFact(id=id, text=_text(text), valid_until=_time(valid_until) if valid_until else None)


def _day(row: Row) -> Summary:
    id, text, _, moments = row
    if not isinstance(moments, list) or not all(isinstance(moment, str) for moment in moments):
        raise InvalidRow(f"The key moments of summary {id} are no list of texts, or too long.")
    return Summary(id=str(id), text=_text(text), moments=tuple(moments))


def _topic(row: Row, zone: tzinfo) -> OpenTopic:
    id, title, opened_at = row
    return OpenTopic(id=id, title=title, opened_at=_time(opened_at, zone))


def _conversation(row: Row, zone: tzinfo) -> Summary:
    id, text, ended_at = row
    return Summary(id=str(id), text=_text(text), ended_on=_time(ended_at, zone).date())


def _text(text: str | None) -> str:
    if text is None:
        raise InvalidRow("A text is too long.")
    return text


def _time(written: str, zone: tzinfo = UTC) -> datetime:
    try:
        return datetime.fromisoformat(written).astimezone(zone)
    except (ValueError, OverflowError) as error:  # PostgreSQL knows infinity and years that Python doesn't
        raise InvalidRow("A time is out of range.") from error
