"""Experiments as pages of the admin. They tell whether a context holds a text, so they are for those alone who may read
content."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from conversations.datasets import runs
from conversations.datasets.expectations import SCORERS
from conversations.datasets.experiments import Experiment as Answer
from conversations.datasets.experiments import VersionResult
from conversations.datasets.paired import Difference
from conversations.datasets.runs import InvalidVersions, checked
from conversations.models import AssistantVersion, CaseResult, Dataset, Experiment
from conversations.runtime.wording import filled, lazy
from conversations.staff import access, display
from conversations.staff.run_admin import RunAdmin

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Experiment]
else:
    ModelForm = forms.ModelForm

BAR_WIDTH = 120
MOST_WORST = 50
LABELS = {
    "evidence": gettext_noop("Evidence"),
    "contains": gettext_noop("Contains"),
    "patterns": gettext_noop("Patterns"),
}


class ExperimentForm(ModelForm):
    numbers = forms.CharField(
        label=lazy("Versions"),
        max_length=100,
        help_text=lazy("Their numbers, with spaces between. The others are compared with the first."),
    )

    class Meta:
        model = Experiment
        fields = ["dataset"]

    def clean_numbers(self) -> list[int]:
        try:
            return checked([int(number) for number in self.cleaned_data["numbers"].split()])
        except InvalidVersions as error:
            raise forms.ValidationError(str(error)) from None
        except ValueError:
            raise forms.ValidationError(gettext("Write numbers with spaces between.")) from None


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """How many cases of a version pass a scorer, and by how much that differs from the first, in points with an interval."""

    label: str
    passed: int
    cases: int
    width: float
    difference: str = ""
    told: str = ""


@dataclass(frozen=True, kw_only=True)
class VersionRow:
    number: int
    scores: Sequence[ScoreRow]
    tokens: int
    cost: str
    took: str


@dataclass(frozen=True, kw_only=True)
class CaseRow:
    """A case that passes with the first version and not with another. ``urls`` compare the request with each of these."""

    request: UUID
    page: str
    lost: int
    urls: Sequence[tuple[int, str]]


@dataclass(frozen=True, kw_only=True)
class ExperimentPage:
    versions: Sequence[VersionRow]
    worst: Sequence[CaseRow]
    problems: Sequence[tuple[str, int]]
    made: int


def page_of(row: Experiment) -> ExperimentPage:
    answer = runs.answer_of(row)
    made = sum(bool(case["results"]) for case in answer["cases"])
    return ExperimentPage(
        versions=[*_versions(answer)],
        worst=_worst(row),
        problems=[
            *CaseResult.objects.filter(experiment=row)
            .exclude(problem="")
            .values_list("problem")
            .annotate(count=Count("id"))
            .order_by("-count")[:10]
        ],
        made=made,
    )


def _versions(answer: Answer) -> Iterator[VersionRow]:
    each = [case["results"] for case in answer["cases"] if case["results"]]
    for place, total in enumerate(answer["totals"]):
        differences = answer["differences"].get(str(total["version"]), {})
        counts = {name: sum(name in results[place]["scores"] for results in each) for name in SCORERS}
        yield VersionRow(
            number=total["version"],
            scores=[
                _score(name, total["passed"].get(name, 0), count, differences.get(name))
                for name, count in counts.items()
                if count
            ],
            tokens=total["tokens"],
            cost=f"${total['cost']:.4f}",
            took=display.milliseconds(total["milliseconds"]),
        )


def _score(name: str, passed: int, cases: int, beside: Difference | None) -> ScoreRow:
    row = ScoreRow(label=gettext(LABELS[name]), passed=passed, cases=cases, width=round(BAR_WIDTH * passed / cases, 1))
    if beside is None:
        return row
    low, middle, high = (f"{100 * beside[part]:+.1f}".replace("-", "−") for part in ("low", "difference", "high"))
    told = filled(
        "{low} to {high}; {gained} gained, {lost} lost",
        low=low, high=high, gained=beside["gained"], lost=beside["lost"],
    )  # fmt: skip
    return ScoreRow(**{**vars(row), "difference": middle, "told": told})


def _worst(row: Experiment) -> list[CaseRow]:
    """Those that most scorers of most versions lose, first."""
    found = []
    for each in CaseResult.objects.filter(experiment=row, problem="").select_related("case__thread"):
        failing = {result["version"]: lost for result in each.results[1:] if (lost := _lost(each.results[0], result))}
        if failing:
            found.append((sum(failing.values()), each, failing))
    found.sort(key=lambda entry: -entry[0])
    worst = found[:MOST_WORST]
    ids = _version_ids(each for _, each, _ in worst)
    return [
        CaseRow(
            request=each.case.request_id,
            page=reverse("admin:conversations_contextsnapshot_change", args=[each.case.request_id]),
            lost=count,
            urls=[
                (number, _compare(each, pk))
                for number in failing
                if (pk := ids.get((each.case.thread.assistant_id, number)))
            ],
        )
        for count, each, failing in worst
    ]


def _lost(first: VersionResult, other: VersionResult) -> int:
    return sum(passes and not other["scores"].get(name, False) for name, passes in first["scores"].items())


def _version_ids(results: Any) -> Mapping[tuple[int, int], int]:
    assistants = {each.case.thread.assistant_id for each in results}
    rows = AssistantVersion.objects.filter(assistant__in=assistants).values_list("assistant", "number", "pk")
    return {(assistant, number): pk for assistant, number, pk in rows}


def _compare(each: CaseResult, version: int) -> str:
    return reverse(
        "admin:conversations_contextsnapshot_compare", args=[each.case.request_id], query={"version": version}
    )


@admin.register(Experiment)
class ExperimentAdmin(RunAdmin[Experiment]):
    """Whoever may add one may cancel it."""

    form = ExperimentForm
    change_form_template = "admin/conversations/experiment/change_form.html"
    list_display = ["started", "dataset", "tried", "stand", "progress", "by"]
    list_filter = ["state", "dataset"]
    list_select_related = ["dataset", "author"]
    fields = ["dataset", "numbers"]
    empty_text = (
        "No experiments. Add one to score the requests of a dataset as versions of an assistant would make them."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Experiment]:
        return super().get_queryset(request).annotate(done=Count("results"))

    def has_view_permission(self, request: HttpRequest, obj: Experiment | None = None) -> bool:
        return super().has_view_permission(request, obj) and request.user.has_perm(access.READ)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perms(["conversations.add_experiment", access.READ])

    def get_fields(self, request: HttpRequest, obj: Experiment | None = None) -> Any:
        return self.fields if obj is None else ["dataset"]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        newest = Dataset.objects.order_by("-created_at").values_list("pk", flat=True).first()
        return {"dataset": request.GET.get("dataset", newest), "numbers": "1"}

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Experiment:
        assert isinstance(request.user, User)
        return runs.start(form.cleaned_data["dataset"], form.cleaned_data["numbers"], author=request.user)

    def cancel(self, id: UUID) -> bool:
        return runs.cancel(id)

    def page(self, row: Experiment) -> dict[str, Any]:
        return {
            "title": str(row.dataset),
            "experiment": page_of(row),
            "verdict": self.verdict(row),
        }

    def verdict(self, row: Experiment) -> str:
        if row.state == Experiment.State.FAILED:
            return filled("It could not go on: {problem}", problem=row.problem)
        return filled("{done} of {count} cases", done=row.done, count=row.cases)  # type: ignore[attr-defined]

    @admin.display(description="versions")
    def tried(self, row: Experiment) -> str:
        return ", ".join(map(str, row.versions))

    @admin.display(description="state", ordering="state")
    def stand(self, row: Experiment) -> str:
        return gettext(str(Experiment.State(row.state).label))

    @admin.display(description="cases")
    def progress(self, row: Any) -> str:
        return filled("{done} of {count}", done=display.number(row.done), count=display.number(row.cases))
