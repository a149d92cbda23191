"""What came of the scenarios: as JSON for programs, as a table for people."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

FORMAT = "chat-memory-conformance/1"


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    NOT_OFFERED = "not offered"
    NOT_RUN = "not run"
    """It could run if the suite were given more: ``why`` says what."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked for, and what was received."""

    question: str
    looked_for: str
    received: str
    passed: bool


@dataclass(frozen=True, kw_only=True)
class Result:
    """``why`` is empty where the scenario ran."""

    scenario: str
    promise: str
    outcome: Outcome
    checks: Sequence[Check] = ()
    why: str = ""
    seconds: float = 0

    @property
    def score(self) -> float | None:
        """The share of checks that passed; None where nothing was checked."""
        return sum(check.passed for check in self.checks) / len(self.checks) if self.checks else None


def as_json(system: str, results: Sequence[Result]) -> dict[str, Any]:
    counts = Counter(result.outcome for result in results)
    return {
        "format": FORMAT,
        "system": system,
        "outcomes": {outcome: counts[outcome] for outcome in Outcome},
        "scenarios": [{**asdict(result), "score": result.score} for result in results],
    }


def as_lines(system: str, results: Sequence[Result]) -> Iterator[str]:
    """A line a scenario; below those that did not pass, what was looked for and what was received."""
    width = max(len(result.scenario) for result in results)
    yield f"{system}: {', '.join(_counted(results))}"
    for result in results:
        score = "" if result.score is None else f"{sum(c.passed for c in result.checks)}/{len(result.checks)}"
        yield f"  {result.scenario:<{width}}  {result.outcome:<11}  {score:>5}  {result.why or result.promise}"
        for check in result.checks:
            if not check.passed:
                yield f"  {'':<{width}}    asked:      {check.question}"
                yield f"  {'':<{width}}    looked for: {check.looked_for}"
                yield f"  {'':<{width}}    received:   {check.received}"


def _counted(results: Sequence[Result]) -> Iterator[str]:
    counts = Counter(result.outcome for result in results)
    return (f"{counts[outcome]} {outcome}" for outcome in Outcome if counts[outcome])
