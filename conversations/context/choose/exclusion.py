"""The turns that no model is given are taken out before the window is cut, so that it fills with others (F1–F8)."""

from dataclasses import replace

from conversations.context.choose.choice import Choice
from conversations.context.choose.step import Step
from conversations.context.gather.material import Material
from conversations.context.gather.reader import Reader
from conversations.context.reasons import Reason
from conversations.context.rules.windowing import Candidates, needs_older, whole, window_marks
from conversations.context.turns.exclusion import exclusions

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
    history = material.history
    turns = history.turns
    gone = exclusions(turns, history.made, keeps_offline=material.history_query.keeps_offline)
    usable, orphans = whole([turn for turn in turns if turn.id not in gone] if gone else turns)
    excluded = [(turn, gone[turn.id]) for turn in turns if turn.id in gone] if gone else []
    excluded += [(turn, Reason.ORPHAN_TOOL) for turn in orphans]
    marks = window_marks(usable, choice.limits.fitting)
    return Candidates(turns=usable, excluded=excluded, loaded=len(turns), marks=marks)


STEP = Step(name="exclusion", label="Turns left out", read=read, choose=choose)
