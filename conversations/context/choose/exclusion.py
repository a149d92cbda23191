"""The turns that no model is given are taken out before the window is cut, so that it fills with others (F1–F8)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.gather.reader import Reader
from conversations.context.rules.windowing import Candidates, needs_older, window_marks

READ_ON = 4
"""By how much the reach grows where filtering left too few turns."""


def read(reader: Reader, material: Material, choice: Choice) -> Material:
    """Reads on until the window can be filled with turns that are not excluded (F6)."""
    reach = 1
    query = replace(material.history_query, budget=choice.limits.fitting)
    while lacks_older(material, choice):
        reach *= READ_ON
        older = reader.older_turns(query, reach)
        material = replace(material, history=replace(material.history, turns=older.turns, made=older.made))
    return material


def lacks_older(material: Material, choice: Choice) -> bool:
    """Whether turns before those that were read could change the window."""
    turns = material.history.turns
    if not turns or turns[0].depth == 1:
        return False
    candidates = candidates_of(material, choice)
    return needs_older(candidates.turns, choice.limits.fitting, begin_at=choice.begin_at, marks=candidates.marks)


def choose(material: Material, choice: Choice) -> Choice:
    return replace(choice, candidates=candidates_of(material, choice))


def candidates_of(material: Material, choice: Choice) -> Candidates:
    usable = material.usable
    return Candidates(
        turns=usable.turns,
        excluded=usable.excluded,
        loaded=len(material.history.turns),
        marks=window_marks(usable.turns, choice.limits.fitting),
    )


STEP = Step(name="exclusion", label="Turns left out", read=read, choose=choose)
