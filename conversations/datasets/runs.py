"""Experiments that operators and staff start, and that workers run slice by slice: a row each, and a row of each case."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import batched
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import DecimalField, FloatField, QuerySet, Sum, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce

from conversations import audit
from conversations.accounts.group_access import access_of
from conversations.audit import AuditKind
from conversations.datasets import answers, arms, experiments, side_by_side
from conversations.datasets.arms import InvalidModels, InvalidPlan
from conversations.datasets.estimates import MOST_CASES, Estimate, Plan, estimate
from conversations.datasets.experiments import CaseResult as Result
from conversations.models import Case, CaseAnswer, CaseResult, Dataset, Experiment
from conversations.regression import slices
from conversations.regression.slices import Halted
from conversations.runtime import clock
from conversations.runtime.wording import worded

MOST_VERSIONS = 10
PAGE = 100
"""Cases that are read at once."""


class InvalidVersions(InvalidPlan):
    """No versions to compare."""


def checked(versions: Sequence[int]) -> list[int]:
    """Raises ``InvalidVersions``."""
    if not 1 <= len(versions) <= MOST_VERSIONS or len({*versions}) < len(versions) or min(versions) < 1:
        raise InvalidVersions(worded("Name from 1 to {count} versions, each once.", count=MOST_VERSIONS))
    return [*versions]


class TooCostly(InvalidPlan):
    """It would cost more than whoever begins it said, by the ``estimate``; or they did not say."""

    def __init__(self, told: Estimate) -> None:
        super().__init__(
            worded(
                "{answers} answers and {verdicts} verdicts would cost about {expected}, and {most} where each is as long as it "
                "may be.",
                "Say how many USD it may cost.",
                *(["Without a known price, and not counted: {unknown}."] if told["unknown"] else []),
                answers=told["answers"],
                verdicts=told["verdicts"],
                expected=f"${told['expected']:.2f}",
                most=f"${told['most']:.2f}",
                unknown=", ".join(told["unknown"]),
            )
        )
        self.estimate = told


@transaction.atomic
def start(dataset: Dataset, plan: Plan, *, author: User | None, most_cost: Decimal | None = None) -> Experiment:
    """Raises ``InvalidVersions``, ``InvalidModels`` and ``TooCostly``."""
    versions = checked(plan.versions)
    check_models(dataset, plan, author=author, most_cost=most_cost)
    count = dataset.cases.count()
    row = Experiment.objects.create(
        dataset=dataset,
        versions=versions,
        model_names=[*plan.models],
        judge=plan.judge,
        most_cost=most_cost if plan.models else None,
        cases=count if plan.limit is None else min(count, plan.limit),
        author=author,
        created_at=clock.now(),
    )
    details: dict[str, str | int] = {
        "act": "added",
        "dataset": str(dataset.pk),
        "versions": str(row.versions),
        "cases": row.cases,
    }
    if row.model_names:
        details |= {"models": ", ".join(row.model_names), "judge": row.judge, "most_cost": str(most_cost)}
    audit.record(AuditKind.ROW_ADDED, target=row, details=details)
    return row


def check_models(dataset: Dataset, plan: Plan, *, author: User | None, most_cost: Decimal | None) -> None:
    """Raises ``InvalidModels`` and ``TooCostly``."""
    if not plan.models:
        if plan.judge:
            raise InvalidModels(worded("A judge judges answers: name a model that answers, too."))
        return
    if author is None:
        raise InvalidModels(worded("Say who asks the models: their limits and budgets pay for it."))
    if min(dataset.cases.count(), plan.limit or MOST_CASES + 1) > MOST_CASES:
        raise InvalidModels(worded("Models are asked for {count} cases at most: say a limit.", count=MOST_CASES))
    arms.checked(dataset, plan.versions, plan.models, author=author.pk)
    if plan.judge:
        arms.demand_model(plan.judge, access_of(author.pk))
    told = estimate(dataset, plan)
    if most_cost is None or told["expected"] > most_cost:
        raise TooCostly(told)


def cancel(id: UUID) -> bool:
    """Whether it was running."""
    with transaction.atomic():
        row = slices.cancel(Experiment, id)
        if row:
            audit.record(AuditKind.ROW_CHANGED, target=row, details={"act": "cancelled"})
    return row is not None


@transaction.atomic
def resume(id: UUID, most_cost: Decimal | None = None) -> bool:
    """Go on with one that was cancelled or could not go on, which may cost so many USD in all; whether it is so."""
    ended = Experiment.objects.filter(pk=id, state__in=[Experiment.State.CANCELLED, Experiment.State.FAILED])
    row = ended.select_for_update(of=("self",)).first()
    if row is None:
        return False
    ended.update(
        state=Experiment.State.RUNNING,
        problem="",
        ended_at=None,
        most_cost=Coalesce(Value(most_cost, DecimalField()), "most_cost"),
    )
    audit.record(AuditKind.ROW_CHANGED, target=row, details={"act": "resumed", "most_cost": str(most_cost)})
    return True


def spent(row: Experiment) -> float:
    """USD of the answers and verdicts so far, as far as their prices are known."""
    costs = [Coalesce(Sum(Cast(KT(f"figures__{name}"), FloatField())), 0.0) for name in ("cost", "verdict_cost")]
    told = CaseAnswer.objects.filter(experiment=row).aggregate(answers=costs[0], verdicts=costs[1])
    return float(told["answers"] + told["verdicts"])


def due() -> QuerySet[Experiment]:
    return slices.running(Experiment)


def advance(is_stopped: Callable[[], bool]) -> None:
    """Run the oldest for a slice of time."""
    if row := due().order_by("id").first():
        slices.advance(row, ExperimentWork, is_stopped)


class ExperimentWork:
    def __init__(self, row: Experiment) -> None:
        self._row, self._done = row, list[CaseResult]()

    def steps(self) -> Iterator[UUID]:
        """Raises ``Waiting`` and ``Halted``."""
        for page in self._pages():
            for case, result in zip(page, experiments.run(page, self._row.versions), strict=True):
                if self._row.model_names and not result["problem"]:
                    self._ask(case)
                self._done.append(
                    CaseResult(
                        experiment=self._row, case=case, problem=result["problem"][:300], results=result["results"]
                    )
                )
                yield case.pk

    def _ask(self, case: Case) -> None:
        most = self._row.most_cost
        if most is not None and (cost := spent(self._row)) > most:
            raise Halted(f"It has cost ${cost:.2f}, of ${most} that it may.")
        answers.ask(self._row, case)

    def values(self) -> dict[str, Any]:
        return {}

    def keep(self) -> None:
        CaseResult.objects.bulk_create(self._done)
        self._done.clear()

    def _pages(self) -> Iterator[list[Case]]:
        """Those that were there as it began, behind the one that it got to."""
        row = self._row
        there = Case.objects.filter(dataset=row.dataset_id, created_at__lte=row.created_at).order_by("id")
        ids = [id for id in there.values_list("id", flat=True)[: row.cases] if row.last is None or id > row.last]
        for page in batched(ids, PAGE):
            yield [*there.filter(id__in=page).select_related("thread")]


def results_of(row: Experiment) -> list[Result]:
    """So far, in the order of the cases."""
    rows = CaseResult.objects.filter(experiment=row).select_related("case").order_by("case_id")
    return [{"request": str(each.case.request_id), "problem": each.problem, "results": each.results} for each in rows]


def answer_of(row: Experiment) -> experiments.Experiment:
    answer = experiments.experiment(row.dataset.name, results_of(row), row.versions)
    return {**answer, "answers": sums_of(row)} if row.model_names else answer


def sums_of(row: Experiment) -> list[side_by_side.ArmSum]:
    """Of each version with each model; nothing where no model is asked."""
    return side_by_side.sums(answers_of(row), arms.arms_of(row.versions, row.model_names))


def answers_of(row: Experiment) -> list[CaseAnswer]:
    """In the order of the cases, without their texts."""
    return [*CaseAnswer.objects.filter(experiment=row).defer("text", "reason").order_by("case_id", "id")]
