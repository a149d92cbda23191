"""How far what people said is consolidated, and why not."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations import schedule
from conversations.models import Thread
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import CHANGE_LIST, InspectionAdmin, column, user_column
from memory.models import Consolidation, Memory, Preferences

RUNNING = Q(started_at__isnull=False) & (Q(ended_at=None) | Q(started_at__gt=F("ended_at")))


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"
    states = {
        "failing": Q(failures__gt=0),
        "running": RUNNING,
        "wanted": Q(wanted_at__isnull=False),
        "limited": Q(limited_at__isnull=False),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, gettext(name)) for name in self.states]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> QuerySet[Consolidation]:
        return queryset.filter(self.states[self.value() or ""]) if self.value() in self.states else queryset


@admin.register(Consolidation)
class ConsolidationAdmin(InspectionAdmin[Consolidation]):
    change_list_template = CHANGE_LIST
    list_display = ["owner", "state", "done_through", "last_attempt", "parts", "limited"]
    list_filter = [StateFilter, "through"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    search_help_text = "A user name."
    ordering = ["-failures", "-started_at", "user"]
    fields = [
        ("owner", "memories"), "state", ("done_through", "parts", "limited"), ("started", "ended"), ("wanted", "again"),
        "failures", "error",
    ]  # fmt: skip
    actions = ["consolidate_now"]
    empty_text = "Nothing is consolidated yet. It happens ten minutes after somebody has stopped writing."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Consolidation]:
        threads = Thread.objects.filter(user=OuterRef("user"), remembers=True, temporary=False).order_by("-updated_at")
        off = Preferences.objects.filter(user=OuterRef("user"), remembers=False)
        consolidations = super().get_queryset(request)
        return consolidations.annotate(newest=Subquery(threads.values("updated_at")[:1]), is_off=Exists(off))

    def has_consolidate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memory.change_consolidation")

    @admin.action(
        permissions=["consolidate"],
        description="Consolidate now",
        description_plural="Consolidate the selected users now",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def consolidate_now(self, request: HttpRequest, queryset: QuerySet[Consolidation]) -> None:
        enqueued = schedule.consolidate_now(queryset.values_list("user_id", flat=True))
        for row in queryset:
            self.log_change(request, row, [{"changed": {"fields": ["not_before"]}}])
        self.message_user(
            request,
            filled("Handed to the workers: {users}.", users=display.with_noun(enqueued, "user")),
            messages.SUCCESS,
        )

    owner = user_column()

    @admin.display
    def state(self, row: Any) -> SafeString:
        label, note = state_of(row, newest=row.newest, is_off=row.is_off, now=timezone.now())
        return display.with_note(display.status(STYLES[label], gettext(label)), note)

    done_through = column("through", "through", display.when, sort="through")
    last_attempt = column("last attempt", "started_at", display.when, sort="started_at")

    @admin.display
    def parts(self, row: Consolidation) -> str:
        return filled("{part} of {whole}", part=row.parts_done, whole=row.parts_to_do)

    @admin.display(description="no tokens left")
    def limited(self, row: Consolidation) -> str:
        """When notes last came from rules, as the day's tokens were used."""
        if row.limited_at is None:
            return display.NOTHING
        return filled(
            "{when} UTC: {parts} by rules",
            when=f"{row.limited_at:%Y-%m-%d %H:%M}",
            parts=display.with_noun(row.parts_limited, "part"),
        )

    started = column("started", "started_at", display.when)
    ended = column("ended", "ended_at", display.when)
    wanted = column("more to do since", "wanted_at", display.when)
    again = column("not before", "not_before", display.when)

    @admin.display
    def memories(self, row: Consolidation) -> SafeString:
        return display.list_link(Memory, gettext("their memories"), user__id__exact=row.user_id)


STYLES = {
    "switched off": "stopped",
    "running": "running",
    "failed": "failed",
    "waiting": "pending",
    "up to date": "completed",
}


def state_of(row: Consolidation, *, newest: datetime | None, is_off: bool, now: datetime) -> tuple[str, str]:
    """In a word, and what is to be added to it. ``newest`` is when the user was last active where it is remembered. Pure."""
    if is_off:
        return "switched off", gettext("by the user")
    if row.started_at and (row.ended_at is None or row.started_at > row.ended_at):
        return "running", filled("{part} of {whole} parts", part=row.parts_done, whole=row.parts_to_do)
    if row.failures:
        return "failed", filled(
            "{times}: {error}; again {when}",
            times=display.with_noun(row.failures, "time"),
            error=row.error,
            when=_at(row.not_before, now),
        )
    due_since = row.wanted_at or (newest if newest and (row.through is None or newest > row.through) else None)
    return (
        ("waiting", filled("until {when}", when=_at(due_since + schedule.IDLE, now)))
        if due_since
        else ("up to date", "")
    )


def _at(moment: datetime | None, now: datetime) -> str:
    return gettext("now") if moment is None or moment <= now else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
