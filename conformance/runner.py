"""Plays scenarios with a system, one after another."""

import time
from collections.abc import Iterable, Iterator

from conformance.memory import Ability, ChatMemory, MemoryFailed
from conformance.report import Check, Outcome, Result
from conformance.scenarios import Scenario, Stage


def run(memory: ChatMemory, scenarios: Iterable[Scenario]) -> Iterator[Result]:
    """A result each, as soon as it is there."""
    for scenario in scenarios:
        missing = [ability for ability in Ability if ability in scenario.needs and memory.lacks(ability)]
        if missing:
            yield _not_played(memory, scenario, missing)
        else:
            yield _played(memory, scenario)


def _not_played(memory: ChatMemory, scenario: Scenario, missing: list[Ability]) -> Result:
    could = all(ability in memory.abilities for ability in missing)
    return Result(
        scenario=scenario.name,
        promise=scenario.promise,
        outcome=Outcome.NOT_RUN if could else Outcome.NOT_OFFERED,
        why="; ".join(memory.lacks(ability) for ability in missing),
    )


def _played(memory: ChatMemory, scenario: Scenario) -> Result:
    stage, began = Stage(memory), time.perf_counter()
    try:
        scenario.play(stage)
        memory.clear()
    except MemoryFailed as error:
        stage.checks.append(
            Check(question="Calls of the scenario", looked_for="an answer", received=str(error), passed=False)
        )
    return Result(
        scenario=scenario.name,
        promise=scenario.promise,
        outcome=Outcome.PASSED if all(check.passed for check in stage.checks) else Outcome.FAILED,
        checks=stage.checks,
        seconds=round(time.perf_counter() - began, 3),
    )
