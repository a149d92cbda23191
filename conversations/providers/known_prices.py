"""What models of other makers cost, as the package genai-prices lists it: by the address that they are asked at. Pure.

A model behind an address that it doesn't know, such as a server of one's own, has no known price.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from genai_prices import types
from genai_prices.data_snapshot import get_snapshot

from conversations.models import ModelPrice


def known_prices(base_url: str, model: str) -> list[ModelPrice]:
    """Rows that are not stored yet, one for each day that a price began at and each size of a request that has its own.

    None where the price depends on the time of the day: rows can't say that, and a wrong one is worse than none.
    """
    info = _find(base_url, model)
    if info is None:
        return []
    conditional = info.prices if isinstance(info.prices, list) else [types.ConditionalPrice(prices=info.prices)]
    if any(isinstance(price.constraint, types.TimeOfDateConstraint) for price in conditional):
        return []
    return [row for price in conditional for row in _rows(price)]


def known_window(base_url: str, model: str) -> int | None:
    """Tokens that the model takes, where that is known."""
    info = _find(base_url, model)
    return info.context_window if info else None


def _find(base_url: str, model: str) -> types.ModelInfo | None:
    try:
        _, info = get_snapshot().find_provider_model(model, None, None, base_url)
    except LookupError:
        return None
    return info


def _rows(price: types.ConditionalPrice) -> Iterator[ModelPrice]:
    prices = price.prices
    since = price.constraint.start_date if isinstance(price.constraint, types.StartDateConstraint) else None
    if prices.input_mtok is None or prices.output_mtok is None:
        return
    listed: list[Any] = [prices.input_mtok, prices.output_mtok, prices.cache_read_mtok, prices.cache_write_mtok]
    starts = {tier.start for value in listed if isinstance(value, types.TieredPrices) for tier in value.tiers}
    for above in sorted({0, *starts}):
        input, output, read, write = (_at(value, above) for value in listed)
        assert input is not None and output is not None
        yield ModelPrice(
            since=since,
            above=above,
            input=input,
            output=output,
            cache_read=input if read is None else read,
            cache_write=input if write is None else write,
            cache_write_hour=input if write is None else write,
        )


def _at(value: Decimal | types.TieredPrices | None, above: int) -> Decimal | None:
    """Of a request with more than so many input tokens."""
    if isinstance(value, types.TieredPrices):
        return next((tier.price for tier in reversed(value.tiers) if tier.start <= above), value.base)
    return value
