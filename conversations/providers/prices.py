"""What requests cost, by the prices that providers publish, in USD for a million tokens. Pure.

Anthropic's stand at https://platform.claude.com/docs/en/about-claude/pricing; these are of 2026-11-21. A price that changes is
a new entry with its day, so that what was paid before stays what it was. A model that is not listed costs nothing that is
known: no name is taken for a similar one.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

ANY = ""
DATED = re.compile(r"-(?:\d{8}|latest)$")
"""Names of one model: ``claude-haiku-4-5`` and ``claude-haiku-4-5-20251001``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """USD for a million tokens, from the first moment of a day in UTC on, of requests with more than ``above`` input tokens.

    ``cache_write`` is for five minutes.
    """

    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal
    since: date = date.min
    above: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokens:
    """What a provider reported: those of the cache are counted apart from the rest of the input."""

    input: int = 0
    output: int = 0
    cache_write: int = 0
    cache_read: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_write + self.cache_read


PriceList = Mapping[tuple[str, str], Sequence[Price]]
"""By provider (``ANY``: whichever) and model."""


def usd(input: str, output: str, cache_write: str, cache_read: str, **when: Any) -> Price:
    return Price(
        input=Decimal(input),
        output=Decimal(output),
        cache_write=Decimal(cache_write),
        cache_read=Decimal(cache_read),
        **when,
    )


CHEAPER_READS = date(2026, 10, 7)
PUBLISHED: Mapping[str, Sequence[Price]] = {
    "claude-fable-5-1 claude-mythos-5-1": [usd("10", "50", "12.5", "0.25")],
    "claude-fable-5 claude-mythos-5": [usd("10", "50", "12.5", "1")],
    "claude-opus-5-5": [usd("4", "20", "5", "0.2")],
    "claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5": [usd("5", "25", "6.25", "0.5")],
    "claude-opus-4-1 claude-opus-4-0 claude-opus-4 claude-3-opus": [usd("15", "75", "18.75", "1.5")],
    "claude-sonnet-5-5": [usd("2", "10", "2.5", "0.2"), usd("2", "10", "2.5", "0.1", since=CHEAPER_READS)],
    "claude-sonnet-5": [usd("2", "10", "2.5", "0.2")],
    "claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4-0 claude-sonnet-4 claude-3-7-sonnet": [
        usd("3", "15", "3.75", "0.3")
    ],
    "claude-haiku-5-5": [usd("0.1", "0.5", "0.125", "0.01"), usd("0.5", "2.5", "0.625", "0.05", above=100_000)],
    "claude-haiku-4-5": [usd("1", "5", "1.25", "0.1")],
    "claude-3-5-haiku": [usd("0.8", "4", "1", "0.08")],
    "claude-3-haiku": [usd("0.25", "1.25", "0.3", "0.03")],
}
SHIPPED: PriceList = {("anthropic", name): prices for names, prices in PUBLISHED.items() for name in names.split()}


def with_own(text: str) -> PriceList:
    """The shipped prices and, before them, those that an operator wrote as JSON. Raises ``ValueError``.

    For example ``{"my-model": {"input": 1, "output": 5, "cache_write": 1.25, "cache_read": 0.1}}``, or a list of such prices
    with ``"since": "2026-01-01"`` where one changed. They are of the model through whatever provider.
    """
    try:
        own = json.loads(text or "{}", parse_float=Decimal, parse_int=Decimal)
        read = {(ANY, _plain(model)): _own(prices) for model, prices in own.items()}
    except (AttributeError, TypeError, InvalidOperation) as error:
        raise ValueError(f"not prices by the name of a model: {text[:200]!r}") from error
    return {**SHIPPED, **read}


def _own(said: Any) -> list[Price]:
    prices = [_price(one) for one in (said if isinstance(said, list) else [said])]
    if any(not Decimal(0) <= getattr(price, kind) < 1_000_000 for price in prices for kind in KINDS):
        raise ValueError("a price is a number of USD from 0 on")
    return prices


def _price(said: Mapping[str, Any]) -> Price:
    values: dict[str, Any] = dict(said)
    if "since" in said:
        values["since"] = date.fromisoformat(said["since"])
    if "above" in said:
        values["above"] = int(said["above"])
    return Price(**values)


KINDS = tuple(field.name for field in fields(Tokens))


def price_of(prices: PriceList, *, provider: str, model: str, at: datetime, prompt: int) -> Price | None:
    """The price of a request made then with so many input tokens; ``None`` where none is known."""
    name, day = _plain(model), at.astimezone(UTC).date()
    known: Iterable[Price] = prices.get((ANY, name)) or prices.get((provider, name)) or ()
    fitting = [price for price in known if price.since <= day and price.above <= max(prompt - 1, 0)]
    return max(fitting, key=lambda price: (price.above, price.since), default=None)


def cost_of(price: Price, tokens: Tokens) -> Decimal:
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
    """``None`` where nothing was reported."""
    if "input_tokens" not in usage:
        return None
    return Tokens(
        input=usage["input_tokens"],
        output=usage.get("output_tokens", 0),
        cache_write=usage.get("cache_creation_input_tokens", 0),
        cache_read=usage.get("cache_read_input_tokens", 0),
    )


def thresholds(prices: PriceList) -> list[int]:
    """The numbers of input tokens above which some price is another."""
    return sorted({price.above for known in prices.values() for price in known} - {0})


def _plain(model: str) -> str:
    return DATED.sub("", model)
