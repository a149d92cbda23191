"""How a model's own count of tokens compares with the estimate, learnt from what it reported.

Shown to staff beside the figures of a request. Stored counts and ``total_tokens`` of snapshots are plain estimates, or the
factor would learn from itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from conversations.models import ContextSnapshot

NEWEST = 50
"""Requests that are learnt from. A model's tokenizer doesn't change, what is talked about does."""

LOOKED_AT = 2_000
"""The newest requests of all models, among which they are looked for. No index leads to them: it would be written anew
with every answer."""

FEWEST = 5
"""Below so many, one odd request would decide."""

LOWEST, HIGHEST = 0.7, 1.6
"""Beyond these it is no longer the tokenizer that differs: something else is in the request, or is not."""

STEP = 0.05
"""Coarse, because a factor that trembles moves the start of the window and so breaks the prompt cache."""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """Reported tokens for each estimated one, and how many requests say so. 1.0 where too few do."""

    value: float = 1.0
    samples: int = 0


def learnt(pairs: Sequence[tuple[int, int]]) -> Factor:
    """The factor that pairs of estimated and reported tokens show: their median ratio, rounded up to the next step."""
    ratios = [reported / estimated for estimated, reported in pairs if estimated > 0 and reported > 0]
    if len(ratios) < FEWEST:
        return Factor(samples=len(ratios))
    # Rounded first: 1.15 / 0.05 is a little over 23 in binary.
    steps = math.ceil(round(median(ratios) / STEP, 6))
    return Factor(value=min(HIGHEST, max(LOWEST, round(steps * STEP, 2))), samples=len(ratios))


def factor_of(*, provider: str, model: str) -> Factor:
    """The factor of a model behind a provider, which may add a prompt of its own. One statement."""
    newest = ContextSnapshot.objects.order_by("-id").values("id")[:LOOKED_AT]
    completed = ContextSnapshot.objects.filter(
        id__in=newest, provider=provider, model=model, status=ContextSnapshot.Status.COMPLETED
    ).order_by("-id")
    rows = completed.values_list("total_tokens", "usage")[:NEWEST]
    return learnt([(estimated, reported_input(usage) or 0) for estimated, usage in rows])


def reported_input(usage: Mapping[str, int]) -> int | None:
    """All input tokens of a request: the provider counts those of its cache apart from the rest."""
    if "input_tokens" not in usage:
        return None
    cached = usage.get("cache_read_input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
    return usage["input_tokens"] + cached
