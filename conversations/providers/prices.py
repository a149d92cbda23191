"""What requests cost, by prices in USD for a million tokens.

A price that changes is a new one with its day, so that what was paid before stays what it was. A model that is not listed costs
nothing that is known: no name is taken for a similar one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
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
    name, day = plain_name(model), at.astimezone(UTC).date()
    known: Iterable[ModelPrice] = prices.get((ANY, name)) or prices.get((provider, name)) or ()
    fitting = [price for price in known if (price.since or day) <= day and price.above <= max(prompt - 1, 0)]
    return max(fitting, key=lambda price: (price.above, price.since or date.min), default=None)


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
