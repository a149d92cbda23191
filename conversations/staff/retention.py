"""For how long what is kept. A rule is stored only once staff have seen what it would delete."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import Project, RetentionRule
from conversations.runtime import clock
from conversations.runtime.wording import counted
from conversations.staff import display
from conversations.staff.base import PageAdmin
from conversations.upkeep import retention_preview
from conversations.upkeep.retention_rules import Rule
from conversations.upkeep.retention_scope import SCOPED, rules_of

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[RetentionRule]
else:
    ModelForm = forms.ModelForm

PREVIEW = "admin/conversations/retention_preview.html"
SEEN = "_seen"
"""Sent by the page that shows what goes."""


class RuleForm(ModelForm):
    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        narrow = bool(values.get("group") or values.get("project"))
        if narrow and values.get("kind") not in SCOPED:
            raise ValidationError(
                gettext("These go in whole days or months for the installation: leave group and project empty.")
            )
        if values.get("group") and values.get("project"):
            raise ValidationError(gettext("A rule is for a group or for a project. Make a second one for the other."))
        return values


@admin.register(RetentionRule)
class RetentionRuleAdmin(PageAdmin[RetentionRule]):
    form = RuleForm
    list_display = ["kind_name", "scope", "time", "note"]
    list_filter = ["kind"]
    list_select_related = ["group"]
    ordering = ["kind", "id"]
    fields = ["kind", "group", "project", "days", "note"]
    raw_id_fields = ["project"]
    actions = None
    empty_text = "No rules. The settings of the server say for how long what is kept; a rule here stands before them."

    @admin.display(description="kind", ordering="kind")
    def kind_name(self, rule: RetentionRule) -> str:
        return rule.get_kind_display()

    @admin.display(description="for")
    def scope(self, rule: RetentionRule) -> SafeString | str:
        if rule.project_id:
            return display.link(Project, rule.project_id, display.short_id(rule.project_id))
        return str(rule.group) if rule.group else gettext("everybody")

    @admin.display(description="kept", ordering="days")
    def time(self, rule: RetentionRule) -> str:
        return counted("{count} day", "{count} days", rule.days) if rule.days else gettext("for good")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """What is sent is shown with what it would delete; what that page sends is stored."""
        if request.method != "POST" or SEEN in request.POST:
            return super().changeform_view(request, object_id, form_url, extra_context)
        rule = self.get_object(request, object_id) if object_id else None
        may = self.has_change_permission(request, rule) if object_id else self.has_add_permission(request)
        if not may:
            raise PermissionDenied
        form = self.get_form(request, rule, change=rule is not None)(request.POST, instance=rule)
        if (object_id and rule is None) or not form.is_valid():
            return super().changeform_view(request, object_id, form_url, extra_context)
        return self._preview(request, form)

    def _preview(self, request: HttpRequest, form: Any) -> HttpResponse:
        values = form.cleaned_data
        group, project = values["group"], values["project"]
        rule = Rule(
            id=form.instance.pk or 0,
            days=values["days"],
            group=group.pk if group else None,
            project=project.pk if project else None,
        )
        preview = retention_preview.preview(values["kind"], rule, now=clock.now())
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "title": gettext("What this rule deletes"),
            "sent": [(name, value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"],
            "kind": gettext(str(RetentionRule.Kind(values["kind"]).label)),
            "group": group,
            "project": project,
            "days": values["days"],
            "preview": preview,
            "oldest": display.when(preview.goes.oldest),
            "newest": display.when(preview.newest),
            "most": retention_preview.MOST,
        }
        return TemplateResponse(request, PREVIEW, context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With how much more goes once the rule is gone."""
        rule = self.get_object(request, object_id)
        if request.method == "GET" and rule and rule.kind in SCOPED and self.has_delete_permission(request, rule):
            now, without = clock.now(), retention_preview.without_rule(rule.kind, rule.pk)
            setting = [each for each in without if each.id is None]
            stored = [each for each in rules_of(rule.kind, setting[0].days) if each.id is not None]
            more = retention_preview.goes_in_all(rule.kind, without, now=now)
            more -= retention_preview.goes_in_all(rule.kind, [*setting, *stored], now=now)
            if more > 0:
                words = counted(
                    "Without this rule {count} more row goes at once.",
                    "Without this rule {count} more rows go at once.",
                    more,
                )
                self.message_user(request, words, messages.WARNING)
        return super().delete_view(request, object_id, extra_context)
