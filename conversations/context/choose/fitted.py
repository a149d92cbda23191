"""All of it within the budget, and within the hard cap whatever it takes (W5, W6)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.rules.fitting import fit


def choose(material: Material, choice: Choice) -> Choice:
    whole, budget = choice.parts, choice.limits.fitting
    if choice.stays:
        budget = replace(budget, total_tokens=budget.hard_cap)
    return replace(choice, whole=whole, parts=fit(whole, budget.beside_files(whole.file_tokens)))


STEP = Step(name="tokens", label="Fitted", choose=choose)
