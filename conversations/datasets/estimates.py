"""What an experiment with models would cost, before it is begun. Reads only."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from statistics import mean
from typing import TypedDict

from conversations.context.record.request_record import NotReplayable
from conversations.context.tokens.estimate import estimate_tokens
from conversations.datasets import arms, judging
from conversations.datasets.arms import OWN, NotAsked
from conversations.models import Assistant, Case, ContextSnapshot, Dataset
from conversations.providers import prices
from conversations.providers.base import OFFLINE
from conversations.providers.price_list import FREE, price_list
from conversations.providers.prices import PriceList, Tokens
from conversations.runtime import clock
from conversations.runtime.values import dataclass

MOST_CASES = 1_000
"""Of an experiment that asks models."""
SHORT, VERDICT = 500, 150
"""Tokens of an answer where none is known, and of a verdict."""


class Estimate(TypedDict):
    """``expected`` and ``most`` in USD: with answers as long as those that were recorded, and as long as they may be.
    ``unknown`` are models without a price, which count nothing."""

    cases: int
    answers: int
    verdicts: int
    expected: float
    most: float
    unknown: list[str]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be run. ``limit``: so many cases at most."""

    versions: Sequence[int]
    models: Sequence[str] = ()
    judge: str = ""
    limit: int | None = None


def estimate(dataset: Dataset, plan: Plan) -> Estimate:
    there = Case.objects.filter(dataset=dataset).select_related("thread__assistant")
    cases = [*there.order_by("id")[: plan.limit]]
    named = {case.request_id for case in cases}
    requests = ContextSnapshot.objects.only("provider", "model", "total_tokens", "max_tokens", "usage").in_bulk(named)
    known, told = price_list(), [each.usage.get("output_tokens", 0) for each in requests.values()]
    output = round(mean([tokens for tokens in told if tokens] or [SHORT]))
    own = cache(_own)
    calls = [
        call
        for case in cases
        if (made := requests.get(case.request_id))
        for call in _calls(case, made, plan, output=output, own=own)
    ]
    costs = [(name, _cost(name, least, known), _cost(name, most, known)) for name, least, most in calls]
    judged = len(plan.versions) * len(plan.models) if plan.judge else 0
    return {
        "cases": len(cases),
        "answers": len(plan.versions) * len(plan.models) * len(cases),
        "verdicts": judged * sum(map(judging.is_wanted, cases)),
        "expected": float(sum((cost for _, cost, _ in costs if cost), Decimal(0))),
        "most": float(sum((cost for _, _, cost in costs if cost), Decimal(0))),
        "unknown": sorted({name for name, cost, _ in costs if cost is None}),
    }


def _calls(
    case: Case, made: ContextSnapshot, plan: Plan, *, output: int, own: Callable[[Assistant, int], str]
) -> Iterator[tuple[str, Tokens, Tokens]]:
    """Of each model, as provider/model, what a call takes as it seems, and at most. ``own`` tells a version's own model."""
    about = estimate_tokens(judging.INSTRUCTIONS + case.answer + case.criterion)
    room = judging.MAX_TOKENS + judging.THINKING_ROOM
    for name in plan.models:
        for version in plan.versions:
            yield (
                own(case.thread.assistant, version) if name == OWN else name,
                Tokens(input=made.total_tokens, output=output),
                Tokens(input=made.total_tokens, output=made.max_tokens),
            )
            if plan.judge and judging.is_wanted(case):
                yield (
                    plan.judge,
                    Tokens(input=about + output, output=VERDICT),
                    Tokens(input=about + made.max_tokens, output=room),
                )


def _own(assistant: Assistant, version: int) -> str:
    """As provider/model; the provider that costs nothing where it can't be asked."""
    try:
        return "/".join(arms.own_model(arms.version_at(assistant, version)))
    except (NotAsked, NotReplayable):
        return OFFLINE


def _cost(name: str, tokens: Tokens, known: PriceList) -> Decimal | None:
    provider, model = arms.split(name)
    if provider in FREE:
        return Decimal(0)
    return prices.cost(known, provider=provider, model=model, at=clock.now(), usage=tokens)
