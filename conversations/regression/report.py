"""What a change does to many requests: figures that grow by each, and the worst of them; of a size that does not grow."""

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypedDict
from xml.etree import ElementTree

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
    """As ``--json`` writes it. ``cost`` is in USD, of prompts that no cache holds; ``cached`` are tokens that the prompt cache
    was expected to hold."""

    requests: int
    identical: int
    same_items: int
    changed: int
    not_replayable: int
    inexact: int
    over_budget: int
    lost: Mapping[str, int]
    gained: Mapping[str, int]
    moved: Mapping[str, int]
    lost_cited: int
    reasons: Mapping[str, Mapping[str, int]]
    tokens: BeforeAfter
    cost: BeforeAfter
    cached: BeforeAfter
    sections: Mapping[str, BeforeAfter]
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

    @property
    def counts(self) -> BeforeAfter:
        return {"before": int(self.before), "after": int(self.after)}


NUMBERS = (
    "requests",
    "identical",
    "same_items",
    "changed",
    "not_replayable",
    "inexact",
    "newly_over_budget",
    "losing_cited",
)
COUNTERS = ("lost", "gained", "moved", "losing", "gaining", "moving", "why")
TOTALS = ("tokens", "cost", "cached")


@dataclass
class Report:
    """``inexact``: of those that were compared, how many do not come out as they were sent with their own version; they are
    compared with what comes out. ``same_items``: of those that changed, how many hold the same in the same places. ``losing``,
    ``gaining`` and ``moving`` count requests by what they lose, gain or hold elsewhere, ``losing_cited`` those that lose a part
    of a file that their reply cited. ``reasons`` are those of what is lost, by its kind."""

    requests: int = 0
    identical: int = 0
    same_items: int = 0
    changed: int = 0
    not_replayable: int = 0
    inexact: int = 0
    newly_over_budget: int = 0
    losing_cited: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    gained: Counter[str] = field(default_factory=Counter)
    moved: Counter[str] = field(default_factory=Counter)
    losing: Counter[str] = field(default_factory=Counter)
    gaining: Counter[str] = field(default_factory=Counter)
    moving: Counter[str] = field(default_factory=Counter)
    why: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in KINDS})
    tokens: Total = field(default_factory=Total)
    cost: Total = field(default_factory=Total)
    cached: Total = field(default_factory=Total)
    sections: dict[str, Total] = field(default_factory=dict)
    _worst: list[tuple[int, int, str]] = field(default_factory=list)

    def add_refusal(self, why: str) -> None:
        """Of a request that can't be made again."""
        self.requests += 1
        self.not_replayable += 1
        self.why[why] += 1

    def add(self, outcome: Outcome, *, is_exact: bool) -> None:
        before, after = outcome.before, outcome.after
        self.requests += 1
        self.inexact += not is_exact
        self.tokens.add(before.tokens, after.tokens)
        self.cost.add(before.cost, after.cost)
        self.cached.add(before.cached, after.cached)
        for name in before.sections.keys() | after.sections.keys():
            total = self.sections.setdefault(name, Total())
            total.add(before.sections.get(name, 0), after.sections.get(name, 0))
        if outcome.is_identical:
            self.identical += 1
        else:
            self._add_changed(outcome)

    def _add_changed(self, outcome: Outcome) -> None:
        self.changed += 1
        self.same_items += outcome.has_same_items
        self.newly_over_budget += outcome.after.is_over_budget and not outcome.before.is_over_budget
        self.losing_cited += bool(outcome.lost_cited)
        lost = {kind: outcome.lost(kind) for kind in KINDS}
        gained = {kind: outcome.gained(kind) for kind in KINDS}
        moved = {kind: outcome.moved(kind) for kind in KINDS}
        for counts, requests, names in (
            (self.lost, self.losing, lost),
            (self.gained, self.gaining, gained),
            (self.moved, self.moving, moved),
        ):
            for kind in KINDS:
                counts[kind] += len(names[kind])
                requests[kind] += bool(names[kind])
        for kind in KINDS:
            self.reasons[kind].update(outcome.after.held.why_not(kind, name) for name in lost[kind])
        place = (sum(map(len, lost.values())), sum(map(len, gained.values())), str(outcome.request))
        (heapq.heappush if len(self._worst) < WORST else heapq.heappushpop)(self._worst, place)

    @property
    def stored(self) -> dict[str, Any]:
        """As JSON, to go on later."""
        totals = {name: getattr(self, name) for name in TOTALS}
        return {
            **{name: getattr(self, name) for name in NUMBERS},
            **{name: dict(getattr(self, name)) for name in COUNTERS},
            **{name: [str(total.before), str(total.after)] for name, total in totals.items()},
            "reasons": {kind: dict(counts) for kind, counts in self.reasons.items()},
            "sections": {name: [str(total.before), str(total.after)] for name, total in self.sections.items()},
            "worst": self._worst,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Report":
        """From what ``stored`` gave; of nothing, an empty one."""
        report = cls()
        if not stored:
            return report
        for name in NUMBERS:
            setattr(report, name, stored[name])
        for name in COUNTERS:
            setattr(report, name, Counter(stored[name]))
        for name in TOTALS:
            setattr(report, name, Total(*map(Decimal, stored[name])))
        report.reasons = {kind: Counter(stored["reasons"][kind]) for kind in KINDS}
        report.sections = {name: Total(*map(Decimal, both)) for name, both in stored["sections"].items()}
        report._worst = [(lost, gained, request) for lost, gained, request in stored["worst"]]
        heapq.heapify(report._worst)
        return report

    @property
    def worst(self) -> Iterator[WorstRequest]:
        """Those that lose most, then those that gain most, first; none that neither loses nor gains."""
        for lost, gained, request in sorted(self._worst, key=lambda each: (-each[0], -each[1], each[2])):
            if lost or gained:
                yield {"request": request, "lost": lost, "gained": gained}

    def answer(self, failed: list[str]) -> ReportAnswer:
        return {
            "requests": self.requests,
            "identical": self.identical,
            "same_items": self.same_items,
            "changed": self.changed,
            "not_replayable": self.not_replayable,
            "inexact": self.inexact,
            "over_budget": self.newly_over_budget,
            "lost": {kind: self.lost[kind] for kind in KINDS},
            "gained": {kind: self.gained[kind] for kind in KINDS},
            "moved": {kind: self.moved[kind] for kind in KINDS},
            "lost_cited": self.losing_cited,
            "reasons": {kind: dict(self.reasons[kind]) for kind in KINDS},
            "tokens": self.tokens.counts,
            "cost": self.cost.answer,
            "cached": self.cached.counts,
            "sections": {name: total.counts for name, total in sorted(self.sections.items())},
            "worst": [*self.worst],
            "why_not_replayable": dict(self.why.most_common(10)),
            "failed": failed,
        }


def junit(assistant: str, cases: list[tuple[str, str]]) -> str:
    """Each condition as a test, with why it failed, if it did."""
    suite = ElementTree.Element(
        "testsuite", name=f"replay {assistant}", tests=str(len(cases)), failures=str(sum(bool(why) for _, why in cases))
    )
    for name, why in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="replay", name=name)
        if why:
            ElementTree.SubElement(case, "failure", message=why)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
