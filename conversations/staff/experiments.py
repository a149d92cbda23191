"""Experiments as pages of the admin. They tell whether a context holds a text, so they are for those alone who may read
content."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext, gettext_noop

from conversations.datasets import runs
from conversations.datasets.arms import InvalidModels
from conversations.datasets.estimates import Plan
from conversations.datasets.expectations import SCORERS
from conversations.datasets.experiments import Experiment as Answer
from conversations.datasets.experiments import VersionResult
from conversations.datasets.paired import Difference
from conversations.datasets.runs import InvalidVersions, TooCostly, checked
from conversations.models import AssistantVersion, Case, CaseResult, Dataset, Experiment
from conversations.runtime.wording import filled, lazy, translated
from conversations.staff import access, display, experiment_answers
from conversations.staff.run_admin import RunAdmin

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Experiment]
else:
    ModelForm = forms.ModelForm

BAR_WIDTH = 120
MOST_WORST = 50
RESUMED = (Experiment.State.CANCELLED, Experiment.State.FAILED)
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
    asked = forms.CharField(
        label=lazy("Models that answer"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=lazy(
            "One a line, as provider/model; own is that of each version. They are given the conversations of the cases. "
            "Empty: only contexts are compared, and no model is asked."
        ),
    )
    judge = forms.CharField(
        label=lazy("Model that judges"),
        required=False,
        max_length=160,
        help_text=lazy("As provider/model. It is given the message, the answer and what the case says of a good one."),
    )
    limit = forms.IntegerField(
        label=lazy("Cases at most"), required=False, min_value=1, help_text=lazy("The first of them. Empty: all.")
    )
    most_cost = forms.DecimalField(
        label=lazy("USD at most"),
        required=False,
        min_value=0,
        max_digits=9,
        decimal_places=2,
        help_text=lazy(
            "Leave it empty for an estimate, which begins nothing. It ends before the next case once it has cost more."
        ),
    )

    author: User | None = None

    class Meta:
        model = Experiment
        fields = ["dataset"]

    def clean_asked(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["asked"].splitlines() if line.strip()]

    @property
    def plan(self) -> Plan:
        values = self.cleaned_data
        return Plan(
            versions=values["numbers"], models=values["asked"], judge=values["judge"].strip(), limit=values["limit"]
        )

    def clean_numbers(self) -> list[int]:
        try:
            return checked([int(number) for number in self.cleaned_data["numbers"].split()])
        except InvalidVersions as error:
            raise forms.ValidationError(translated(error.message)) from None
        except ValueError:
            raise forms.ValidationError(gettext("Write numbers with spaces between.")) from None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not self.errors:
            try:
                runs.check_models(values["dataset"], self.plan, author=self.author, most_cost=values["most_cost"])
            except InvalidModels as error:
                self.add_error("asked", translated(error.message))
            except TooCostly as error:
                self.add_error("most_cost", translated(error.message))
        return values


class ResumeForm(forms.Form):
    most_cost = forms.DecimalField(
        label=lazy("USD at most"), required=False, min_value=0, max_digits=9, decimal_places=2
    )


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
    middle, told = experiment_answers.in_points(beside)
    return replace(row, difference=middle, told=told)


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
    add_form_template = "admin/conversations/experiment/add_form.html"
    change_form_template = "admin/conversations/experiment/change_form.html"
    list_display = ["started", "dataset", "tried", "models", "stand", "progress", "by"]
    list_filter = ["state", "dataset"]
    list_select_related = ["dataset", "author"]
    fields = ["dataset", "numbers", "asked", "judge", "limit", "most_cost"]
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

    def get_form(self, request: HttpRequest, obj: Experiment | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Whose author is whoever asks, that it can say what it would cost."""
        form = super().get_form(request, obj, change, **kwargs)
        return type(form.__name__, (form,), {"author": request.user})

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Experiment:
        assert isinstance(request.user, User)
        values = form.cleaned_data
        return runs.start(values["dataset"], form.plan, author=request.user, most_cost=values["most_cost"])

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.case_view)
        return [path("<uuid:id>/case/<uuid:case>/", view, name="conversations_experiment_case"), *super().get_urls()]

    def case_view(self, request: HttpRequest, id: UUID, case: UUID) -> HttpResponse:
        """The answers to one case, side by side."""
        row = self.allowed(request, self.get_object(request, str(id)))
        found = Case.objects.filter(pk=case, dataset=row.dataset_id).select_related("thread").first()
        if found is None:
            raise Http404
        sight = access.look(
            request,
            user=found.thread.user_id,
            what="answers of an experiment",
            object_id=found.pk,
            thread=found.thread_id,
        )
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": row,
            "media": self.media,
            "has_view_permission": True,
            "title": gettext("Answers side by side"),
            "sight": sight,
            "cards": experiment_answers.cards(row, found, shown=sight.shown),
            "expected": experiment_answers.expected_of(found),
            "case_request": found.request_id,
            "case_page": reverse("admin:conversations_contextsnapshot_change", args=[found.request_id]),
        }
        return TemplateResponse(request, "admin/conversations/experiment/case.html", context)

    def cancel(self, id: UUID) -> bool:
        return runs.cancel(id)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.method == "POST" and "resume" in request.POST:
            row = self.allowed(request, self.get_object(request, object_id))
            if not self.has_add_permission(request):
                raise PermissionDenied
            more = ResumeForm(request.POST)
            if more.is_valid():
                runs.resume(row.pk, more.cleaned_data["most_cost"])
            return HttpResponseRedirect(request.path)
        return super().change_view(request, object_id, form_url, extra_context)

    def page(self, request: HttpRequest, row: Experiment) -> dict[str, Any]:
        return {
            "title": str(row.dataset),
            "experiment": page_of(row),
            "answers": experiment_answers.page_of(row) if row.model_names else None,
            "resuming": ResumeForm(initial={"most_cost": row.most_cost})
            if row.state in RESUMED and row.model_names
            else None,
            "verdict": self.verdict(row),
        }

    def verdict(self, row: Experiment) -> str:
        if row.state == Experiment.State.FAILED:
            return filled("It could not go on: {problem}", problem=row.problem)
        return filled("{done} of {count} cases", done=row.done, count=row.cases)  # type: ignore[attr-defined]

    @admin.display(description="versions")
    def tried(self, row: Experiment) -> str:
        return ", ".join(map(str, row.versions))

    @admin.display(description="models")
    def models(self, row: Experiment) -> str:
        return ", ".join(map(experiment_answers.model_label, row.model_names)) or display.NOTHING

    @admin.display(description="state", ordering="state")
    def stand(self, row: Experiment) -> str:
        return gettext(str(Experiment.State(row.state).label))

    @admin.display(description="cases")
    def progress(self, row: Any) -> str:
        return filled("{done} of {count}", done=display.number(row.done), count=display.number(row.cases))
