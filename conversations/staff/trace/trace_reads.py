"""Reads what the map and the trace of a turn are made of: the requests of a thread that reply, and what was summarised."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import BooleanField, Case, QuerySet, Value, When

from conversations.context.explain import turn_history
from conversations.context.explain.turn_history import Parents, RequestOutcome, SummarizedRange
from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.turn_account import TurnRun
from conversations.models import ContextSnapshot, Message, Thread
from conversations.runtime.ids import lowest_since
from memory.models import ThreadSummary

REPLYING = (ContextSnapshot.Purpose.REPLY, ContextSnapshot.Purpose.ARTIFACT)
"""The others quote turns within a text of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedRequest:
    """A model request that replies. ``number`` counts those of its thread, from 1."""

    number: int
    id: UUID
    at: datetime
    purpose: str
    round: int
    runs: Sequence[TurnRun]


@dataclass(frozen=True, kw_only=True)
class SummarizedPart:
    """A part of the thread, by its summary. ``is_empty``: there was nothing to tell, or it was forgotten."""

    id: UUID
    part: SummarizedRange
    is_empty: bool
    is_stale: bool


def replying(thread: Thread) -> QuerySet[ContextSnapshot]:
    """The thread's requests that reply, oldest first."""
    since = lowest_since(thread.pk)
    requests = ContextSnapshot.objects.filter(thread=thread, id__gte=since, purpose__in=REPLYING)
    return requests.order_by("created_at", "id")


def requests(thread: Thread, first: int, last: int) -> list[TracedRequest]:
    """Those of these numbers."""
    rows = replying(thread).values_list("id", "created_at", "purpose", "round", "runs")[first - 1 : last]
    found = [
        TracedRequest(number=number, id=id, at=at, purpose=purpose, round=round, runs=snapshot_codec.unpack_runs(runs))
        for number, (id, at, purpose, round, runs) in enumerate(rows, start=first)
    ]
    if not any(run.is_mixed for request in found for run in request.runs):
        return found
    told = turn_history.told_apart([request.runs for request in found], parents_of(thread))
    return [replace(request, runs=runs) for request, runs in zip(found, told, strict=True)]


def outcomes(thread: Thread, position: int) -> list[RequestOutcome]:
    """What each request that replies did with the turn at this position."""
    rows = list(replying(thread).values_list("id", "created_at", "runs"))
    found = [snapshot_codec.run_at(runs, position) for _, _, runs in rows]
    parents = parents_of(thread) if any(run and run.is_mixed for run in found) else {}
    elsewhere = parents.keys() - turn_history.after(position, parents)
    return [
        RequestOutcome(number=number, id=id, at=at, reason=_reason(run, runs, elsewhere))
        for number, ((id, at, runs), run) in enumerate(zip(rows, found, strict=True), start=1)
    ]


def _reason(run: TurnRun | None, runs: str, elsewhere: Collection[int]) -> Reason | None:
    """Of a turn in a run of these, by where the paths end that don't lead through the turn."""
    if run and run.is_mixed and turn_history.end_of(snapshot_codec.unpack_runs(runs)) in elsewhere:
        return Reason.OTHER_BRANCH
    return run.reason if run else None


def parents_of(thread: Thread) -> Parents:
    """How its turns follow one another, on all branches."""
    turns = list(Message.objects.filter(user=thread.user_id, thread=thread).values_list("id", "position", "parent"))
    positions = {id: position for id, position, _ in turns}
    return {position: positions[parent] if parent else 0 for _, position, parent in turns}


def summaries(thread: Thread) -> list[SummarizedPart]:
    """The thread's summaries without what they say, in the order of its turns."""
    is_empty = Case(When(text="", then=Value(True)), default=Value(False), output_field=BooleanField())
    rows = ThreadSummary.objects.filter(thread=thread).annotate(is_empty=is_empty).order_by("first_position")
    return [
        SummarizedPart(
            id=id, part=SummarizedRange(first=first, last=last, at=at), is_empty=is_empty, is_stale=stale is not None
        )
        for id, first, last, at, is_empty, stale in rows.values_list(
            "id", "first_position", "last_position", "made_at", "is_empty", "stale_since"
        )
    ]
