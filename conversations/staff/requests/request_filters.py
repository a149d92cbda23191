"""The filters of the list of model requests. None asks the table which values there are."""

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.db.models.lookups import Exact
from django.http import HttpRequest
from django.utils.translation import gettext

from conversations.models import FATES, Assistant, ContextSnapshot, RequestHour, Thread
from conversations.models.indexes import ErrorCode, Exceeds, IsThere, Tells
from conversations.providers.errors import SENTENCES

Snapshots = QuerySet[ContextSnapshot]
Admin = ModelAdmin[ContextSnapshot]
Choices = list[tuple[str, str]]
NEWEST = 1_000
"""So many requests are looked at for the names of models that no kept hour tells of yet."""
BUDGETED = (ContextSnapshot.Purpose.REPLY, ContextSnapshot.Purpose.ARTIFACT)


class ReasonFilter(SimpleListFilter):
    """Requests in which at least one turn had this fate."""

    title = "fate of turns"
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> Choices:
        return [(code, gettext(code.replace("_", " "))) for code in FATES]

    def queryset(self, request: HttpRequest, queryset: Snapshots) -> Snapshots:
        code = self.value()
        return queryset.filter(Tells("runs", reason=code).is_set()) if code in FATES else queryset


class OverBudgetFilter(SimpleListFilter):
    title = "budget"
    parameter_name = "budget"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> Choices:
        return [("over", gettext("Over budget"))]

    def queryset(self, request: HttpRequest, queryset: Snapshots) -> Snapshots:
        if self.value() != "over":
            return queryset
        return queryset.filter(Exceeds("total_tokens", "budget").is_set(), purpose__in=BUDGETED)


class ErrorFilter(SimpleListFilter):
    """By the error's code, as the API says it too."""

    title = "provider error"
    parameter_name = "error"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> Choices:
        return [("any", gettext("Any")), *((code, code) for code in SENTENCES)]

    def queryset(self, request: HttpRequest, queryset: Snapshots) -> Snapshots:
        match self.value():
            case None:
                return queryset
            case "any":
                return queryset.filter(IsThere("error").is_set())
            case code:
                # Without the first, PostgreSQL may not take the index of those that have an error.
                return queryset.filter(Exact(ErrorCode("error"), code), error__isnull=False)


class FallbackFilter(SimpleListFilter):
    """Requests that were asked in place of another model."""

    title = "fallback"
    parameter_name = "fallback"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> Choices:
        return [("any", gettext("In place of another model"))]

    def queryset(self, request: HttpRequest, queryset: Snapshots) -> Snapshots:
        return queryset.filter(fallback_for__gt="") if self.value() == "any" else queryset


class AssistantFilter(SimpleListFilter):
    title = "assistant"
    parameter_name = "assistant"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> Choices:
        return [(str(pk), name) for pk, name in Assistant.objects.order_by("name").values_list("pk", "name")]

    def queryset(self, request: HttpRequest, queryset: Snapshots) -> Snapshots:
        pk = self.value()
        if not (pk and pk.isdecimal()):
            return queryset
        return queryset.filter(thread__in=Thread.objects.filter(assistant=int(pk)).values("id"))


class ModelFilter(SimpleListFilter):
    """Of the models that were asked in the kept hours, or by the newest requests."""

    title = "model"
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Admin) -> Choices:
        newest = ContextSnapshot.objects.order_by("-id").values("id")[:NEWEST]
        recent = ContextSnapshot.objects.filter(id__in=newest).values_list("model")
        names = {name for (name,) in RequestHour.objects.values_list("model").union(recent)}
        return [(name, name) for name in sorted(names)]

    def queryset(self, request: HttpRequest, queryset: Snapshots) -> Snapshots:
        return queryset.filter(model=self.value()) if self.value() else queryset


FILTERS: list[Any] = [
    *("status", ErrorFilter, FallbackFilter, ReasonFilter, OverBudgetFilter),
    *("purpose", AssistantFilter, ModelFilter),
]
