from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.admin.views.main import ChangeList
from django.db import transaction
from django.db.models import QuerySet
from django.forms.widgets import Media, Script
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext

from conversations.errors import ReplyInProgress
from conversations.models import ContentAccess, Reply, Thread
from conversations.runtime.wording import filled, translated
from conversations.staff import access, deletion_counts, display, live
from conversations.staff.access import Sight
from conversations.staff.audited import AuditedAdmin
from conversations.staff.base import STYLES, column, user_column
from conversations.staff.content import MaskedAdmin, content_column
from conversations.staff.thread_page import thread_page
from conversations.staff.trace import trace_views
from conversations.threads import deletion

TITLES = "titles of threads"
LIVE: Any = [Script("conversations/admin/live.js", type="module")]  # the stubs know of addresses only


@admin.register(Thread)
class ThreadAdmin(MaskedAdmin[Thread]):
    """Read-only, but a thread can be deleted for its user: with all that belongs to it, through the one door."""

    owner_id, thread_id = "user_id", "pk"
    list_display = ["thread", "titled", "owner", "assistant", "turns", "updated"]
    list_filter = ["assistant", "temporary", "updated_at"]
    list_select_related = ["user", "assistant"]
    search_fields = ["id__exact", "user__username"]
    search_help_text = "A thread id or a user name."
    ordering = ["-updated_at", "-id"]
    fields = ()
    empty_text = "No threads. One appears here when somebody sends a first message."

    thread = column("thread", "id", display.mono, sort="id")
    titled = content_column("title", "title")
    owner = user_column()
    turns = column("turns", "message_count", display.number, sort="message_count")
    updated = column("updated", "updated_at", display.when, sort="updated_at")

    def has_delete_permission(self, request: HttpRequest, obj: Thread | None = None) -> bool:
        return AuditedAdmin.has_delete_permission(self, request, obj)

    def page_context(self, request: HttpRequest, row: Thread, sight: Sight) -> dict[str, Any]:
        return {"page": thread_page(row, before=request.GET.get("before", ""), shown=sight.shown)}

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """With the titles of those whose content is open to who looks, which is recorded once for each of them."""
        changes = super().get_changelist_instance(request)
        threads = list(changes.result_list)
        people = {thread.user_id for thread in threads} if request.method == "GET" else ()
        is_open = [user for user in people if access.outlook(request, user=user).is_open]
        sights = {user: access.look(request, user=user, what=TITLES, object_id=user) for user in is_open}
        for thread in threads:
            thread.sight = sights.get(thread.user_id)
        changes.result_list = threads
        return changes

    def get_urls(self) -> list[URLPattern]:
        views: dict[str, Callable[..., HttpResponseBase]] = {
            "live": self.live_view,
            "live/events": self.live_events_view,
            "map": partial(trace_views.map_view, self),
            "why": partial(trace_views.find_view, self),
        }
        own = [
            path(
                f"<uuid:id>/{place}/",
                self.admin_site.admin_view(view),
                name=f"conversations_thread_{place.replace('/', '_')}",
            )
            for place, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def live_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        """Watch a reply of the thread as it is written. The page holds no content: the stream that it opens does."""
        thread = self._allowed_thread(request, id)
        sight = access.outlook(request, user=thread.user_id)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": thread,
            "title": gettext("Live"),
            "media": Media(css=STYLES, js=LIVE),
            "sight": replace(sight, shown=sight.is_open),
            "page": live.live_page(thread),
        }
        return TemplateResponse(request, "admin/conversations/thread/live.html", context)

    def live_events_view(self, request: HttpRequest, id: UUID) -> HttpResponseBase:
        thread = self._allowed_thread(request, id)
        watch = ContentAccess.Action.WATCH
        sight = access.look(
            request, user=thread.user_id, what="reply as it is written", object_id=id, thread=id, action=watch
        )
        return live.stream(request, thread, sight)

    def _allowed_thread(self, request: HttpRequest, id: UUID) -> Thread:
        return self.allowed(request, self.get_object(request, str(id)))

    def get_deleted_objects(
        self, objs: Iterable[Thread], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        threads = Thread.objects.filter(pk__in=[thread.pk for thread in objs])
        running = Reply.objects.filter(thread__in=threads, status=Reply.Status.RUNNING)
        protected = [
            display.link(Reply, reply.pk, filled("{reply}: stop it first, then delete", reply=reply))
            for reply in running
        ]
        return [display.link(Thread, t.pk, t) for t in threads], deletion_counts.goes_with(threads), set(), protected

    def log_deletions(self, request: HttpRequest, queryset: Iterable[Thread]) -> list[LogEntry]:
        return deletion_counts.log_thread_deletions(request.user.pk, queryset)

    def delete_model(self, request: HttpRequest, obj: Thread) -> None:
        deletion.delete_thread(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Thread]) -> None:
        for thread in queryset:
            deletion.delete_thread(thread)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except ReplyInProgress as error:
            return self.refuse(request, error)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        try:
            if request.method == "GET":
                return super().changelist_view(request, extra_context)
            # Whole or not at all: Django logs the deletions before it makes them.
            with transaction.atomic():
                return super().changelist_view(request, extra_context)
        except ReplyInProgress as error:
            return self.refuse(request, error)

    def refuse(self, request: HttpRequest, error: ReplyInProgress) -> HttpResponse:
        """A reply may start between the page that asks whether to delete and the delete."""
        self.message_user(request, translated(error.message), messages.ERROR)
        return HttpResponseRedirect(request.path)
