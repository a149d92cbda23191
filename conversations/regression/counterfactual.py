"""A past request without something that it held, or with a note that nobody had made: rebuilt as a replay is. Reads only."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.record.request_record import NotReplayable, Record, record_of
from conversations.context.sources import AddedNote, Edit
from conversations.models import ContextSnapshot
from conversations.providers.price_list import price_list
from conversations.providers.prices import PriceList
from conversations.regression.outcomes import Outcome
from conversations.regression.replaying import REPLYING, demand_sources, remaking, side_of
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.values import dataclass

MOST = 200
"""Requests that are built again while somebody waits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteEffects:
    """What a note would have changed: of ``requests`` that were built again those that would differ; ``refused`` could not be
    built again, ``left`` are older ones that were not tried."""

    requests: int
    refused: int
    left: int
    outcomes: Sequence[Outcome]


def without(record: Record, id: str) -> Context:
    """Must run within ``remaking``. Raises ``NotReplayable``."""
    if str(record.newest.id) == id:
        raise NotReplayable("It is the message that was answered: without it there is no request.")
    return _edited(record, Edit(without=frozenset({id})))[1]


def with_added(record: Record, note: AddedNote) -> tuple[Context, Context]:
    """As it comes out, and as it would with the note. Must run within ``remaking``. Raises ``NotReplayable``."""
    return _edited(record, Edit(note=note) if _began(record) >= note.at else Edit())


def with_note(user_id: int, note: AddedNote) -> NoteEffects:
    """Of the person's newest requests since then that replied."""
    made = ContextSnapshot.objects.filter(
        thread__user=user_id, user=user_id, created_at__gte=note.at, id__gte=lowest_uuid7(note.at), purpose__in=REPLYING
    )
    prices = price_list()
    ids = made.order_by("-id").values_list("id", flat=True)[:MOST]
    results = [_outcome(snapshot, note, prices) for snapshot in _snapshots(ids)]
    outcomes = [result for result in results if result]
    return NoteEffects(
        requests=len(results),
        refused=len(results) - len(outcomes),
        left=max(0, made.count() - MOST),
        outcomes=[outcome for outcome in outcomes if not outcome.is_identical],
    )


def _snapshots(ids: Iterable[uuid.UUID]) -> Iterator[ContextSnapshot]:
    """One after another: some are large."""
    for id in ids:
        if snapshot := ContextSnapshot.objects.select_related("thread__assistant", "version").filter(id=id).first():
            yield snapshot


def _outcome(snapshot: ContextSnapshot, note: AddedNote, prices: PriceList) -> Outcome | None:
    """``None`` where it can't be built again."""
    try:
        with remaking():
            record = record_of(snapshot)
            own, other = with_added(record, note)
            return Outcome(
                request=snapshot.pk, before=side_of(own, record, prices), after=side_of(other, record, prices)
            )
    except NotReplayable:
        return None


def _began(record: Record) -> datetime:
    """When its session did, as far as its thread tells: what is known is read then, and stays."""
    return replay.session_then(record).started_at


def _edited(record: Record, edit: Edit) -> tuple[Context, Context]:
    own = replay.build(record, record.settings)
    other = replay.build(record, record.settings, own.material.beside if own.material else None, edit)
    demand_sources(other, record)
    return own, other
