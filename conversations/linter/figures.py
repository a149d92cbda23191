"""What a rule gives for each assistant, model and subject, added up to what is found, in tokens and money. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from conversations.providers import prices
from conversations.providers.prices import KINDS, PriceList, Tokens
from conversations.runtime.values import dataclass
from conversations.upkeep.hourly_figures import Hour

MOST_IDS = 20
PROMPT_KINDS = tuple(kind for kind in KINDS if kind != "output")

type ModelKey = tuple[int, str, str]
"""Assistant, provider and model."""


class Price(Enum):
    """What tokens of a finding cost."""

    PROMPT = "prompt"
    """What a token of the prompt cost on the average, from the cache or not."""
    MISSED = "missed"
    """What one costs more that is not read from the cache."""
    OWN = "own"
    """What the row says."""
    NOTHING = "nothing"
    """Nothing: they are room that was not used, or not there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What a rule found about a subject in the requests of an assistant to a model, of thirty days. ``details`` are figures and
    lists of ids by name."""

    assistant: int
    provider: str
    model: str
    subject: str
    count: int
    tokens: int
    example: str
    details: Mapping[str, Any]
    cost: Decimal | None = None

    @property
    def key(self) -> ModelKey:
        return self.assistant, self.provider, self.model


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """``cost`` is in USD, ``None`` where the tokens cost nothing or no price is known."""

    rule: str
    assistant: int
    subject: str
    setting: str
    count: int
    tokens: int
    cost: Decimal | None
    example: str
    details: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, int, str]:
        return self.rule, self.assistant, self.subject


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """USD for a token, by model; without what has no price."""

    by_price: Mapping[Price, Mapping[ModelKey, Decimal]]

    def cost(self, row: Row, price: Price) -> Decimal | None:
        if price is Price.OWN:
            return row.cost
        rate = self.by_price.get(price, {}).get(row.key)
        return None if rate is None else rate * row.tokens


def rates_of(hours: Iterable[Hour], known: PriceList, at: datetime) -> Rates:
    """Of the figures of hours, each at the price of its time; what is missed at the price of today."""
    paid: dict[ModelKey, Decimal] = {}
    sent: dict[ModelKey, int] = {}
    missed: dict[ModelKey, Decimal] = {}
    for hour in hours:
        key = hour.assistant, hour.provider, hour.model
        tokens = Tokens(**{kind: hour.figures[kind] for kind in PROMPT_KINDS})
        price = prices.price_of(known, provider=hour.provider, model=hour.model, at=hour.hour, prompt=hour.above + 1)
        if price and tokens.prompt:
            paid[key] = paid.get(key, Decimal(0)) + prices.cost_of(price, tokens)
            sent[key] = sent.get(key, 0) + tokens.prompt
        today = prices.price_of(known, provider=hour.provider, model=hour.model, at=at, prompt=0)
        if today:
            missed[key] = (today.input - today.cache_read) / 1_000_000
    average = {key: paid[key] / sent[key] for key in paid}
    return Rates(by_price={Price.PROMPT: average, Price.MISSED: missed})


def added_up(
    rule: str, rows: Iterable[Row], *, price: Price, setting: Mapping[str, str], rates: Rates
) -> list[Finding]:
    """One for each assistant and subject. ``setting`` names the assistant's field by the first word of the subject; the one
    without a word is for all others."""
    together: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        together.setdefault((row.assistant, row.subject), []).append(row)
    return [
        Finding(
            rule=rule,
            assistant=assistant,
            subject=subject,
            setting=setting.get(subject.partition(" ")[0]) or setting.get("", subject),
            count=sum(row.count for row in same),
            tokens=sum(row.tokens for row in same),
            cost=_sum(rates.cost(row, price) for row in same),
            example=max(row.example for row in same),
            details=_together(row.details for row in same),
        )
        for (assistant, subject), same in together.items()
    ]


def _sum(costs: Iterable[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if known else None


def _together(details: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Of figures the largest, of lists of ids the first few."""
    merged: dict[str, Any] = {}
    for each in details:
        for name, value in each.items():
            if isinstance(value, list):
                merged[name] = list(dict.fromkeys([*merged.get(name, []), *value]))[:MOST_IDS]
            else:
                merged[name] = max(merged.get(name, 0), value)
    return merged
