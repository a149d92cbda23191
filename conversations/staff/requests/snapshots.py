from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.forms.widgets import Script
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from conversations.context.record import snapshots
from conversations.context.render.rendering import canonical
from conversations.models import ContentAccess, ContextSnapshot, Thread
from conversations.providers import prices
from conversations.runtime.lagging import watch
from conversations.runtime.site import public_address
from conversations.runtime.wording import filled, lazy
from conversations.staff import access, display
from conversations.staff.access import Sight
from conversations.staff.base import STYLES, column
from conversations.staff.compare.compare_views import CompareViews
from conversations.staff.content import MaskedInspectionAdmin
from conversations.staff.datasets import Collecting
from conversations.staff.lagging_pages import lagging_page
from conversations.staff.overview.usage_charts import overview_context
from conversations.staff.requests.request_filters import FILTERS
from conversations.staff.requests.request_list import RequestChangeList, searched
from conversations.staff.snapshot.snapshot_page import failures, snapshot_page
from conversations.upkeep.hourly_figures import cost_of

NAME = "conversations_contextsnapshot"
NOT_PERMITTED = lazy("To download it takes the permissions to read and to export content: ask a support lead.")
NO_REASON = lazy("To download it, first state on the page of the model request why you need it: ")


@admin.register(ContextSnapshot)
class ContextSnapshotAdmin(CompareViews, Collecting[ContextSnapshot], MaskedInspectionAdmin[ContextSnapshot]):
    """The open book: what each model request was given, what was left out and why."""

    list_display = ["created", "owner", "asked", "state", "tokens", "latency", "cost"]
    list_display_links = ["created"]
    list_filter = FILTERS
    date_hierarchy = "created_at"
    search_fields = ["id", "thread"]  # only that there is a search; what is searched stands below
    search_help_text = "The id of a model request, thread or HTTP request, or a user name."
    ordering = ["-id"]
    sortable_by = ()
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    fields = ()
    empty_text = "No model requests. Each message that somebody sends makes one, recorded before the model is called."

    created = column("time", "created_at", display.when)

    class Media:
        css = STYLES
        js = [Script(f"conversations/admin/{name}.js", type="module") for name in ("keys", "copy")]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ContextSnapshot]:
        return super().get_queryset(request).select_related("thread__user", "thread__assistant", "reply", "version")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[RequestChangeList]:
        return RequestChangeList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ContextSnapshot], search_term: str
    ) -> tuple[QuerySet[ContextSnapshot], bool]:
        return (queryset.filter(searched(search_term)) if search_term.strip() else queryset), False

    def get_urls(self) -> list[URLPattern]:
        own = [
            path("<uuid:id>/request.json", self.admin_site.admin_view(self.raw_request), name=f"{NAME}_request"),
            path("overview/", self.admin_site.admin_view(self.overview), name=f"{NAME}_overview"),
        ]
        return [*own, *super().get_urls()]

    @lagging_page
    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, extra_context)

    def overview(self, request: HttpRequest) -> HttpResponse:
        """All model requests over time, as figures and charts. No content."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = self.admin_site.each_context(request) | overview_context(request.GET)
        context |= {"opts": self.opts, "replica": watch.told()}
        return TemplateResponse(request, "admin/conversations/contextsnapshot/overview.html", context)

    def raw_request(self, request: HttpRequest, id: UUID) -> HttpResponse:
        """The exact request as the bytes that the digest is taken of, so that any ``sha256sum`` can prove it."""
        snapshot = self.allowed(request, self.get_object(request, str(id)))
        sight = access.look(
            request,
            user=snapshot.thread.user_id,
            what="exact request",
            object_id=id,
            thread=snapshot.thread_id,
            action=ContentAccess.Action.EXPORT,
        )
        if not sight.shown:
            return HttpResponse(f"{self.why_not(request, snapshot, sight)}\n", "text/plain; charset=utf-8", status=403)
        try:
            content = canonical(snapshots.rebuild(snapshot))
        except snapshots.NotRebuildable as error:
            return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=410)
        headers = {"Content-Disposition": f'attachment; filename="request-{id}.json"'}
        return HttpResponse(content, "application/json", headers=headers)

    def why_not(self, request: HttpRequest, snapshot: ContextSnapshot, sight: Sight) -> str:
        """Why it can't be downloaded, and what to do."""
        if not sight.may_export:
            return sight.problem or NOT_PERMITTED
        return NO_REASON + public_address() + display.change_url(ContextSnapshot, snapshot.pk)

    def page_context(self, request: HttpRequest, row: ContextSnapshot, sight: Sight) -> dict[str, Any]:
        return {"page": snapshot_page(row, shown=sight.shown)}

    def action_checkbox(self, obj: ContextSnapshot) -> SafeString:
        # As Django's own, without a template for each: those took a sixth of the page's time.
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            obj.pk,
            filled("Select {row}", row=obj),
        )

    @admin.display(description="user, thread")
    def owner(self, snapshot: ContextSnapshot) -> SafeString:
        thread = snapshot.thread
        return display.with_note(display.link(User, thread.user_id, thread.user), display.id_link(Thread, thread.pk))

    @admin.display(description="asked")
    def asked(self, snapshot: ContextSnapshot) -> SafeString:
        made_for = display.purpose(snapshot.purpose, snapshot.round)
        is_plain = snapshot.purpose == ContextSnapshot.Purpose.REPLY and snapshot.round == 1
        return display.with_note(
            display.with_note(snapshot.thread.assistant, snapshot.model), "" if is_plain else made_for
        )

    @admin.display(description="status")
    def state(self, snapshot: ContextSnapshot) -> SafeString:
        failed = format_html_join("", '<span class="ob-second ob-error">{}</span>', zip(failures(snapshot)))
        code = display.error_code(snapshot.error) if not snapshot.quotes_turns else ""
        outcome = (
            format_html('<span class="ob-error">{}</span>', code) if code else display.stop_reason(snapshot.stop_reason)
        )
        return display.with_note(display.status(snapshot.status), format_html("{}{}", outcome, failed))

    @admin.display(description="est. tokens")
    def tokens(self, snapshot: ContextSnapshot) -> SafeString:
        total = (
            display.number(snapshot.total_tokens)
            if snapshot.quotes_turns
            else display.tokens_bar(snapshot.total_tokens, snapshot.budget, snapshot.hard_cap)
        )
        sent = filled(
            "{sent} sent, {total} left out",
            sent=snapshot.message_history_count,
            total=snapshots.left_out(snapshot).total(),
        )
        return display.with_note(total, sent)

    @admin.display(description="took")
    def latency(self, snapshot: ContextSnapshot) -> SafeString:
        whole = display.took(snapshot.created_at, snapshot.ended_at)
        first = display.milliseconds(snapshot.first_token_ms)
        return display.with_note(
            whole, filled("first {first}", first=first) if snapshot.first_token_ms is not None else ""
        )

    @admin.display(description="cost, cached")
    def cost(self, snapshot: ContextSnapshot) -> SafeString:
        tokens = prices.tokens_of(snapshot.usage)
        cached = filled("{share} cached", share=display.share(tokens.cache_read, tokens.prompt)) if tokens else ""
        return display.with_note(display.money(cost_of(snapshot)), cached)
