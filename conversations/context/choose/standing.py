"""What stands before the turns all session long: the tiers, each within its budget, and what they leave for the history."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.rules.fitting import history_room, memory_room, tiers_room
from conversations.context.rules.standing import build_tiers, cut_tiers


def choose(material: Material, choice: Choice) -> Choice:
    limits, fixed_tokens = choice.limits, choice.parts.fixed_tokens
    tiers = build_tiers(material.known, limits.assistant, material.facts.factor)
    tiers = cut_tiers(tiers, tiers_room(fixed_tokens, limits.fitting))
    tiers = cut_tiers(tiers, memory_room(fixed_tokens, limits.fitting), firm=True)
    parts = replace(choice.parts, tiers=tiers)
    fitting = history_room(parts.prefix_tokens, limits.fitting)
    return replace(choice, parts=parts, limits=replace(limits, fitting=fitting))


STEP = Step(name="memory", label="Tiers chosen", choose=choose)
