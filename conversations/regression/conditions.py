"""Conditions under which a run fails, as operators write them: ``lost.turns > 1 %``, ``cost > 5 %``. Pure.

Of what can be lost, gained or moved, of ``lost.cited`` (a part of a file that the reply cited), ``changed``, ``over_budget``
and ``not_replayable`` the number of requests counts, or with ``%`` their share of all; of ``tokens`` and ``cost`` by how many
per cent they have grown.
"""

import re
from collections.abc import Callable, Mapping

from conversations.regression.outcomes import KINDS
from conversations.regression.report import Report
from conversations.runtime.values import dataclass

FORM = re.compile(r"([a-z_.]{1,40})\s{0,9}>\s{0,9}(\d{1,9}(?:\.\d{1,6})?)\s{0,9}(%?)")
REQUESTS: Mapping[str, Callable[[Report], int]] = {
    "changed": lambda report: report.changed,
    "not_replayable": lambda report: report.not_replayable,
    "over_budget": lambda report: report.newly_over_budget,
    **{f"lost.{kind}": lambda report, kind=kind: report.losing[kind] for kind in KINDS},  # type: ignore[misc]
    "lost.cited": lambda report: report.losing_cited,
    **{f"gained.{kind}": lambda report, kind=kind: report.gaining[kind] for kind in KINDS},  # type: ignore[misc]
    **{f"moved.{kind}": lambda report, kind=kind: report.moving[kind] for kind in KINDS},  # type: ignore[misc]
}
GROWTH: Mapping[str, Callable[[Report], float]] = {
    "tokens": lambda report: report.tokens.growth,
    "cost": lambda report: report.cost.growth,
}


class InvalidCondition(ValueError):
    """A text that is no condition; its words say what one is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    text: str
    name: str
    limit: float
    is_share: bool

    def value(self, report: Report) -> float:
        """In per cent where the condition is."""
        if self.name in GROWTH:
            return GROWTH[self.name](report)
        count = REQUESTS[self.name](report)
        return 100 * count / max(report.requests, 1) if self.is_share else count

    def fails(self, report: Report) -> bool:
        return self.value(report) > self.limit

    def why_it_fails(self, report: Report) -> str:
        """Empty where it holds."""
        return f"it is {self.value(report):g}{' %' if self.is_share else ''}" if self.fails(report) else ""


def parse(text: str) -> Condition:
    """Raises ``InvalidCondition``."""
    match = FORM.fullmatch(text.strip())
    names = (*REQUESTS, *GROWTH)
    if match is None or match[1] not in names:
        raise InvalidCondition(
            f"“{text}” is no condition. Write NAME > NUMBER or NAME > NUMBER %, with {', '.join(names)}."
        )
    if match[1] in GROWTH and not match[3]:
        raise InvalidCondition(f"“{text}”: the growth of {match[1]} is given in per cent: {match[1]} > {match[2]} %.")
    return Condition(text=text.strip(), name=match[1], limit=float(match[2]), is_share=bool(match[3]))
