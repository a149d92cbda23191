"""Plans of the prompt cache for each assistant, from the requests that were recorded."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from conversations.context.rules.prompt_cache import FIVE_MINUTES, HOUR
from conversations.linter import cache_planner
from conversations.linter.cache_planner import Marks, Pause, Plan, Step
from conversations.providers import prices
from conversations.providers.prices import PriceList, Tokens
from conversations.runtime.db import run


def read_plans(statement: str, values: Mapping[str, Any], known: PriceList, at: datetime) -> dict[int, Plan]:
    """By assistant, of those to whose models the prices are known, at the prices of today."""
    steps: dict[tuple[int, str, str], list[Step]] = defaultdict(list)
    used: dict[tuple[int, str, str], Tokens] = {}
    for assistant, provider, model, *row in run(statement, **values):
        key = assistant, provider, model
        step, tokens = _step(*row)
        steps[key].append(step)
        used[key] = _added(used.get(key, Tokens()), tokens)
    plans: dict[int, list[Plan]] = defaultdict(list)
    for (assistant, provider, model), own in steps.items():
        price = prices.price_of(known, provider=provider, model=model, at=at, prompt=0)
        if price:
            tokens = used[assistant, provider, model]
            plans[assistant].append(cache_planner.plan(own, price, prices.cost_of(price, tokens)))
    return {assistant: cache_planner.together(own) for assistant, own in plans.items()}


def _step(
    pause: int,
    lived: bool,
    lives: bool,
    marks: str,
    keeps_system: bool,
    keeps_all: bool,
    example: str,
    *figures: int | Decimal,
) -> tuple[Step, Tokens]:
    requests, total, system, same_system, shared, plain, read, written, for_an_hour = map(int, figures)
    step = Step(
        pause=Pause(pause),
        lived=HOUR if lived else FIVE_MINUTES,
        lives=HOUR if lives else FIVE_MINUTES,
        marks=Marks(marks),
        keeps_system=keeps_system,
        keeps_all=keeps_all,
        requests=requests,
        example=example,
        total=total,
        system=system,
        same_system=same_system,
        shared=shared,
    )
    return step, Tokens(input=plain, cache_read=read, cache_write=written - for_an_hour, cache_write_hour=for_an_hour)


def _added(one: Tokens, other: Tokens) -> Tokens:
    return Tokens(**{kind: getattr(one, kind) + getattr(other, kind) for kind in prices.KINDS})
