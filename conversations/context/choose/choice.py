"""What has been chosen for a request so far. Each step adds to it (``builder.STEPS``)."""

from typing import Any

from conversations.context.files.excerpts import FileForm
from conversations.context.query import rewriting
from conversations.context.query.rewriting import Rewriting
from conversations.context.reasons import Reason
from conversations.context.rules.fitting import Parts
from conversations.context.rules.prompt_cache import CachePlan, CacheState, Lifetime
from conversations.context.rules.windowing import Candidates
from conversations.context.tokens.budget import Budget, BudgetOrigin
from conversations.models import Assistant
from conversations.runtime.values import dataclass

UNCHOSEN: Any = None
"""Stands where the step hasn't run yet that chooses it."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the request may take. ``assistant`` has its budgets in tokens.

    ``budget`` is in tokens of the model, as ``origin`` says, all else in estimated ones: ``fitting`` with what the history may
    take beside all else, ``file_room`` for files that stand in turns, ``read_room`` for what the reply may read of them.
    """

    assistant: Assistant
    origin: BudgetOrigin
    budget: Budget
    fitting: Budget
    file_room: int = 0
    read_room: int = 0


@dataclass(frozen=True, kw_only=True)
class Choice:
    """``parts`` grow from step to step and are fitted in the end; ``whole`` are those before that.

    ``cache_state`` tells whether the provider's prompt cache holds the request before, ``begin_at`` the position at which the
    window began then, where it does. ``left_out`` is why turns before the window are not in it. ``is_further``: the request
    comes after another of the same reply, all that stood in which stays where the hard cap allows it; ``stays``: it does.
    """

    limits: Limits = UNCHOSEN
    file_form: FileForm = UNCHOSEN
    parts: Parts = UNCHOSEN
    whole: Parts = UNCHOSEN
    cache_state: CacheState = CacheState.NONE
    begin_at: int | None = None
    candidates: Candidates = UNCHOSEN
    left_out: Reason = Reason.OVER_BUDGET
    query: Rewriting = rewriting.OFF
    lifetime: Lifetime | None = None
    cache: CachePlan = CachePlan()
    is_further: bool = False
    stays: bool = False
