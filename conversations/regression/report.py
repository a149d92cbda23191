"""What a change does to many requests: figures that grow by each, and the worst of them; of a size that does not grow."""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypedDict

from conversations.regression.outcomes import KINDS, Outcome

WORST = 20


class BeforeAfter(TypedDict):
    before: float
    after: float


class WorstRequest(TypedDict):
    request: str
    lost: int
    gained: int


class ReportAnswer(TypedDict):
    """As ``--json`` writes it. ``cost`` is in USD, of prompts that no cache holds."""

    requests: int
    identical: int
    changed: int
    not_replayable: int
    inexact: int
    over_budget: int
    lost: Mapping[str, int]
    gained: Mapping[str, int]
    tokens: BeforeAfter
    cost: BeforeAfter
    worst: list[WorstRequest]
    why_not_replayable: Mapping[str, int]
    failed: list[str]


@dataclass
class Total:
    before: Decimal = Decimal(0)
    after: Decimal = Decimal(0)

    def add(self, before: Decimal | int | None, after: Decimal | int | None) -> None:
        """Of two figures that are both known."""
        if before is not None and after is not None:
            self.before += before
            self.after += after

    @property
    def growth(self) -> float:
        """In per cent; 0 where there was nothing."""
        return float(100 * (self.after - self.before) / self.before) if self.before else 0.0

    @property
    def answer(self) -> BeforeAfter:
        return {"before": float(self.before), "after": float(self.after)}


@dataclass
class Report:
    """``inexact``: of those that were compared, how many do not come out as they were sent with their own version; they are
    compared with what comes out. ``losing`` and ``gaining`` count requests by what they lose or gain."""

    requests: int = 0
    identical: int = 0
    changed: int = 0
    not_replayable: int = 0
    inexact: int = 0
    newly_over_budget: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    gained: Counter[str] = field(default_factory=Counter)
    losing: Counter[str] = field(default_factory=Counter)
    gaining: Counter[str] = field(default_factory=Counter)
    tokens: Total = field(default_factory=Total)
    cost: Total = field(default_factory=Total)
    why: Counter[str] = field(default_factory=Counter)
    _worst: list[tuple[int, int, str]] = field(default_factory=list)

    def add_refusal(self, why: str) -> None:
        """Of a request that can't be made again."""
        self.requests += 1
        self.not_replayable += 1
        self.why[why] += 1

    def add(self, outcome: Outcome, *, is_exact: bool) -> None:
        self.requests += 1
        self.inexact += not is_exact
        self.tokens.add(outcome.before.tokens, outcome.after.tokens)
        self.cost.add(outcome.before.cost, outcome.after.cost)
        if outcome.is_identical:
            self.identical += 1
            return
        self.changed += 1
        self.newly_over_budget += outcome.after.is_over_budget and not outcome.before.is_over_budget
        lost = {kind: len(outcome.lost(kind)) for kind in KINDS}
        gained = {kind: len(outcome.gained(kind)) for kind in KINDS}
        for counts, requests, numbers in ((self.lost, self.losing, lost), (self.gained, self.gaining, gained)):
            for kind, number in numbers.items():
                counts[kind] += number
                requests[kind] += number > 0
        place = (sum(lost.values()), sum(gained.values()), str(outcome.request))
        (heapq.heappush if len(self._worst) < WORST else heapq.heappushpop)(self._worst, place)

    def merge(self, other: "Report") -> None:
        """Take in the figures of another part of the same run."""
        for name in ("requests", "identical", "changed", "not_replayable", "inexact", "newly_over_budget"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("lost", "gained", "losing", "gaining", "why"):
            getattr(self, name).update(getattr(other, name))
        self.tokens.add(other.tokens.before, other.tokens.after)
        self.cost.add(other.cost.before, other.cost.after)
        self._worst = heapq.nlargest(WORST, [*self._worst, *other._worst])
        heapq.heapify(self._worst)

    @property
    def worst(self) -> Iterator[WorstRequest]:
        """Those that lose most, then those that gain most, first."""
        for lost, gained, request in sorted(self._worst, key=lambda each: (-each[0], -each[1], each[2])):
            yield {"request": request, "lost": lost, "gained": gained}

    def answer(self, failed: list[str]) -> ReportAnswer:
        return {
            "requests": self.requests,
            "identical": self.identical,
            "changed": self.changed,
            "not_replayable": self.not_replayable,
            "inexact": self.inexact,
            "over_budget": self.newly_over_budget,
            "lost": {kind: self.lost[kind] for kind in KINDS},
            "gained": {kind: self.gained[kind] for kind in KINDS},
            "tokens": {"before": int(self.tokens.before), "after": int(self.tokens.after)},
            "cost": self.cost.answer,
            "worst": [*self.worst],
            "why_not_replayable": dict(self.why.most_common(10)),
            "failed": failed,
        }
