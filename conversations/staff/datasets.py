"""Datasets of past requests: ids, and what staff expect of each context."""

import uuid
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from conversations.datasets import answer_scorers
from conversations.datasets.cases import add_cases, collect
from conversations.datasets.expectations import SCORERS, InvalidExpectation, check, lines_of
from conversations.models import Case, ContextSnapshot, Dataset
from conversations.moderation.patterns import InvalidPattern
from conversations.runtime import clock
from conversations.runtime.wording import counted, lazy
from conversations.staff import display
from conversations.staff.base import PageAdmin, column

if TYPE_CHECKING:
    InlineBase = admin.StackedInline[Case, Dataset]
    CaseFormBase = forms.ModelForm[Case]
    DatasetFormBase = forms.ModelForm[Dataset]
else:
    InlineBase, CaseFormBase, DatasetFormBase = admin.StackedInline, forms.ModelForm, forms.ModelForm


class CaseForm(CaseFormBase):
    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        try:
            check(values.get("evidence", ""), values.get("patterns", ""))
            answer_scorers.check(values.get("answer_patterns", ""), values.get("answer_schema", ""))
        except (InvalidExpectation, InvalidPattern) as error:
            raise ValidationError(str(error)) from None
        return values


class CaseInline(InlineBase):
    model = Case
    form = CaseForm
    fieldsets = [
        (None, {"fields": ["request_link", tuple(SCORERS)]}),
        (lazy("The answer"), {"fields": [tuple(answer_scorers.COLUMNS[:3]), tuple(answer_scorers.COLUMNS[3:])]}),
    ]
    readonly_fields = ["request_link"]
    extra = 0

    def get_formset(self, request: HttpRequest, obj: Dataset | None = None, **kwargs: Any) -> Any:
        area = forms.Textarea(attrs={"rows": 3, "cols": 32})
        return super().get_formset(
            request, obj, widgets=dict.fromkeys((*SCORERS, *answer_scorers.COLUMNS), area), **kwargs
        )

    def has_add_permission(self, request: HttpRequest, obj: Dataset | None = None) -> bool:
        return False

    @admin.display(description="request")
    def request_link(self, row: Case) -> SafeString:
        return display.id_link(ContextSnapshot, row.request_id)


class DatasetForm(DatasetFormBase):
    requests = forms.CharField(
        label=lazy("add requests"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=lazy("The ids of model requests, one a line."),
    )

    def clean_requests(self) -> list[uuid.UUID]:
        try:
            return [uuid.UUID(line) for line in lines_of(self.cleaned_data["requests"])]
        except ValueError as error:
            raise ValidationError(str(error)) from None


@admin.register(Dataset)
class DatasetAdmin(PageAdmin[Dataset]):
    form = DatasetForm
    inlines = [CaseInline]
    list_display = ["name", "note", "size", "made", "author"]
    list_select_related = ["author"]
    ordering = ["name"]
    fields = ["name", "note", "requests"]
    search_fields = ["name"]
    actions = None
    empty_text = (
        "No datasets. Mark requests or feedback in their lists and choose “Add to the dataset of collected requests”."
    )
    made = column("made", "created_at", display.when, sort="created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dataset]:
        return super().get_queryset(request).annotate(cases_count=Count("cases"))

    def save_model(self, request: HttpRequest, obj: Dataset, form: Any, change: bool) -> None:
        if not change:
            assert isinstance(request.user, User)
            obj.author, obj.created_at = request.user, clock.now()
        super().save_model(request, obj, form, change)
        if ids := form.cleaned_data["requests"]:
            add_cases(obj, {id: {} for id in ids})

    @admin.display(description="cases")
    def size(self, row: Any) -> str:
        return display.number(row.cases_count)


class Collecting[M: Model]:
    """Of lists of requests, or of what was said of them: an action that makes cases of those that are marked."""

    request_field = "pk"

    def has_collect_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perms(["conversations.add_dataset", "conversations.add_case"])

    @admin.action(description="Add to the dataset of collected requests", permissions=["collect"])
    def collect(self, request: HttpRequest, queryset: QuerySet[M]) -> None:
        assert isinstance(request.user, User)
        ids = queryset.exclude(**{self.request_field: None}).values_list(self.request_field, flat=True)
        added = collect([*ids], by=request.user)
        told = counted("{count} case was added.", "{count} cases were added.", added)
        self.message_user(request, told)  # type: ignore[attr-defined]
