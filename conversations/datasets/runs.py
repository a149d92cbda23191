"""Experiments that operators and staff start, and that workers run slice by slice: a row each, and a row of each case."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import audit
from conversations.audit import AuditKind, Details
from conversations.datasets import experiments
from conversations.datasets.experiments import CaseResult as Result
from conversations.models import Case, CaseResult, Dataset, Experiment
from conversations.regression import slices
from conversations.runtime import clock

MOST_VERSIONS = 10
PAGE = 100
"""Cases that are read at once."""


class InvalidVersions(ValueError):
    """No versions to compare; its words say what is wrong."""


def checked(versions: Sequence[int]) -> list[int]:
    """Raises ``InvalidVersions``."""
    if not 1 <= len(versions) <= MOST_VERSIONS or len({*versions}) < len(versions) or min(versions) < 1:
        raise InvalidVersions(f"Name from 1 to {MOST_VERSIONS} versions, each once.")
    return [*versions]


@transaction.atomic
def start(dataset: Dataset, versions: Sequence[int], *, author: User | None) -> Experiment:
    """Raises ``InvalidVersions``."""
    row = Experiment.objects.create(
        dataset=dataset, versions=checked(versions), cases=dataset.cases.count(), author=author, created_at=clock.now()
    )
    details: Details = {"act": "added", "dataset": str(dataset.pk), "versions": str(row.versions), "cases": row.cases}
    audit.record(AuditKind.ROW_ADDED, target=row, details=details)
    return row


def cancel(id: UUID) -> bool:
    """Whether it was running."""
    with transaction.atomic():
        row = slices.cancel(Experiment, id)
        if row:
            audit.record(AuditKind.ROW_CHANGED, target=row, details={"act": "cancelled"})
    return row is not None


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
        for page in self._pages():
            for case, result in zip(page, experiments.run(page, self._row.versions), strict=True):
                self._done.append(
                    CaseResult(
                        experiment=self._row, case=case, problem=result["problem"][:300], results=result["results"]
                    )
                )
                yield case.pk

    def values(self) -> dict[str, Any]:
        return {}

    def keep(self) -> None:
        CaseResult.objects.bulk_create(self._done)
        self._done.clear()

    def _pages(self) -> Iterator[list[Case]]:
        """Those that were there as it began, behind the one that it got to."""
        row, after = self._row, self._row.last
        there = Case.objects.filter(dataset=row.dataset_id, created_at__lte=row.created_at).order_by("id")
        while page := [*(there.filter(id__gt=after) if after else there)[:PAGE]]:
            yield page
            after = page[-1].pk


def results_of(row: Experiment) -> list[Result]:
    """So far, in the order of the cases."""
    rows = CaseResult.objects.filter(experiment=row).select_related("case").order_by("case_id")
    return [{"request": str(each.case.request_id), "problem": each.problem, "results": each.results} for each in rows]


def answer_of(row: Experiment) -> experiments.Experiment:
    return experiments.experiment(row.dataset.name, results_of(row), row.versions)
