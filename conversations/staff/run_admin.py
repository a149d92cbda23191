"""What the pages of replays and experiments share: workers do what was begun there, and whoever may begin one may cancel it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from conversations.models.replays import Run
from conversations.staff import display
from conversations.staff.base import ReadOnlyAdmin, column


class RunAdmin[R: Run](ReadOnlyAdmin[R]):
    add_form_template = "admin/conversations/replay/add_form.html"
    ordering = ["-id"]
    actions = None

    started = column("started", "created_at", display.when, sort="id")
    by = column("started by", "author", lambda user: user or display.NOTHING)

    def cancel(self, id: UUID) -> bool:
        """Whether it ran until now."""
        raise NotImplementedError

    def page(self, request: HttpRequest, row: R) -> dict[str, Any]:
        """What its template is given, beside what all runs have."""
        raise NotImplementedError

    def has_delete_permission(self, request: HttpRequest, obj: R | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: R, form: Any, change: bool) -> None:
        """It is saved as it starts."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """There is nothing."""

    def response_add(self, request: HttpRequest, obj: R, post_url_continue: str | None = None) -> HttpResponse:
        return HttpResponseRedirect(display.change_url(self.model, obj.pk))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self.allowed(request, self.get_object(request, object_id))
        if request.method == "POST":
            if not self.has_add_permission(request):
                raise PermissionDenied
            if self.cancel(row.pk):
                messages.success(request, gettext("Cancelled. What was compared so far stands below."))
            return HttpResponseRedirect(request.path)
        is_running = row.state == Run.State.RUNNING
        page = {
            "subtitle": None,
            "is_running": is_running,
            "may_cancel": is_running and self.has_add_permission(request),
            **self.page(request, row),
        }
        return super().change_view(request, object_id, form_url, page)
