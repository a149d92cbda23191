"""Requests of an assistant, each built again and compared. Reads only."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from hashlib import sha256

from django.db.models import Q

from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.assistant_versions import assistant_then
from conversations.context.record.request_record import NotReplayable, Record, record_of
from conversations.context.render.rendering import digest
from conversations.models import Assistant, ContextSnapshot
from conversations.providers import ProviderError, prices
from conversations.providers.price_list import FREE, price_list
from conversations.providers.prices import PriceList, Tokens
from conversations.regression.outcomes import Outcome, Side, held, held_by, positions_of
from conversations.regression.report import Report
from conversations.regression.settings_at import settings_at
from conversations.runtime.db import read_only
from conversations.runtime.values import dataclass

REPLYING = (ContextSnapshot.Purpose.REPLY, ContextSnapshot.Purpose.ARTIFACT)


@dataclass(frozen=True, kw_only=True)
class Change:
    """``wanted`` is the assistant at the version that is tried; ``None``: each request's own, as this code builds it."""

    assistant: Assistant
    wanted: Assistant | None = None


def requests_of(assistant: Assistant, *, since: datetime, sample: int | None = None) -> Sequence[uuid.UUID]:
    """The ids of its requests that replied, oldest first; of more than ``sample`` as many, chosen by their ids."""
    of_version = Q(version__assistant=assistant) | Q(version=None, thread__assistant=assistant)
    made = ContextSnapshot.objects.filter(of_version, created_at__gte=since, purpose__in=REPLYING)
    ids = [*made.order_by("created_at", "id").values_list("id", flat=True)]
    if sample is None or len(ids) <= sample:
        return ids
    chosen = {*sorted(ids, key=lambda id: sha256(id.bytes).digest())[:sample]}
    return [id for id in ids if id in chosen]


def replay_requests(ids: Iterable[uuid.UUID], change: Change, report: Report) -> Iterator[uuid.UUID]:
    """Each id once its outcome is in the report. One that was deleted meanwhile is passed over."""
    known = price_list()
    for id in ids:
        snapshot = ContextSnapshot.objects.select_related("thread__assistant").filter(id=id).first()
        if snapshot:
            _add(snapshot, change, known, report)
        yield id


def _add(snapshot: ContextSnapshot, change: Change, known: PriceList, report: Report) -> None:
    try:
        with read_only():
            outcome, is_exact = outcome_of(record_of(snapshot), change, known)
    except NotReplayable as error:
        report.add_refusal(str(error))
    except ProviderError as error:
        report.add_refusal(error.message)
    else:
        report.add(outcome, is_exact=is_exact)


def outcome_of(record: Record, change: Change, known: PriceList) -> tuple[Outcome, bool]:
    """And whether with its own version it comes out as it was sent. Raises ``ProviderError``."""
    if change.wanted is None:
        own = replay.build(record, record.settings)
        before, after = _recorded_side(record, known), _side(own, record, known)
        return Outcome(request=record.snapshot.pk, before=before, after=after), before.digest == after.digest
    then = assistant_then(record.snapshot, record.thread.assistant)
    remade = replay.remake(record, settings_at(record, then, change.wanted))
    sides = [_side(context, record, known) for context in (remade.own, remade.other)]
    return Outcome(request=record.snapshot.pk, before=sides[0], after=sides[1]), remade.is_exact


def _side(context: Context, record: Record, known: PriceList) -> Side:
    tokens = context.model_tokens
    return Side(
        digest=digest(context.payload),
        held=held_by(context),
        tokens=tokens,
        cost=cost_of(context.provider, context.model, tokens, record, known),
        is_over_budget=tokens > context.whole_budget.total_tokens,
    )


def _recorded_side(record: Record, known: PriceList) -> Side:
    sent = record.snapshot
    material = snapshots.material_of(sent)
    runs = [run for run in snapshots.runs_of(sent) if run.included or run.reason is Reason.RECALLED]
    return Side(
        digest=bytes(sent.digest),
        held=held({*positions_of(runs)}, snapshots.items_of(sent, material), sent.files, thread=str(sent.thread_id)),
        tokens=sent.total_tokens,
        cost=cost_of(sent.provider, sent.model, sent.total_tokens, record, known),
        is_over_budget=sent.total_tokens > sent.budget,
    )


def cost_of(provider: str, model: str, tokens: int, record: Record, known: PriceList) -> Decimal | None:
    if provider in FREE:
        return Decimal(0)
    return prices.cost(known, provider=provider, model=model, at=record.at, usage=Tokens(input=tokens))
