"""The newest turns that fit, and why those before them do not (W1, W3, W4)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.rules.windowing import window


def choose(material: Material, choice: Choice) -> Choice:
    candidates = choice.candidates
    turns, left_out = window(candidates.turns, choice.limits.fitting, begin_at=choice.begin_at, marks=candidates.marks)
    return replace(choice, parts=replace(choice.parts, history=turns), left_out=left_out)


STEP = Step(name="window", label="Window cut", choose=choose)
