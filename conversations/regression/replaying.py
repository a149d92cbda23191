"""Requests of an assistant, each built again and compared. Reads only."""

import heapq
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from itertools import batched

from django.db.models import Q, QuerySet

from conversations.context import replay
from conversations.context.built_context import Context
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.assistant_versions import assistant_then
from conversations.context.record.request_record import NotReplayable, Record, record_of
from conversations.context.render.rendering import digest
from conversations.context.replay import ReplayedContexts
from conversations.models import Assistant, ContextSnapshot, Message
from conversations.providers import ProviderError, prices
from conversations.providers.price_list import FREE, price_list
from conversations.providers.prices import PriceList, Tokens
from conversations.regression.lifted_rules import settings_without
from conversations.regression.outcomes import (
    BESIDE,
    STANDING,
    Outcome,
    Side,
    held,
    held_by,
    positions_of,
    recorded_sections,
    sections_of,
)
from conversations.regression.report import Report
from conversations.regression.settings_at import settings_at
from conversations.runtime.db import read_only
from conversations.runtime.values import dataclass

REPLYING = (ContextSnapshot.Purpose.REPLY, ContextSnapshot.Purpose.ARTIFACT)
PAGE, READ_AT_ONCE = 500, 20
"""Ids and snapshots that are read at once."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """``wanted`` is the assistant at the version that is tried; ``None``: each request's own, as this code builds it, or as it
    would without the ``rule``."""

    assistant: Assistant
    wanted: Assistant | None = None
    rule: Reason | None = None


def requests_of(
    assistant: Assistant,
    *,
    since: datetime,
    until: datetime | None = None,
    sample: int | None = None,
    after: uuid.UUID | None = None,
) -> Iterator[uuid.UUID]:
    """The ids of its requests that replied, in their order; of more than ``sample`` as many, chosen by their ids. Those up to
    ``after`` are left out of what was chosen."""
    made = _made(assistant, since, until)
    if sample is not None:
        ids = made.values_list("id", flat=True).iterator()
        chosen = heapq.nsmallest(sample, ids, key=lambda id: sha256(id.bytes).digest())
        yield from sorted(id for id in chosen if after is None or id > after)
        return
    while page := [*(made.filter(id__gt=after) if after else made).order_by("id").values_list("id", flat=True)[:PAGE]]:
        yield from page
        after = page[-1]


def count_of(assistant: Assistant, *, since: datetime, until: datetime | None = None, sample: int | None = None) -> int:
    """How many ``requests_of`` gives."""
    count = _made(assistant, since, until).count()
    return count if sample is None else min(count, sample)


def _made(assistant: Assistant, since: datetime, until: datetime | None) -> QuerySet[ContextSnapshot]:
    of_version = Q(version__assistant=assistant) | Q(version=None, thread__assistant=assistant)
    made = ContextSnapshot.objects.filter(of_version, created_at__gte=since, purpose__in=REPLYING)
    return made.filter(created_at__lt=until) if until else made


def replay_requests(ids: Iterable[uuid.UUID], change: Change, report: Report) -> Iterator[uuid.UUID]:
    """Each id once its outcome is in the report. One that was deleted meanwhile is passed over."""
    known = price_list()
    made = ContextSnapshot.objects.select_related("thread__assistant", "version")
    for page in batched(ids, READ_AT_ONCE):
        read = made.in_bulk(page)
        for id in page:
            if snapshot := read.get(id):
                _add(snapshot, change, known, report)
            yield id


def _add(snapshot: ContextSnapshot, change: Change, known: PriceList, report: Report) -> None:
    try:
        with remaking():
            outcome, is_exact = outcome_of(record_of(snapshot), change, known)
    except NotReplayable as error:
        report.add_refusal(str(error))
    else:
        report.add(outcome, is_exact=is_exact)


@contextmanager
def remaking() -> Iterator[None]:
    """A transaction that reads, in which requests are made again. Raises ``NotReplayable`` where a provider refuses, too."""
    try:
        with read_only():
            yield
    except ProviderError as error:
        raise NotReplayable(error.message) from error


def outcome_of(record: Record, change: Change, known: PriceList) -> tuple[Outcome, bool]:
    """And whether with its own version it comes out as it was sent. Raises ``NotReplayable`` and ``ProviderError``."""
    remade = remade_by(change, record)
    if remade is None:
        own = replay.build(record, record.settings)
        demand_sources(own, record)
        before, after = _recorded_side(record, known), side_of(own, record, known)
        is_exact = before.digest == after.digest
    else:
        demand_sources(remade.other, record)
        before, after = (side_of(context, record, known) for context in (remade.own, remade.other))
        is_exact = remade.is_exact
    outcome = Outcome(request=record.snapshot.pk, before=before, after=after)
    return (replace(outcome, cited=_cited(record.snapshot)) if outcome.lost("parts") else outcome), is_exact


def remade_by(change: Change, record: Record) -> ReplayedContexts | None:
    """``None`` where nothing but this release is tried. Raises ``ProviderError``."""
    if change.rule:
        return remade_without(record, change.rule)
    return remade_at(record, change.wanted) if change.wanted else None


def remade_at(record: Record, wanted: Assistant) -> ReplayedContexts:
    """As it was, and as the assistant at another version would have had it. Raises ``ProviderError``."""
    then = assistant_then(record.snapshot, record.thread.assistant)
    return replay.remake(record, settings_at(record, then, wanted))


def remade_without(record: Record, rule: Reason) -> ReplayedContexts:
    """As it was, and as it would have been had a rule not held."""
    return replay.remake(record, settings_without(record, rule))


def demand_sources(context: Context, record: Record) -> None:
    """Raise ``NotReplayable`` where a source fails that did not fail then: what it would have given is not lost by a change."""
    failed = {problem.source for problem in context.problems} - {
        each["source"] for each in record.snapshot.problems or ()
    }
    if failed:
        raise NotReplayable(f"Could not be read now: {', '.join(sorted(failed))}.")


def _cited(snapshot: ContextSnapshot) -> frozenset[str]:
    """Parts of files that the reply cites, as ``Held`` names them."""
    answers = Message.objects.filter(user=snapshot.user_id, thread=snapshot.thread_id, reply=snapshot.reply_id)
    lists = answers.exclude(citations=None).values_list("citations", flat=True)
    return frozenset(f"{each['file']} {each['part']}" for citations in lists for each in citations or ())


def side_of(context: Context, record: Record, known: PriceList) -> Side:
    tokens = context.model_tokens
    return Side(
        digest=digest(context.payload),
        held=held_by(context),
        tokens=tokens,
        sections=sections_of(context),
        cached=context.cache.expected,
        cost=cost_of(context.provider, context.model, tokens, record, known),
        is_over_budget=tokens > context.whole_budget.total_tokens,
    )


def _recorded_side(record: Record, known: PriceList) -> Side:
    sent = record.snapshot
    runs = snapshots.runs_of(sent)
    items = {STANDING: record.items, BESIDE: sent.recalled or []}
    return Side(
        digest=bytes(sent.digest),
        held=held(
            positions_of(run for run in runs if run.included), runs, items, sent.files, thread=str(sent.thread_id)
        ),
        tokens=sent.total_tokens,
        sections=recorded_sections(sent),
        cached=snapshots.cache_of(sent).expected,
        cost=cost_of(sent.provider, sent.model, sent.total_tokens, record, known),
        is_over_budget=sent.total_tokens > sent.budget,
    )


def cost_of(provider: str, model: str, tokens: int, record: Record, known: PriceList) -> Decimal | None:
    if provider in FREE:
        return Decimal(0)
    return prices.cost(known, provider=provider, model=model, at=record.at, usage=Tokens(input=tokens))
