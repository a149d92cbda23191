"""One side of a comparison: a model request with its texts and turns, as far as they may be shown. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_noop

from conversations.context.built_context import Context
from conversations.context.explain.comparing import (
    Page,
    page_with,
)
from conversations.context.record import snapshots
from conversations.context.record.snapshots import NotRebuildable
from conversations.context.render.rendering import digest, sha256
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot
from conversations.staff.snapshot.evidence import beyond
from memory.models import ThreadSummary


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What a question takes away: the id of a note, a turn or a file, and the position of a turn of the thread."""

    id: str = ""
    position: int | None = None

    def takes(self, item: str) -> bool:
        """Items of a file begin with its id."""
        return bool(self.id) and item.partition(" ")[0] == self.id


NOTHING_TAKEN = Taken()
TAKEN = gettext_noop("Taken away by this question")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two. ``texts`` by digest and ``turns`` by position are empty where content is not shown."""

    snapshot: ContextSnapshot
    page: Page
    texts: Mapping[str, str] = field(default_factory=dict)
    turns: Mapping[int, Turn] = field(default_factory=dict)
    items: Sequence[Mapping[str, Any]]
    shown: bool
    taken: Taken = NOTHING_TAKEN


def side_of(snapshot: ContextSnapshot, *, shown: bool) -> Side:
    """A request as it was recorded."""
    material = snapshots.material_of(snapshot)
    try:
        payload = snapshots.rebuild_from(snapshot, material)
    except NotRebuildable:
        payload = None
    proven = payload if payload and digest(payload) == bytes(snapshot.digest) else None
    return Side(
        snapshot=snapshot,
        page=page_with(snapshot, proven),
        texts=material.texts if shown else {},
        turns={turn.position: turn for turn in material.turns} if shown else {},
        items=snapshots.items_of(snapshot, material),
        shown=shown,
    )


def side_of_context(context: Context, thread_id: UUID, *, shown: bool) -> Side:
    """A request that was never made."""
    snapshot = snapshots.draft(context)
    snapshot.thread_id = thread_id
    return Side(
        snapshot=snapshot,
        page=page_with(snapshot, context.payload),
        texts={sha256(text).hex(): text for _, text in snapshots.texts_of(context)} if shown else {},
        turns={turn.position: turn for turn in context.parts.turns} if shown else {},
        items=[asdict(item) for item in (*context.items, *context.recalled)],
        shown=shown,
    )


def summaries_of(side: Side) -> list[ThreadSummary]:
    """The parts of a thread that are summarised by now, as far as the request was given turns of them."""
    runs = [run for run in side.page.runs if run.included]
    if not runs:
        return []
    summaries = ThreadSummary.objects.filter(
        thread=side.page.thread, last_position__gte=runs[0].first, first_position__lte=runs[-1].last
    )
    return list(
        summaries.exclude(text="").only("id", "thread_id", "first_position", "last_position").order_by("first_position")
    )


def neighbour(snapshot: ContextSnapshot, *, later: bool) -> ContextSnapshot | None:
    """The next or previous request of the thread that was made for the like."""
    same = Q(purpose=snapshot.purpose) if snapshot.quotes_turns else Q(purpose__in=["reply", "artifact"])
    snapshots = beyond(snapshot, "gt" if later else "lt").filter(same)
    return snapshots.select_related("thread__user", "thread__assistant", "version").first()
