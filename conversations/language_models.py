"""What models can do and cost: the rows of ``Model``, kept in memory for a few seconds, as every request asks for them."""

import re
import time
from dataclasses import dataclass, field

from conversations.models import Model

KEEP_SECONDS = 10.0
ROWS_OF = {"claude_cli": "anthropic"}
"""Whose models a provider uses, where they are not its own."""
DATED = re.compile(r"-(?:\d{8}|latest)$")
"""Names of one model: ``claude-haiku-4-5`` and ``claude-haiku-4-5-20251001``."""
UNKNOWN_WINDOW, UNKNOWN_OUTPUT = 200_000, 32_000


@dataclass
class _Kept:
    rows: dict[tuple[str, str], Model] = field(default_factory=dict)
    until: float = 0.0


_kept = _Kept()


def get(provider: str, name: str) -> Model:
    """The row of a model, by its id with or without a date. One that has no row is taken for a plain one: it doesn't think,
    has no effort and no cache, and counts as the estimate does."""
    provider, plain = ROWS_OF.get(provider, provider), DATED.sub("", name)
    return _rows().get((provider, plain)) or Model(
        provider=provider, name=plain, label=name, context_window=UNKNOWN_WINDOW, max_output=UNKNOWN_OUTPUT
    )


def reread() -> None:
    """The next question reads the rows again: staff have changed one."""
    _kept.until = 0.0


def _rows() -> dict[tuple[str, str], Model]:
    if time.monotonic() >= _kept.until:
        _kept.rows = {(row.provider, row.name): row for row in Model.objects.prefetch_related("prices")}
        _kept.until = time.monotonic() + KEEP_SECONDS
    return _kept.rows
