"""How one reply is asked for, beside what its assistant says: by a program, by the reader, or after an attempt that failed."""

import copy
from collections.abc import Sequence
from dataclasses import replace

from conversations.context.rules.fitting import Section
from conversations.context.source_problems import Problem, ProblemKind
from conversations.context.tokens.budget import Budget
from conversations.context.tokens.thinking import OutputAllowance
from conversations.models import Assistant, Model
from conversations.providers.caller_fields import NO_FIELDS, CallerFields
from conversations.runtime.values import dataclass


@dataclass(frozen=True, kw_only=True)
class CallerOptions:
    """``instructions`` stand after the assistant's own. ``max_tokens`` can only lower what the assistant may say, and
    ``thinking_tokens`` what its model may think. ``fields`` are what else a program asks the model for.

    ``model`` is asked in place of the assistant's, at ``provider`` where that is not the assistant's either; ``fallback_for``
    is the one that did not answer, ``fallback_cause`` the code of why. ``least_output`` are the tokens that it may write and
    think at least, after it thought for too long; ``most_input`` those that it is given at most, after it could not take
    more. ``rounds`` are what the reply said and did before, where it goes on. ``not_built_for`` is, for staff, why no request
    could be made for a model that was to be asked before.
    """

    instructions: str = ""
    fields: CallerFields = NO_FIELDS
    max_tokens: int | None = None
    thinking_tokens: int | None = None
    model: str = ""
    provider: str = ""
    fallback_for: str = ""
    fallback_cause: str = ""
    least_output: int = 0
    most_input: int | None = None
    rounds: Sequence[Section] = ()
    not_built_for: str = ""

    def at_most(self, tokens: int) -> int:
        return tokens if self.max_tokens is None else min(tokens, self.max_tokens)

    def thinking(self, assistant: Assistant) -> Assistant:
        """The assistant, or a copy that thinks less."""
        if self.thinking_tokens is None or self.thinking_tokens >= assistant.thinking_tokens:
            return assistant
        lowered = copy.copy(assistant)
        lowered.thinking_tokens = self.thinking_tokens
        return lowered

    def raised(self, allowance: OutputAllowance, model: Model) -> OutputAllowance:
        """With room for an answer beside all that the model thinks."""
        more = min(self.least_output, model.max_output) - allowance.max_tokens
        if more <= 0:
            return allowance
        plan = replace(allowance.thinking, room=allowance.thinking.room + more)
        return OutputAllowance(max_tokens=allowance.max_tokens + more, thinking=plan)

    def lowered(self, budget: Budget) -> Budget:
        if self.most_input is None:
            return budget
        cap = min(budget.hard_cap, self.most_input)
        return replace(budget, hard_cap=cap, total_tokens=min(budget.total_tokens, cap))

    @property
    def problems(self) -> list[Problem]:
        found = []
        if self.not_built_for:
            found.append(Problem(source="provider", kind=ProblemKind.ERROR, message=self.not_built_for))
        if self.most_input is not None:
            message = (
                f"The model could not take the request before. This one was built within {self.most_input:,} tokens."
            )
            found.append(Problem(source="size", kind=ProblemKind.TOO_LARGE, message=message))
        return found


NO_OPTIONS = CallerOptions()
