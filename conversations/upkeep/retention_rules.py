"""Which rule says how long something is kept: pure, and the same order in every query.

The first rule that applies wins, in this order: the project's, then those of the person's groups, then the installation's row,
then its setting. A project is the narrower choice, so its rule may also be longer. Of several groups the shortest time wins:
each rule promises that nothing of its people is older, and only the shortest keeps all of these promises; what has to be kept
is the business of a legal hold, which outranks all rules. 0 days, for good, is the longest.
"""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True)
class Rule:
    """``days`` 0: for good. With neither group nor project it is the installation's. ``id`` 0: it is not stored yet;
    ``None``: it is the setting."""

    days: int
    id: int | None = None
    group: int | None = None
    project: uuid.UUID | None = None

    @property
    def kept(self) -> timedelta | None:
        """``None``: for good."""
        return timedelta(days=self.days) if self.days else None

    def applies(self, *, groups: Collection[int], project: uuid.UUID | None) -> bool:
        if self.project is not None:
            return self.project == project
        return self.group is None or self.group in groups


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """Of one kind: those that win come before those that lose."""
    return sorted(rules, key=_precedence)


def winner(rules: Iterable[Rule], *, groups: Collection[int], project: uuid.UUID | None) -> Rule:
    """The rule for what is in this project, or in none, and belongs to somebody in these groups. The rules must hold one of
    the installation."""
    return next(rule for rule in in_order(rules) if rule.applies(groups=groups, project=project))


def _precedence(rule: Rule) -> tuple[int, float, int]:
    number = rule.id or 0
    if rule.project is not None:
        return (0, 0, number)
    if rule.group is not None:
        return (1, rule.days or float("inf"), number)
    return (2, 0, number) if rule.id is not None else (3, 0, number)
