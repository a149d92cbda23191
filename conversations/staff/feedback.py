"""The queue of what people said of replies: with the request beside it, worked through by support."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, ForeignKey, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.linter.findings import ORDERING
from conversations.models import ContentAccess, ContextSnapshot, Feedback, LintFinding, Message
from conversations.runtime.shapes import plain
from conversations.runtime.wording import lazy
from conversations.staff import access, display
from conversations.staff.audited import AuditedAdmin
from conversations.staff.base import column, thread_column, user_column
from conversations.staff.compare.compare_views import compare_url
from conversations.staff.content import MaskedAdmin, content_column
from conversations.staff.datasets import Collecting
from conversations.staff.lint_findings import label_of

MOST_EXPORTED = 5_000
EXPORTED = (
    *("id", "created_at", "updated_at", "value", "reason", "state", "assignee", "assistant", "provider", "model"),
    *("user", "thread", "message", "request", "show_conversation", "text", "notes"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for one."""


class Whose(admin.SimpleListFilter):
    title, parameter_name = "assignee", "assignee"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("me", gettext("me")), ("nobody", gettext("nobody"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> QuerySet[Feedback]:
        match self.value():
            case "me":
                return queryset.filter(assignee=request.user.pk)
            case "nobody":
                return queryset.filter(assignee=None)
        return queryset


@admin.register(Feedback)
class FeedbackAdmin(Collecting[Feedback], MaskedAdmin[Feedback]):
    """What support may change of it is what becomes of it; what a person said is theirs."""

    change_form_template = "admin/conversations/feedback/change_form.html"
    change_list_template = "admin/conversations/feedback/change_list.html"
    owner_id = "user_id"
    list_display = ["time", "verdict", "stand", "worked_by", "who", "shows", "owner", "links"]
    list_filter = ["state", Whose, "value", "reason", "assistant", "model", "created_at"]
    list_select_related = ["user", "assistant", "assignee"]
    search_fields = ["id__exact", "thread__id__exact", "user__username"]
    search_help_text = "The id of a feedback or thread, or a user name."
    ordering = ["-id"]
    actions = ["take", "finish", "refuse", "collect"]
    request_field = "request_id"
    empty_text = "Nobody has said anything of a reply. A thumb under one puts it here."
    fields = [
        ("verdict", "time", "again"), "words", ("owner", "thread_link", "turn"), ("request_link", "compare"), "who",
        "findings",
        ("state", "assignee"), "notes",
    ]  # fmt: skip

    time = column("time", "created_at", display.when, sort="id")
    again = column("last said", "updated_at", display.when)
    owner = user_column()
    thread_link = thread_column()
    words = content_column(lazy("in their words"), "text")

    def has_change_permission(self, request: HttpRequest, obj: Feedback | None = None) -> bool:
        return AuditedAdmin.has_change_permission(self, request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Feedback | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Feedback | None = None) -> list[str]:
        return [
            "verdict",
            "time",
            "again",
            "words",
            "owner",
            "thread_link",
            "turn",
            "request_link",
            "compare",
            "who",
            "findings",
        ]

    def get_urls(self) -> list[URLPattern]:
        export = self.admin_site.admin_view(self.export)
        own = [
            path(f"feedback.{kind}", export, {"kind": kind}, name=f"conversations_feedback_{kind}")
            for kind in ("csv", "jsonl")
        ]
        return [*own, *super().get_urls()]

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> forms.ModelChoiceField[Any] | None:
        kwargs["queryset"] = User.objects.filter(is_staff=True, is_active=True).order_by("username")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Feedback, form: Any, change: bool) -> None:
        obj.save(update_fields=form.changed_data)  # what the person says meanwhile stays

    @admin.action(description="Take: in work, by me", permissions=["change"])
    def take(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._set(request, queryset, state=Feedback.State.IN_WORK, assignee=request.user)

    @admin.action(description="Done", permissions=["change"])
    def finish(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._set(request, queryset, state=Feedback.State.DONE)

    @admin.action(description="Won\u2019t do", permissions=["change"])
    def refuse(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> None:
        self._set(request, queryset, state=Feedback.State.WONT_DO)

    @transaction.atomic
    def _set(self, request: HttpRequest, queryset: QuerySet[Feedback], **values: Any) -> None:
        for row in queryset:
            self.log_change(request, row, [{"changed": {"fields": sorted(values)}}])
        queryset.update(**values)

    def export(self, request: HttpRequest, kind: str) -> HttpResponse:
        """What the list shows with these filters, at most ``MOST_EXPORTED``. The words of a person only where they may be
        downloaded, which is recorded; else that there are some."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = [
            exported(request, row)
            for row in self.get_changelist_instance(request).get_queryset(request)[:MOST_EXPORTED]
        ]
        content, media_type = (_csv(rows), "text/csv") if kind == "csv" else (_lines(rows), "application/x-ndjson")
        name = f"feedback.{kind}"
        return HttpResponse(content, media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @admin.display(description="said", ordering="value")
    def verdict(self, row: Feedback) -> SafeString:
        thumb = "\U0001f44d" if row.value == 1 else "\U0001f44e"
        return display.with_note(f"{thumb} {row.get_value_display()}", row.get_reason_display())

    @admin.display(description="state", ordering="state")
    def stand(self, row: Feedback) -> str:
        return row.get_state_display()

    @admin.display(description="assignee")
    def worked_by(self, row: Feedback) -> str:
        return str(row.assignee or display.NOTHING)

    @admin.display(description="answered by")
    def who(self, row: Feedback) -> SafeString:
        return display.with_note(row.assistant, row.model or display.NOTHING)

    @admin.display(description="shown to support", boolean=True)
    def shows(self, row: Feedback) -> bool:
        return row.show_conversation

    @admin.display(description="what the linter found")
    def findings(self, row: Feedback) -> SafeString | str:
        """Of the assistant that answered, what costs the most first."""
        found = LintFinding.objects.filter(assistant=row.assistant_id, state=LintFinding.State.OPEN)
        return display.links(display.link(LintFinding, each.pk, label_of(each)) for each in found.order_by(*ORDERING))

    @admin.display(description="turn")
    def turn(self, row: Feedback) -> SafeString:
        return display.id_link(Message, row.message_id)

    @admin.display(description="request")
    def request_link(self, row: Feedback) -> SafeString | str:
        return display.id_link(ContextSnapshot, row.request_id) if row.request_id else display.NOTHING

    @admin.display(description="request, turn")
    def links(self, row: Feedback) -> SafeString:
        return display.with_note(self.request_link(row), self.turn(row))

    @admin.display(description="compare with the request before")
    def compare(self, row: Feedback) -> SafeString | str:
        requests = ContextSnapshot.objects.filter(user=row.user_id, thread=row.thread_id, purpose="reply")
        before = requests.filter(id__lt=row.request_id).order_by("-id").values_list("id", flat=True).first()
        if not (row.request_id and before):
            return display.NOTHING
        return format_html('<a href="{}">Compare</a>', compare_url(row.request_id, before))


def exported(request: HttpRequest, row: Feedback) -> dict[str, Any]:
    """As a program reads it: ``text`` is null where the words may not be downloaded, or where there are none."""
    sight = access.outlook(request, user=row.user_id, thread=row.thread_id)
    if sight.may_export and sight.reason:
        sight = access.look(
            request,
            user=row.user_id,
            what="feedback",
            object_id=row.pk,
            thread=row.thread_id,
            action=ContentAccess.Action.EXPORT,
        )
    ids = {"thread": row.thread_id, "message": row.message_id, "request": row.request_id, "user": row.user_id}
    names = {"assistant": row.assistant.slug, "assignee": str(row.assignee) if row.assignee else None}
    own = {name: getattr(row, name) for name in EXPORTED if name not in {*ids, *names, "text"}}
    values = own | ids | names | {"text": row.text if sight.shown else None}
    return {name: plain(values[name]) for name in EXPORTED}


def counts(since: Any, assistant: int | None, model: str) -> list[Mapping[str, Any]]:
    """By assistant and model, for the overview: the worst first."""
    rows = Feedback.objects.filter(created_at__gte=since)
    if assistant:
        rows = rows.filter(assistant=assistant)
    if model:
        rows = rows.filter(model=model)
    told = rows.values("assistant__name", "model").annotate(
        good=Count("id", filter=Q(value=1)),
        bad=Count("id", filter=Q(value=-1)),
        open=Count("id", filter=Q(state="new")),
    )
    return list(told.order_by("-bad", "-good", "assistant__name", "model")[:50])


def _csv(rows: list[dict[str, Any]]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, EXPORTED)
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return file.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
