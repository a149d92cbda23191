"""What requests cost, by prices in USD for a million tokens.

A price that changes is a new one with its day, so that what was paid before stays what it was. A model that is not listed costs
nothing that is known: no name is taken for a similar one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

from conversations.models import ModelPrice

ANY = ""
ESTIMATED_INPUT, ESTIMATED_OUTPUT = "estimated_input_tokens", "estimated_output_tokens"
"""Where a service told nothing."""
DATED = re.compile(r"-(?:\d{8}|latest)$")
"""Names of one model: ``claude-haiku-4-5`` and ``claude-haiku-4-5-20251001``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """What a provider reported, each token once: what was read from its cache or written to it is no other input."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_write_hour: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_write + self.cache_write_hour + self.cache_read


PriceList = Mapping[tuple[str, str], Sequence[ModelPrice]]
"""By provider (``ANY``: whichever) and model."""


def own(text: str) -> PriceList:
    """The prices that an operator wrote as JSON. Raises ``ValueError``.

    For example ``{"my-model": {"input": 1, "output": 5, "cache_write": 1.25, "cache_read": 0.1}}``, or a list of such prices
    with ``"since": "2026-01-01"`` where one changed. ``cache_write_hour`` may be left out: it is twice the input's, then. They
    are of the model through whatever provider.
    """
    try:
        prices = json.loads(text or "{}", parse_float=Decimal, parse_int=Decimal)
        return {(ANY, plain_name(model)): _own(told) for model, told in prices.items()}
    except (AttributeError, KeyError, TypeError, InvalidOperation) as error:
        raise ValueError(f"not prices by the name of a model: {text[:200]!r}") from error


def _own(entry: Any) -> list[ModelPrice]:
    prices = [_price(one) for one in (entry if isinstance(entry, list) else [entry])]
    if any(not Decimal(0) <= getattr(price, kind) < 1_000_000 for price in prices for kind in KINDS):
        raise ValueError("a price is a number of USD from 0 on")
    return prices


def _price(entry: Mapping[str, Any]) -> ModelPrice:
    values: dict[str, Any] = {"cache_write_hour": entry["input"] * 2, **entry}
    if "since" in entry:
        values["since"] = date.fromisoformat(entry["since"])
    if "above" in entry:
        values["above"] = int(entry["above"])
    return ModelPrice(**values)


KINDS = tuple(field.name for field in fields(Tokens))


def price_of(prices: PriceList, *, provider: str, model: str, at: datetime, prompt: int) -> ModelPrice | None:
    """The price of a request made then with so many input tokens; ``None`` where none is known."""
    known = prices_at(prices, provider=provider, model=model, at=at)
    fitting = [price for price in known if price.above <= max(prompt - 1, 0)]
    return max(fitting, key=lambda price: price.above, default=None)


def prices_at(prices: PriceList, *, provider: str, model: str, at: datetime) -> list[ModelPrice]:
    """The price of each size of a request that a model has then: of each the latest."""
    name, day = plain_name(model), at.astimezone(UTC).date()
    known: Iterable[ModelPrice] = prices.get((ANY, name)) or prices.get((provider, name)) or ()
    begun = sorted((price for price in known if (price.since or day) <= day), key=lambda price: price.since or date.min)
    return list({price.above: price for price in begun}.values())


def cost_of(price: ModelPrice, tokens: Tokens) -> Decimal:
    """USD. The cost of several requests of one price is the cost of their tokens together."""
    return sum((getattr(price, kind) * getattr(tokens, kind) for kind in KINDS), Decimal(0)) / 1_000_000


def cost(
    prices: PriceList, *, provider: str, model: str, at: datetime, usage: Mapping[str, int] | Tokens
) -> Decimal | None:
    """USD of one request by what the provider reported; ``None`` where it reported nothing or no price is known."""
    tokens = usage if isinstance(usage, Tokens) else tokens_of(usage)
    if tokens is None:
        return None
    price = price_of(prices, provider=provider, model=model, at=at, prompt=tokens.prompt)
    return cost_of(price, tokens) if price else None


def tokens_of(usage: Mapping[str, int]) -> Tokens | None:
    """``None`` where nothing is known; of what was not reported, the estimate."""
    if ESTIMATED_INPUT in usage:
        return Tokens(input=usage[ESTIMATED_INPUT], output=usage.get(ESTIMATED_OUTPUT, 0))
    if "input_tokens" not in usage:
        return None
    for_an_hour = usage.get("cache_creation_1h_input_tokens", 0)
    return Tokens(
        input=usage["input_tokens"],
        output=usage.get("output_tokens", 0),
        cache_write=usage.get("cache_creation_input_tokens", 0) - for_an_hour,
        cache_write_hour=for_an_hour,
        cache_read=usage.get("cache_read_input_tokens", 0),
    )


def thresholds(prices: PriceList) -> list[int]:
    """The numbers of input tokens above which some price is another."""
    return sorted({price.above for known in prices.values() for price in known} - {0})


def plain_name(model: str) -> str:
    """The id of a model without the date of its snapshot."""
    return DATED.sub("", model)


MICRO = 1_000_000
INPUT = tuple(kind for kind in KINDS if kind != "output")


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The prices of one model at one moment, by the size of a request. None, and not ``is_free``: not known. What they come to
    is in micro-dollars (USD / 1,000,000)."""

    prices: tuple[ModelPrice, ...] = ()
    is_free: bool = False

    @property
    def is_known(self) -> bool:
        return self.is_free or bool(self.prices)

    def most(self, *, input_tokens: int, output_tokens: int) -> int | None:
        """What a call may cost at most, whatever is read from a cache or written to it; ``None`` where that is not known."""
        if self.is_free:
            return 0
        if not self.prices:
            return None
        price = self._price(input_tokens)
        dearest = max(getattr(price, kind) for kind in INPUT)
        return _whole(dearest * input_tokens + price.output * output_tokens)

    def cost(self, usage: Mapping[str, int]) -> int:
        """What a call cost by what it used; 0 where that is not known."""
        tokens = tokens_of(usage)
        if self.is_free or not self.prices or tokens is None:
            return 0
        return _whole(cost_of(self._price(tokens.prompt), tokens) * MICRO)

    def _price(self, prompt: int) -> ModelPrice:
        fitting = [price for price in self.prices if price.above <= max(prompt - 1, 0)]
        return max(fitting or self.prices[:1], key=lambda price: price.above)


UNKNOWN = Rates()


def _whole(micro: Decimal) -> int:
    """A part of a micro-dollar counts as a whole one."""
    return int(micro.to_integral_value(ROUND_CEILING))
