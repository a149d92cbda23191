"""What a context is made of, read from PostgreSQL. Reads only; the cost does not grow with the thread."""

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any

from django.db import DatabaseError

from conversations.context.gather.fallible_reads import Row, fetch_required
from conversations.context.gather.known import KnownQuery, parse_known, read_known, read_one_by_one
from conversations.context.gather.project_files import has_files
from conversations.context.reasons import Reason
from conversations.context.record.snapshot_codec import unpack_cache, unpack_runs, unpack_texts
from conversations.context.rules.prompt_cache import Previous
from conversations.context.rules.standing import Known
from conversations.context.rules.windowing import whole
from conversations.context.tokens.budget import Budget
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact
from conversations.context.turns.groups import calls, exchanges
from conversations.context.turns.turn import Turn
from conversations.models import text_blocks
from conversations.runtime.db import run_often, start_over
from conversations.runtime.ids import LONGEST_REPLY, lowest_since
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass

SQL = read_statements(__file__)
TURN_COLUMNS = 12
ACTIVE, CHAIN = "is_active", "position = ANY(%(chain)s)"
HAS_FILES = (
    "EXISTS (SELECT FROM conversations_turnfile WHERE user_id = %(user)s AND thread_id = %(thread)s)",
    "EXISTS (SELECT FROM conversations_file WHERE user_id = %(user)s AND project_id = %(project)s::uuid)",
)
"""In turns of the thread, and in its project."""
CHAIN_STATEMENT = " ".join(SQL["chain"].split())
BESIDE = ",\n       CASE depth WHEN first THEN {} END"


@cache
def history_statement(*columns: str) -> str:
    """The turns of the path, with these columns beside the oldest."""
    return _with_beside(f"({SQL['made']})", f"({SQL['previous']})", *HAS_FILES, *columns, path=ACTIVE)


@cache
def history_of_chain(*columns: str) -> str:
    """The same of another path than the active one."""
    return _with_beside(f"({SQL['made']})", f"({SQL['previous']})", *HAS_FILES, *columns, path=CHAIN)


@cache
def history_then(*, path: str) -> str:
    """The same as it was at a time."""
    return _with_beside(f"({SQL['made_then']})", f"({SQL['previous_then']})", *HAS_FILES, path=path)


def _with_beside(*columns: str, path: str) -> str:
    statement = SQL["turns"].format(beside="".join(map(BESIDE.format, columns)), path=path)
    return " ".join(statement.split())


@dataclass(frozen=True, kw_only=True)
class PathEnd:
    """The last turn of a path, where that need not be the end of the active one; ``None`` is a path without any turn."""

    turn: uuid.UUID | None


@dataclass(frozen=True, kw_only=True)
class HistoryQuery:
    """Which turns are asked for: of a thread – ``None`` is one to come – before a position, as many as the budget holds.

    They are those of the active path, or of the one with this ``end``; ``at`` a time, as the thread was then. ``last_reply``
    made the turn before, so the request before is no older. Where their provider has counted them for this
    model, its counts hold, by ``factor`` in estimated tokens as the budget.
    ``counts`` are to be used instead, by position: those that a request knew that was made before.
    """

    user_id: int
    thread_id: uuid.UUID | None
    before: int
    budget: Budget
    last_reply: uuid.UUID | None = None
    filtering: bool = True
    keeps_offline: bool = False
    project: uuid.UUID | None = None
    end: PathEnd | None = None
    at: datetime | None = None
    provider: str = ""
    model: str = ""
    factor: Factor = PLAIN
    counts: Mapping[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class History:
    """What is read of a thread at once, turns oldest first."""

    turns: Sequence[Turn] = ()
    made: Sequence[FilterArtifact] = ()
    previous: Previous | None = None
    in_turns: bool = True
    has_files: bool = False
    """Whether anything of a file stands in any turn of the thread (``in_turns``), or its project has files."""
    gone: frozenset[str] = frozenset()
    """Ids of turns that a request that is made again is to be without."""
    columns: tuple[str | None, ...] | None = None
    """Of the sources that were read along; ``None`` where there was no row that they could stand beside."""


def read_all(query: HistoryQuery, sources: KnownQuery) -> tuple[History, Known]:
    """The thread, and what the sources hold, in one statement. If that fails they are read apart: a source may be missing
    then, with a problem (C9), the thread may not."""
    if query.at:
        return read_history(query), read_known(sources)
    try:
        history = read_history(query, sources=sources)
    except DatabaseError as error:
        start_over()
        return read_history(query), read_one_by_one(sources, because=error)
    return history, read_known(sources) if history.columns is None else parse_known(sources, history.columns)


@dataclass(frozen=True, kw_only=True)
class UsableTurns:
    """Those of a history that a model is given, oldest first, and the others with their reasons."""

    turns: Sequence[Turn]
    excluded: Sequence[tuple[Turn, Reason]]


def usable_turns(history: History, newest: Turn | None = None, *, keeps_offline: bool) -> UsableTurns:
    """Where ``newest`` holds results of tools that were called, all that led to them stays. Pure."""
    turns = history.turns
    gone = exclusions(turns, history.made, keeps_offline=keeps_offline)
    if gone and newest and calls([*turns[-1:], newest])[0]:
        gone = {id: gone[id] for id in gone.keys() - {turns[place].id for place in exchanges(turns)[-1]}}
    if history.gone:
        gone |= {turn.id: Reason.OUTSIDE_PART for turn in turns if turn.id and str(turn.id) in history.gone}
    usable, orphans = whole([turn for turn in turns if turn.id not in gone] if gone else turns, newest)
    excluded = [(turn, gone[turn.id]) for turn in turns if turn.id in gone] if gone else []
    return UsableTurns(turns=usable, excluded=[*excluded, *((turn, Reason.ORPHAN_TOOL) for turn in orphans)])


def read_history(query: HistoryQuery, *, reach: int = 1, sources: KnownQuery | None = None) -> History:
    """The turns that may fit and one more where there is one; ``reach`` times as many to look further back. ``sources`` are
    read along, and then nothing is waited for."""
    if query.thread_id is None:
        return _beginning(query)
    values: dict[str, Any] = {
        "user": query.user_id,
        "thread": query.thread_id,
        "project": query.project,
        "since": lowest_since(query.last_reply or query.thread_id),
        "before": query.before,
        "tokens": (query.budget.history_tokens + 1) * reach,  # it may be zero, and must grow with the reach
        "turns": (query.budget.history_turns + 1) * reach,
        "filtering": query.filtering,
        "longest_reply": LONGEST_REPLY,
        "provider": query.provider,
        "model": query.model,
        "factor": query.factor.value,
    }
    if query.end:
        values["chain"] = chain_of(query.end, user_id=query.user_id, thread_id=query.thread_id, turns=values["turns"])
    statement = history_of_chain if query.end else history_statement
    if query.at:
        then = history_then(path=CHAIN if query.end else ACTIVE)
        rows = fetch_required(partial(run_often, then, values | {"at": query.at}))
    elif sources:
        rows = run_often(statement(*sources.columns.values()), {**sources.values, **values})
    else:
        rows = fetch_required(partial(run_often, statement(), values))
    if not rows:
        return _beginning(query)
    made, previous, in_turns, in_project, *columns = rows[0][TURN_COLUMNS:]
    return History(
        turns=_turns(query, rows),
        made=[made_artifact(*row) for row in json.loads(made)] if made else (),
        previous=previous_request(*json.loads(previous)) if previous else None,
        has_files=in_turns or in_project,
        in_turns=in_turns,
        columns=tuple(columns),
    )


def _beginning(query: HistoryQuery) -> History:
    """Where no turn comes before."""
    return History(has_files=has_files(query.user_id, query.project), in_turns=query.thread_id is not None)


def chain_of(end: PathEnd, *, user_id: int, thread_id: uuid.UUID | None, turns: int) -> list[int]:
    """The positions of so many of the newest turns of a path."""
    values = {"user": user_id, "thread": thread_id, "last": end.turn, "turns": turns}
    rows = fetch_required(partial(run_often, CHAIN_STATEMENT, values)) if end.turn else ()
    return [position for (position,) in rows]


def _turns(query: HistoryQuery, rows: Sequence[Row]) -> list[Turn]:
    turns = []
    for id, position, depth, role, text, content, tokens, created_at, reply, status, offline, counted, *_ in rows:
        if query.counts is not None:
            counted = query.counts.get(position)
        turns.append(
            Turn(
                id=id,
                position=position,
                depth=depth,
                role=role,
                content=json.loads(content) if content else text_blocks(text),
                token_count=query.factor.of_counted(counted) if counted else tokens,
                created_at=created_at,
                reply=reply,
                status=status,
                offline=offline,
                counted=counted or 0,
            )
        )
    return turns


def made_artifact(created_at: str, message: str | None, reply: str | None) -> FilterArtifact:
    return FilterArtifact(
        datetime.fromisoformat(created_at), uuid.UUID(message) if message else None, uuid.UUID(reply) if reply else None
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
