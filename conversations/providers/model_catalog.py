"""What models can do and cost: the rows of ``Model``, kept in memory for a few seconds, as every request asks for them.

Synchronous, as it may have to read them.
"""

import copy
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from conversations.models import Model
from conversations.providers.prices import PriceList, plain_name

KEEP_SECONDS = 10.0
ROWS_OF = {"claude_cli": "anthropic"}
"""Whose models a provider uses, where they are not its own."""
CANT_SWITCH_OFF = frozenset({"claude_cli"})
"""Providers that have no words for it that a model is not to think which thinks unasked."""
UNKNOWN_WINDOW = 200_000
"""Of the models of clouds: those of today take as much."""
SMALL_WINDOW = 4_096
"""Of servers of one's own that don't tell: what Ollama and LM Studio begin with, and cut without a word beyond it. Too small a
window costs context, too large a one every reply."""
LARGEST_UNKNOWN_OUTPUT = 32_000


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What a model without a row takes, in tokens. ``source`` says how that is known."""

    context_window: int
    max_output: int
    source: Literal["told", "known", "assumed"]

    @classmethod
    def of(cls, context_window: int, source: Literal["told", "known", "assumed"], max_output: int = 0) -> "Sizes":
        """Without ``max_output`` an answer may have a quarter of the window."""
        output = max_output or min(context_window // 4, LARGEST_UNKNOWN_OUTPUT)
        return cls(context_window=context_window, max_output=min(output, context_window - 1), source=source)


LARGE = Sizes.of(UNKNOWN_WINDOW, "assumed")
SMALL = Sizes.of(SMALL_WINDOW, "assumed")


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """The rows and their prices by provider and name, and until when they are taken for true."""

    rows: Mapping[tuple[str, str], Model]
    prices: PriceList
    until: float
    names: Set[str]
    """Of the models, and of those that help beside them."""

    @classmethod
    def of(cls, rows: Sequence[Model], *, until: float) -> "Catalog":
        return cls(
            rows={(row.provider, row.name): row for row in rows},
            prices={model: prices for row in rows for model, prices in prices_of(row).items()},
            until=until,
            names={name for row in rows for name in (row.name, row.small_model)},
        )


_catalog = Catalog.of((), until=0)


def find(provider: str, name: str) -> Model | None:
    """The row of a model, by its id with or without a date."""
    return _rows().get((ROWS_OF.get(provider, provider), plain_name(name)))


def get(provider: str, name: str, sizes: Sizes = LARGE) -> Model:
    """The row of a model. One that has no row is taken for a plain one of these sizes: it doesn't think, has no effort and no
    cache, and counts as the estimate does. Ask ``Provider.describe`` where the sizes matter."""
    row = find(provider, name)
    if row is None:
        return Model(
            provider=provider,
            name=name,
            label=name,
            context_window=sizes.context_window,
            max_output=sizes.max_output,
        )
    if provider in CANT_SWITCH_OFF:
        row = copy.copy(row)
        row.thinking_off = Model.ThinkingOff.NEVER
    return row


def offered(provider: str) -> list[Model]:
    """The models that staff are offered for assistants of a provider, the first one first."""
    return [row for row in _rows().values() if row.provider == ROWS_OF.get(provider, provider) and row.is_active]


def known_names() -> Set[str]:
    """Of all models that had a row when the rows were last read. Reads nothing itself."""
    return _catalog.names


def small_model(provider: str, name: str) -> str:
    """The id of the model for helping tasks beside one, such as the contextualised query."""
    return get(provider, name).small_model or name


def prices() -> PriceList:
    """Of all rows that have some."""
    return _read_catalog().prices


def prices_in_memory() -> PriceList:
    """As they were read last. Reads nothing itself."""
    return _catalog.prices


def prices_of(row: Model) -> PriceList:
    return {(row.provider, row.name): list(row.prices.all())}


def reread() -> None:
    """The next question reads the rows again: staff have changed one."""
    global _catalog
    _catalog = replace(_catalog, until=0)


def _rows() -> Mapping[tuple[str, str], Model]:
    return _read_catalog().rows


def _read_catalog() -> Catalog:
    global _catalog
    known = _catalog
    if time.monotonic() >= known.until:
        rows = list(Model.objects.prefetch_related("prices"))
        _catalog = known = Catalog.of(rows, until=time.monotonic() + KEEP_SECONDS)
    return known
