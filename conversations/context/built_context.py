"""A context that was built, and what it was built of: values alone."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from conversations.context.choose.choice import Choice
from conversations.context.files.account import PackedFiles
from conversations.context.gather.material import Material
from conversations.context.query import rewriting
from conversations.context.query.rewriting import Rewriting
from conversations.context.reasons import Reason
from conversations.context.record.turn_account import TurnRun
from conversations.context.render.rendering import QUOTING
from conversations.context.rules.fitting import (
    Parts,
    Section,
)
from conversations.context.rules.prompt_cache import CachePlan
from conversations.context.source_problems import Problem
from conversations.context.sources import SourceItem
from conversations.context.tokens.budget import Budget, BudgetOrigin
from conversations.context.tokens.factor import PLAIN, Factor
from conversations.context.turns.turn import Turn
from conversations.models import ContextSnapshot
from conversations.providers.base import Payload
from conversations.providers.thinking import NO_THINKING, ThinkingPlan
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Context:
    """Everything that one model request is given, and the account of what it is not.

    ``material`` and ``choice`` are what it was built of, where it answers a turn. Its parts are counted in estimated tokens,
    the account and ``budget`` in those of the model, by ``factor``. ``counts`` are the turns that the provider has counted, by
    position: those that were sent, and those that had no room.
    """

    purpose: ContextSnapshot.Purpose = ContextSnapshot.Purpose.REPLY
    provider: str
    model: str
    max_tokens: int
    thinking: ThinkingPlan = NO_THINKING
    parts: Parts
    runs: Sequence[TurnRun]
    files: PackedFiles | None = None
    turns_loaded: int
    budget: Budget
    origin: BudgetOrigin
    factor: Factor = PLAIN
    counts: Mapping[int, int] = field(default_factory=dict)
    fallback_for: str = ""
    fallback_cause: str = ""
    items: Sequence[SourceItem] = ()
    recalled: Sequence[SourceItem] = ()
    problems: Sequence[Problem] = ()
    rewriting: Rewriting = rewriting.OFF
    cache: CachePlan = field(default_factory=CachePlan)
    quoting: int | None = QUOTING
    payload: Payload
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    begins_after: int = 0
    material: Material | None = None
    choice: Choice | None = None

    @property
    def sections(self) -> list[Section]:
        """What comes before the turns, in order: definitions of tools and the parts of the system text (C1)."""
        return self.parts.prefix

    @property
    def history(self) -> Sequence[Turn]:
        return self.parts.history

    @property
    def newest(self) -> Turn:
        return self.parts.newest

    @property
    def history_tokens(self) -> int:
        return self.parts.history_tokens

    @property
    def total_tokens(self) -> int:
        if self.purpose.quotes_turns:
            return self.parts.prefix_tokens + sum(addition.tokens for addition in self.parts.additions)
        return self.parts.total_tokens

    @property
    def model_tokens(self) -> int:
        """What the whole context takes, in tokens of the model as far as they are known before it is asked: the sum of the
        figures that the snapshot names."""
        parts = [*self.sections, *self.parts.beside, *self.parts.rounds]
        turns = (
            ()
            if self.purpose.quotes_turns
            else (self.history_tokens, 0 if self.parts.silent else self.newest.token_count)
        )
        in_turns = 0 if self.purpose.quotes_turns else self.parts.file_tokens
        return sum(map(self.factor.of_estimate, [*(part.tokens for part in parts), *turns, in_turns]))

    @property
    def whole_budget(self) -> Budget:
        """With what files take, which have a room of their own."""
        return self.budget.beside_files(self.files["tokens"] if self.files else 0)

    @property
    def left_out(self) -> dict[str, int]:
        """How many turns were left out, by reason."""
        counts: dict[str, int] = {}
        for run in self.runs:
            if not run.included and run.reason is not Reason.RECALLED:
                counts[run.reason.value] = counts.get(run.reason.value, 0) + run.count
        return counts
