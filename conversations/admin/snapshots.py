from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms.widgets import Script
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from conversations.admin import access, display
from conversations.admin.access import Sight
from conversations.admin.base import STYLES
from conversations.admin.compare_views import CompareViews
from conversations.admin.content import MaskedInspectionAdmin
from conversations.admin.requested import replies_of
from conversations.admin.snapshot_page import failures, left_out, snapshot_page
from conversations.context import snapshots
from conversations.context.rendering import canonical
from conversations.models import ContentAccess, ContextSnapshot, Thread

NOT_PERMITTED = "To download it takes the permissions to read and to export content: ask a support lead."
NO_REASON = "To download it, first state on the page of the model request why you need it: "


@admin.register(ContextSnapshot)
class ContextSnapshotAdmin(CompareViews, MaskedInspectionAdmin[ContextSnapshot]):
    """The open book: what each model request was given, what was left out and why."""

    list_display = ["created", "owner", "thread_link", "made_for", "state", "tokens", "turns"]
    list_filter = ["purpose", "status", "provider", "model", "created_at"]
    search_fields = ["id__exact", "thread__id__exact", "thread__user__username"]
    search_help_text = "The id of a model request, thread or HTTP request, or a user name."
    ordering = ["-id"]
    fields = ()
    empty_text = "No model requests. Each message that somebody sends makes one, recorded before the model is called."

    class Media:
        css = STYLES
        js = [Script(f"conversations/admin/{name}.js", type="module") for name in ("keys", "copy")]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ContextSnapshot]:
        return super().get_queryset(request).select_related("thread__user", "thread__assistant")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ContextSnapshot], search_term: str
    ) -> tuple[QuerySet[ContextSnapshot], bool]:
        if replies := replies_of(search_term):
            return queryset.filter(reply__in=replies), False
        return super().get_search_results(request, queryset, search_term)

    def get_urls(self) -> list[URLPattern]:
        raw = self.admin_site.admin_view(self.raw_request)
        return [path("<uuid:id>/request.json", raw, name="conversations_contextsnapshot_request"), *super().get_urls()]

    def raw_request(self, request: HttpRequest, id: UUID) -> HttpResponse:
        """The exact request as the bytes that the digest is taken of, so that any ``sha256sum`` can prove it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        snapshot = self.get_object(request, str(id))
        if snapshot is None:
            raise Http404
        sight = access.look(
            request,
            user=self.owner_of(snapshot),
            what="exact request",
            object_id=id,
            thread=snapshot.thread_id,
            action=ContentAccess.Action.EXPORT,
        )
        if not sight.shown:
            return HttpResponse(f"{self.why_not(request, snapshot, sight)}\n", "text/plain", status=403)
        try:
            content = canonical(snapshots.rebuild(snapshot))
        except snapshots.NotRebuildable as error:
            return HttpResponse(f"{error}\n", "text/plain", status=410)
        headers = {"Content-Disposition": f'attachment; filename="request-{id}.json"'}
        return HttpResponse(content, "application/json", headers=headers)

    def why_not(self, request: HttpRequest, snapshot: ContextSnapshot, sight: Sight) -> str:
        """Why it can't be downloaded, and what to do."""
        if not sight.may_export:
            return sight.problem or NOT_PERMITTED
        return NO_REASON + request.build_absolute_uri(display.change_url(ContextSnapshot, snapshot.pk))

    def owner_of(self, row: ContextSnapshot) -> int:
        return row.thread.user_id

    def thread_of(self, row: ContextSnapshot) -> UUID | None:
        return row.thread_id

    def page_context(self, request: HttpRequest, row: ContextSnapshot, sight: Sight) -> dict[str, Any]:
        return {"page": snapshot_page(row, shown=sight.shown)}

    @admin.display(description="time", ordering="created_at")
    def created(self, snapshot: ContextSnapshot) -> SafeString | str:
        return display.when(snapshot.created_at)

    @admin.display(description="user", ordering="thread__user__username")
    def owner(self, snapshot: ContextSnapshot) -> SafeString:
        return display.link(User, snapshot.thread.user_id, snapshot.thread.user)

    @admin.display(description="thread")
    def thread_link(self, snapshot: ContextSnapshot) -> SafeString:
        thread = snapshot.thread
        return display.with_note(display.id_link(Thread, thread.pk), f"{thread.assistant}, {snapshot.model}")

    @admin.display(description="for", ordering="purpose")
    def made_for(self, snapshot: ContextSnapshot) -> SafeString:
        return display.with_note(
            snapshot.get_purpose_display().lower(), display.which(snapshot.purpose, snapshot.round)
        )

    @admin.display(description="status", ordering="status")
    def state(self, snapshot: ContextSnapshot) -> SafeString:
        took = display.took(snapshot.created_at, snapshot.ended_at)
        failed = format_html_join("", '<span class="ob-second ob-error">{}</span>', zip(failures(snapshot)))
        return display.with_note(display.status(snapshot.status), format_html("{}{}", took, failed))

    @admin.display(description="est. tokens", ordering="total_tokens")
    def tokens(self, snapshot: ContextSnapshot) -> SafeString | str:
        if snapshot.quotes_turns:
            return display.number(snapshot.total_tokens)
        return display.tokens_bar(snapshot.total_tokens, snapshot.budget, snapshot.hard_cap)

    @admin.display(description="turns", ordering="message_history_count")
    def turns(self, snapshot: ContextSnapshot) -> SafeString:
        sent = display.number(snapshot.message_history_count)
        return display.with_note(f"{sent} sent", f"{left_out(snapshot).total():,} left out")
