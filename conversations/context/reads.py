"""What a context is made of, read from PostgreSQL. Reads only; the cost does not grow with the thread."""

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

from django.db import DatabaseError, connection
from psycopg.pq import Format

from conversations.context.budget import Budget
from conversations.context.exclusion import exclusions
from conversations.context.fallible_reads import Row, fetch_required
from conversations.context.filtering import FilterArtifact
from conversations.context.known import KnownQuery, parse_known, read_known, read_one_by_one
from conversations.context.prompt_cache import Previous
from conversations.context.reasons import Reason
from conversations.context.snapshot_codec import unpack_cache, unpack_runs, unpack_texts
from conversations.context.standing import Known
from conversations.context.windowing import Turn, needs_older, whole
from conversations.models import text_blocks
from conversations.runtime.db import start_over

LONGEST_REPLY = timedelta(hours=1)
"""An artifact may be saved in the middle of a reply, and so be older than the turn that made it, by this much at most."""

READ_ON = 4
"""By how much the reach grows where filtering left too few turns."""

# The newest turns of the path before a position: an index range, whatever the length of the thread. The index alone tells
# by the running total where the budget ends, among so many turns and no more; then the rows from there on are read. One turn
# more than fits is read, to know that something was left out. Beside the oldest row stands what is read once: the artifacts
# that one of the turns may have made, and the request before this one.
TURNS = """
WITH newest AS (
    SELECT position, token_total FROM conversations_message
    WHERE thread_id = %(thread)s AND {path} AND position < %(before)s
    ORDER BY position DESC LIMIT %(turns)s
), oldest AS (
    SELECT least(min(position) FILTER (WHERE token_total > (SELECT max(token_total) FROM newest) - %(tokens)s),
                 coalesce((array_agg(position ORDER BY position DESC))[3], min(position))) AS position
    FROM newest
)
SELECT id, position, depth, role, text, content::text, token_count, created_at, reply_id, status, offline{beside}
FROM conversations_message
WHERE thread_id = %(thread)s AND {path}
  AND position < %(before)s AND position >= (SELECT position FROM oldest)
ORDER BY position
"""
TURN_COLUMNS = 11
PATH = "is_active"

MADE = """(
    SELECT json_agg(json_build_array(made.created_at, made.message_id, made.reply_id))::text
    FROM artifacts_artifactversion AS made JOIN artifacts_artifact AS artifact ON artifact.id = made.artifact_id
    WHERE %(filtering)s AND made.thread_id = %(thread)s AND made.origin <> 'hand' AND artifact.deleted_at IS NULL
      AND made.created_at >= (SELECT turn.created_at FROM conversations_message AS turn
                              WHERE turn.thread_id = %(thread)s AND turn.position = (SELECT position FROM oldest))
                             - %(longest_reply)s
)"""
PREVIOUS = """(
    SELECT json_build_array(last.created_at, last.provider, last.model, last.sections, last.runs, last.cache,
                            last.provider_message_id)::text
    FROM conversations_contextsnapshot AS last
    WHERE last.thread_id = %(thread)s AND last.purpose = 'reply' ORDER BY last.created_at DESC LIMIT 1
)"""


BESIDE = ",\n       CASE WHEN position = (SELECT position FROM oldest) THEN {} END"

MADE_THEN = MADE.replace(
    "artifact.deleted_at IS NULL",
    "made.created_at <= %(at)s AND (artifact.deleted_at IS NULL OR artifact.deleted_at > %(at)s)",
)
PREVIOUS_THEN = PREVIOUS.replace("last.purpose = 'reply'", "last.purpose = 'reply' AND last.created_at < %(at)s")
PATH_THEN = "(is_active OR position = ANY(%(on)s))"


@cache
def history_statement(*columns: str) -> str:
    """The turns of the path, with these columns beside the oldest."""
    return _with_beside([MADE, PREVIOUS, *columns], path=PATH)


@cache
def history_then() -> str:
    """The same as it was at a time."""
    return _with_beside([MADE_THEN, PREVIOUS_THEN], path=PATH_THEN)


def _with_beside(columns: Iterable[str], *, path: str) -> str:
    statement = TURNS.replace("{beside}", "".join(map(BESIDE.format, columns))).replace("{path}", path)
    # psycopg reads one of more than 4,096 characters anew each time.
    return " ".join(statement.split())


@dataclass(frozen=True, kw_only=True)
class AsOf:
    """The thread as it was at a time. ``on`` are the positions that were on the path then and have been replaced since."""

    at: datetime
    on: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HistoryQuery:
    """Which turns are asked for: of a thread – ``None`` is one to come – before a position, as many as the budget may hold."""

    thread_id: uuid.UUID | None
    before: int
    budget: Budget
    filtering: bool = True
    keeps_offline: bool = False
    as_of: AsOf | None = None


@dataclass(frozen=True, kw_only=True)
class History:
    """What is read of a thread at once, turns oldest first."""

    turns: Sequence[Turn] = ()
    made: Sequence[FilterArtifact] = ()
    previous: Previous | None = None
    columns: tuple[str | None, ...] | None = None
    """Of the sources that were read along; ``None`` where there was no row that they could stand beside."""


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The turns that the window is cut from, oldest first, and those that were taken out before."""

    turns: Sequence[Turn] = ()
    excluded: Sequence[tuple[Turn, Reason]] = ()
    loaded: int = 0


def read_all(query: HistoryQuery, sources: KnownQuery) -> tuple[History, Known]:
    """The thread, and what the sources hold, in one statement. If that fails they are read apart: a source may be missing
    then, with a problem (C9), the thread may not."""
    if query.as_of:
        return read_history(query), read_known(sources, at=query.as_of.at)
    try:
        history = read_history(query, sources=sources)
    except DatabaseError as error:
        start_over()
        return read_history(query), read_one_by_one(sources, because=error)
    return history, read_known(sources) if history.columns is None else parse_known(sources, history.columns)


def candidates_of(history: History, query: HistoryQuery, *, begin_at: int | None) -> Candidates:
    """Filter first, window second: reads on until the window can be filled with turns that are not filtered (F6)."""
    reach = 1
    while True:
        turns = history.turns
        gone = exclusions(turns, history.made, keeps_offline=query.keeps_offline)
        usable, orphans = whole([turn for turn in turns if turn.id not in gone] if gone else turns)
        if not turns or turns[0].depth == 1 or not needs_older(usable, query.budget, begin_at=begin_at):
            excluded = [(turn, gone[turn.id]) for turn in turns if turn.id in gone] if gone else []
            excluded += [(turn, Reason.ORPHAN_TOOL) for turn in orphans]
            return Candidates(turns=usable, excluded=excluded, loaded=len(turns))
        reach *= READ_ON
        history = read_history(query, reach=reach)


def read_history(query: HistoryQuery, *, reach: int = 1, sources: KnownQuery | None = None) -> History:
    """The turns that may fit and one more where there is one; ``reach`` times as many to look further back. ``sources`` are
    read along, and then nothing is waited for."""
    if query.thread_id is None:
        return History()
    values: dict[str, Any] = {
        "thread": query.thread_id,
        "before": query.before,
        "tokens": (query.budget.history_tokens + 1) * reach,  # it may be zero, and must grow with the reach
        "turns": (query.budget.history_turns + 1) * reach,
        "filtering": query.filtering,
        "longest_reply": LONGEST_REPLY,
    }
    if query.as_of:
        then = {"at": query.as_of.at, "on": list(query.as_of.on)}
        rows = fetch_required(partial(_rows, history_then(), values | then))
    elif sources:
        rows = _rows(history_statement(*sources.columns), {**sources.values, **values})
    else:
        rows = fetch_required(partial(_rows, history_statement(), values))
    if not rows:
        return History()
    made, previous, *columns = rows[0][TURN_COLUMNS:]
    return History(
        turns=[
            Turn(
                id=id,
                position=position,
                depth=depth,
                role=role,
                content=json.loads(content) if content else text_blocks(text),
                token_count=token_count,
                created_at=created_at,
                reply=reply,
                status=status,
                offline=offline,
            )
            for id, position, depth, role, text, content, token_count, created_at, reply, status, offline, *_ in rows
        ],
        made=[made_artifact(*row) for row in json.loads(made)] if made else (),
        previous=previous_request(*json.loads(previous)) if previous else None,
        columns=tuple(columns),
    )


def _rows(statement: str, values: Mapping[str, Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY  # ids and times are not spelled out and read again
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def made_artifact(created_at: str, message: str | None, reply: str | None) -> FilterArtifact:
    return FilterArtifact(
        created_at=datetime.fromisoformat(created_at),
        message=uuid.UUID(message) if message else None,
        reply=uuid.UUID(reply) if reply else None,
    )


def previous_request(
    at: str,
    provider: str,
    model: str,
    sections: str,
    runs: str,
    cache: str,
    provider_message_id: str,
) -> Previous:
    plan = unpack_cache(cache)
    return Previous(
        at=datetime.fromisoformat(at),
        provider=provider,
        model=model,
        sections=tuple(section.sha256 for section in unpack_texts(sections)),
        positions=tuple(
            -position if run.sha256 else position
            for run in unpack_runs(runs)
            if run.included
            for position in range(run.first, run.last + 1)
        ),
        marks=plan.marks,
        lifetime=plan.lifetime.name,
        provider_message_id=provider_message_id,
    )
