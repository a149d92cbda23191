"""The audit record, as auditors read it: what happened, filtered, and up to where it has been verified."""

import json
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from conversations import audit
from conversations.audit import chain, delivery, ocsf
from conversations.audit.delivery import DeliveryStatus
from conversations.models import AuditEvent, AuditKind
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import InspectionAdmin

NEWEST = 500
MOST_DOWNLOADED = 50_000
LABELS = dict(AuditKind.choices)


class KindFilter(admin.SimpleListFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in AuditKind.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(AuditEvent)
class AuditEventAdmin(InspectionAdmin[AuditEvent]):
    change_list_template = "admin/conversations/auditevent/change_list.html"
    list_display = ["time", "what", "result", "who", "whom", "origin", "place"]
    list_filter = [KindFilter, "outcome", "actor_kind", "at"]
    date_hierarchy = "at"
    search_fields = ["actor_name", "actor__username__exact", "target_id__exact", "request_id__exact", "address__exact"]
    search_help_text = "The name of who did it, or the id of what it was done to, of a request, or a network address."
    ordering = ["-id"]
    show_full_result_count = False
    fields = [
        ("time", "what", "result"),
        ("who", "whom"),
        ("origin", "asked"),
        "more",
        ("place", "sealed"),
        "identifier",
    ]
    empty_text = "No events yet. Sign-ins, changes by staff, exports and deletions are recorded here."

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEvent]:
        # No join: an event outlives the person.
        name = User.objects.filter(pk=OuterRef("actor_id")).values("username")
        return super().get_queryset(request).annotate(name_now=Subquery(name))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.download_view)
        return [path("download/", view, name="conversations_auditevent_download"), *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        verdict = chain.verify_newest(NEWEST) if self.has_view_permission(request) else None
        context = {
            "verdict": verdict,
            "query": request.GET.urlencode(),
            "deliveries": [_delivery_words(each) for each in delivery.status()] if verdict else [],
        }
        return super().changelist_view(request, (extra_context or {}) | context)

    def download_view(self, request: HttpRequest) -> HttpResponse:
        """What the list shows with these filters, as JSON lines in the shape of OCSF, the newest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        events = self.get_changelist_instance(request).get_queryset(request)[:MOST_DOWNLOADED]
        audit.record(audit.AuditKind.AUDIT_EXPORTED, details={"filters": sorted(request.GET)[:20]})
        lines = [json.dumps(event, ensure_ascii=False, sort_keys=True) + "\n" for event in ocsf.described(events)]
        response = HttpResponse("".join(lines), content_type="application/x-ndjson")
        response["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
        return response

    @admin.display(ordering="id")
    def time(self, row: AuditEvent) -> SafeString | str:
        return display.when(row.at)

    @admin.display(ordering="kind")
    def what(self, row: AuditEvent) -> str:
        return str(LABELS.get(row.kind, row.kind))

    @admin.display(ordering="outcome")
    def result(self, row: AuditEvent) -> str:
        return str(row.get_outcome_display())

    @admin.display
    def who(self, row: Any) -> SafeString | str:
        name = row.name_now or row.actor_name
        if row.actor_id and not name:
            name = filled("user {user_id}, deleted since", user_id=str(row.actor_id))
        return display.with_note(name, row.get_actor_kind_display()) if name else str(row.get_actor_kind_display())

    @admin.display(description="to what")
    def whom(self, row: AuditEvent) -> SafeString | str:
        if not row.target_kind:
            return display.NOTHING
        return display.with_note(display.mono(row.target_id), row.target_kind)

    @admin.display(description="address")
    def origin(self, row: AuditEvent) -> SafeString | str:
        return display.mono(row.address) if row.address else display.NOTHING

    @admin.display(description="number")
    def place(self, row: AuditEvent) -> str:
        return display.number(row.number)

    @admin.display(description="request id")
    def asked(self, row: AuditEvent) -> SafeString:
        return display.mono(row.request_id)

    @admin.display(description="details")
    def more(self, row: AuditEvent) -> SafeString:
        return display.mono(display.pretty(row.details))

    @admin.display(description="digest")
    def sealed(self, row: AuditEvent) -> SafeString | str:
        return display.mono(bytes(row.digest).hex()) if row.digest else display.NOTHING

    @admin.display(description="id")
    def identifier(self, row: AuditEvent) -> SafeString:
        return display.mono(row.pk)


def _delivery_words(status: DeliveryStatus) -> dict[str, object]:
    """Up to where a destination has taken events, and why not further."""
    words = filled(
        "Pushed to {place} up to event {number}; waiting: {waiting}.",
        place=status.place,
        number=display.number(status.number),
        waiting=display.number(status.waiting),
    )
    if not status.problem:
        return {"words": words, "is_failing": False}
    failing = filled(
        "{words} Failing since {since}: {problem}.",
        words=words,
        since=display.moment(status.failed_since) if status.failed_since else display.NOTHING,
        problem=status.problem,
    )
    return {"words": failing, "is_failing": True}
