"""What the request may take: of the model's window, as the assistant and the caller limit it (W2)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice, Limits
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.tokens.budget import Budget, BudgetOrigin, in_tokens


def choose(material: Material, choice: Choice) -> Choice:
    facts, options = material.facts, material.request.options
    origin = BudgetOrigin.of(facts.assistant, window=facts.window, answer=facts.allowance.max_tokens)
    assistant = in_tokens(facts.assistant, origin.window)
    budget = options.lowered(Budget.of(assistant)).within(origin.room)
    limits = Limits(assistant=assistant, origin=origin, budget=budget, fitting=budget.estimated(facts.factor))
    return replace(choice, limits=limits)


STEP = Step(name="limits", label="Limits", choose=choose)
