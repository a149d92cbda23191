"""Versions with models side by side on the same cases: sums, and differences from the first. Pure."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TypedDict
from uuid import UUID

from conversations.datasets.answer_scorers import SCORERS
from conversations.datasets.arms import Arm
from conversations.datasets.paired import Difference, MedianDifference, difference, median_difference
from conversations.models import CaseAnswer


class ArmSum(TypedDict):
    """Of those that were ``answered``; ``unanswered`` have come to an end without. ``passed`` and ``scored`` by the scorer,
    where a case has something for it. ``cost`` in USD of answers with their verdicts, as far as prices are known. Differences
    are those from the first, over the cases that both answered: shares of cases that pass, medians of USD and milliseconds."""

    version: int
    model: str
    answered: int
    unanswered: int
    passed: Mapping[str, int]
    scored: Mapping[str, int]
    input: int
    output: int
    cost: float
    is_cost_known: bool
    milliseconds: float
    differences: Mapping[str, Difference]
    cost_difference: MedianDifference | None
    time_difference: MedianDifference | None


def sums(answers: Sequence[CaseAnswer], arms: Sequence[Arm]) -> list[ArmSum]:
    by_arm: dict[Arm, dict[UUID, CaseAnswer]] = {arm: {} for arm in arms}
    for answer in answers:
        arm = Arm(version=answer.version, model=answer.model)
        if arm in by_arm:
            by_arm[arm][answer.case_id] = answer
    return [_sum(arm, by_arm[arm], by_arm[arms[0]] if arm != arms[0] else None) for arm in arms]


def cost_of(answer: CaseAnswer) -> float | None:
    """With the verdict; ``None`` where a price is not known."""
    cost, verdict = answer.figures.get("cost"), answer.figures.get("verdict_cost", 0)
    return None if cost is None or verdict is None else float(cost) + float(verdict)


def _sum(arm: Arm, rows: Mapping[UUID, CaseAnswer], first: Mapping[UUID, CaseAnswer] | None) -> ArmSum:
    answered = {id: row for id, row in rows.items() if row.answered_at}
    costs = [cost_of(row) for row in answered.values()]
    pairs = [(row, answered[id]) for id, row in (first or {}).items() if row.answered_at and id in answered]
    return {
        "version": arm.version,
        "model": arm.model,
        "answered": len(answered),
        "unanswered": sum(bool(row.ended_at and not row.answered_at) for row in rows.values()),
        "passed": {name: sum(row.scores.get(name, False) for row in answered.values()) for name in SCORERS},
        "scored": {name: sum(name in row.scores for row in answered.values()) for name in SCORERS},
        "input": sum(row.figures.get("input", 0) for row in answered.values()),
        "output": sum(row.figures.get("output", 0) for row in answered.values()),
        "cost": sum(cost or 0.0 for cost in costs),
        "is_cost_known": None not in costs,
        "milliseconds": median([row.figures["milliseconds"] for row in answered.values()]) if answered else 0.0,
        "differences": _differences(pairs),
        "cost_difference": None
        if first is None
        else median_difference(
            (before, after)
            for one, other in pairs
            if (before := cost_of(one)) is not None and (after := cost_of(other)) is not None
        ),
        "time_difference": None
        if first is None
        else median_difference((one.figures["milliseconds"], other.figures["milliseconds"]) for one, other in pairs),
    }


def _differences(pairs: Sequence[tuple[CaseAnswer, CaseAnswer]]) -> dict[str, Difference]:
    told = {
        name: [
            (one.scores[name], other.scores[name])
            for one, other in pairs
            if name in one.scores and name in other.scores
        ]
        for name in SCORERS
    }
    return {name: difference(both) for name, both in told.items() if both}
