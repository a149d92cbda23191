"""The prices that hold here.

A model behind no service costs nothing: the offline provider, and the one that runs in this process. Of any other whose price
is not known nothing is assumed.
"""

from datetime import datetime
from functools import lru_cache

from django.conf import settings

from conversations.providers import model_catalog, prices
from conversations.providers.base import OFFLINE
from conversations.providers.prices import PriceList, Rates

FREE = frozenset({OFFLINE, "local"})
"""Providers whose models cost nothing."""


def rates_of(provider: str, model: str, at: datetime) -> Rates:
    """May read the database."""
    return _rates(price_list(), provider, model, at)


def rates_in_memory(provider: str, model: str, at: datetime) -> Rates:
    """The same by the prices that were read last. Reads nothing itself."""
    return _rates({**model_catalog.prices_in_memory(), **own_prices()}, provider, model, at)


def price_list() -> PriceList:
    """Those of the models, and before them the operator's own."""
    return {**model_catalog.prices(), **own_prices()}


def own_prices() -> PriceList:
    return _own_prices(settings.OPENBOOK_PRICES)


_own_prices = lru_cache(maxsize=1)(prices.own)


def _rates(known: PriceList, provider: str, model: str, at: datetime) -> Rates:
    if provider in FREE:
        return Rates(is_free=True)
    prices_then = prices.prices_at(known, provider=provider, model=model, at=at)
    return Rates(prices=tuple(sorted(prices_then, key=lambda price: price.above)))
