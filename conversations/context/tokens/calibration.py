"""How a model's own count of tokens compares with the estimate, learnt from what it reported.

Budgets are in the tokens of the model that answers: a context is fitted with its factor. Until ten of its replies are known,
the factor is that of its row in the table of models. A snapshot records its figures in tokens of the model,
and the factor that they were made with, so that it never learns from itself.
"""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field

from django.db.models import Q

from conversations.context.record.snapshot_codec import unpack_counts, unpack_runs
from conversations.context.tokens.factor import Factor
from conversations.models import ContextSnapshot, TokenFactor
from conversations.providers import model_catalog
from conversations.runtime import clock
from conversations.runtime.values import dataclass

NEWEST = 50
"""Requests that are learnt from. A model's tokenizer doesn't change, what is talked about does."""

LOOKED_AT = 2_000
"""The newest requests of all models, among which they are looked for. No index leads to them: it would be written anew
with every answer."""

FEWEST = 10
"""Below so many, one odd request would decide."""

OF_ONE_USER = 10
"""As many requests as the requests of one user count for together, so that odd texts of one person don't set it for all."""

LEAST_TOKENS = 100
"""Estimated tokens below which a request tells more of what the provider adds to it than of the tokenizer."""

LOWEST, HIGHEST = 0.7, 1.6
LEAST_LIKELY, MOST_LIKELY = 0.5, 2.5
"""Beyond these it is no longer the tokenizer that differs: something else is in the request, or is not, or what is reported
is no count. Such a request teaches nothing."""

STEP = 0.05
"""Coarse, because a factor that trembles moves the start of the window and so breaks the prompt cache."""

LEARN_SECONDS = 60.0
"""Between two looks at the requests of a model that has as many as are learnt from."""
LEARN_REPLIES = 5
"""Between two looks where it has fewer."""
KEEP_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A request whose tokens were reported: whose it was, and both counts."""

    user: int
    estimated: float
    reported: int

    @property
    def ratio(self) -> float:
        return self.reported / self.estimated


@dataclass
class _CachedFactors:
    rows: dict[tuple[str, str], Factor] = field(default_factory=dict)
    until: float = 0.0
    learnt: dict[tuple[str, str], float] = field(default_factory=dict)
    samples: Counter[tuple[str, str]] = field(default_factory=Counter)
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)


_kept = _CachedFactors()


def of_model(provider: str, model: str) -> Factor:
    """What a context for this model is fitted with: learnt from its replies, else as its row was shipped."""
    if time.monotonic() >= _kept.until:
        rows = TokenFactor.objects.values_list("provider", "model", "value", "samples")
        _kept.rows = {(of, name): Factor(value=value, samples=samples) for of, name, value, samples in rows}
        _kept.until = time.monotonic() + KEEP_SECONDS
    return _kept.rows.get((provider, model)) or Factor(value=model_catalog.get(provider, model).token_factor)


def learn(provider: str, model: str, *, replies: int = 1) -> None:
    """Look at what the model reported and keep the factor, where it is time to: so many replies of its have just ended."""
    key = (provider, model)
    _kept.ended[key] += replies
    rested = time.monotonic() - _kept.learnt.get(key, -math.inf) >= LEARN_SECONDS
    if not rested and (_kept.samples[key] >= NEWEST or _kept.ended[key] < LEARN_REPLIES):
        return
    samples = samples_of(provider, model)
    _kept.learnt[key], _kept.samples[key] = time.monotonic(), len(samples)
    missing = FEWEST - len(samples)  # as soon as the tenth may be there it is looked again
    _kept.ended[key] = LEARN_REPLIES - missing if 0 < missing < LEARN_REPLIES else 0
    factor = learnt(samples)
    if factor is None or factor == _kept.rows.get(key):
        return
    TokenFactor.objects.update_or_create(
        provider=provider,
        model=model,
        defaults={"value": factor.value, "samples": factor.samples, "learnt_at": clock.now()},
    )
    _kept.until = 0.0


def forget() -> None:
    """The next question reads the rows again."""
    global _kept
    _kept = _CachedFactors()


def learnt(samples: Sequence[Sample]) -> Factor | None:
    """The factor that the samples show, ``None`` where they are too few. Pure.

    The median of their ratios, rounded up to the next step. All requests of one user weigh as much as ten at most.
    """
    usable = [
        sample for sample in samples if sample.estimated >= LEAST_TOKENS and LEAST_LIKELY <= sample.ratio <= MOST_LIKELY
    ]
    if len(usable) < FEWEST:
        return None
    of_user = Counter(sample.user for sample in usable)
    weights = {user: min(1.0, OF_ONE_USER / count) for user, count in of_user.items()}
    half = sum(weights[sample.user] for sample in usable) / 2
    reached, middle = 0.0, 1.0
    for sample in sorted(usable, key=lambda sample: sample.ratio):
        reached, middle = reached + weights[sample.user], sample.ratio
        if reached >= half:
            break
    # Rounded first: 1.15 / 0.05 is a little over 23 in binary.
    steps = math.ceil(round(middle / STEP, 6))
    return Factor(value=min(HIGHEST, max(LOWEST, round(steps * STEP, 2))), samples=len(usable))


def samples_of(provider: str, model: str) -> list[Sample]:
    """The newest requests for replies that the model answered whole. One statement.

    What a model thought goes back to it in the later requests of a reply, and is in no estimate.
    """
    newest = ContextSnapshot.objects.order_by("-id").values("id")[:LOOKED_AT]
    completed = ContextSnapshot.objects.filter(
        id__in=newest,
        provider=provider,
        model=model,
        status=ContextSnapshot.Status.COMPLETED,
        purpose=ContextSnapshot.Purpose.REPLY,
        usage__has_key="input_tokens",
    )
    completed = completed.exclude(~Q(thinking=""), round__gt=1).order_by("-id")
    rows = completed.values_list("thread__user_id", "total_tokens", "token_factor", "usage", "runs", "counts")[:NEWEST]
    return [
        sample(user, tokens, factor, reported_input(usage) or 0, exact=exact_tokens(runs, counts))
        for user, tokens, factor, usage, runs, counts in rows
    ]


def sample(user: int, tokens: int, factor: float, reported: int, *, exact: int) -> Sample:
    """Without the tokens of turns that the provider had counted: they tell nothing of the estimate. Pure."""
    return Sample(user=user, estimated=max(0, tokens - exact) / factor, reported=reported - exact)


def exact_tokens(runs: str, counts: str) -> int:
    """What was counted of the turns that a snapshot names as sent whole. Pure."""
    if not counts:
        return 0
    whole = [run for run in unpack_runs(runs) if run.included and not run.sha256]
    return sum(
        tokens
        for position, tokens in unpack_counts(counts).items()
        if any(run.first <= position <= run.last for run in whole)
    )


def reported_input(usage: Mapping[str, int]) -> int | None:
    """All input tokens of a request: the provider counts those of its cache apart from the rest."""
    if "input_tokens" not in usage:
        return None
    cached = usage.get("cache_read_input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
    return usage["input_tokens"] + cached
