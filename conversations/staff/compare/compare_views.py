"""Two model requests side by side, one beside what it might have been, and the proof of one: pages of their own."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext

from conversations.context.record import snapshots
from conversations.context.record.request_record import NotReplayable
from conversations.context.render.rendering import canonical, sha256
from conversations.models import AssistantVersion, ContextSnapshot
from conversations.regression.lifted_rules import LIFTED
from conversations.runtime.wording import lazy
from conversations.staff import access, display
from conversations.staff.access import Sight
from conversations.staff.base import InspectionAdmin
from conversations.staff.compare import added_notes
from conversations.staff.compare.compare_page import compare_page
from conversations.staff.compare.replay_side import side_at, side_lifted, side_with, side_without
from conversations.staff.compare.sides import Side, neighbour, side_of, summaries_of
from conversations.staff.compare.what_if_page import what_if_page

TEMPLATES = "admin/conversations/contextsnapshot"
RELEASE = "release"
NOBODY = lazy("No model request has this id. Paste a whole one.")


class CompareViews(InspectionAdmin[ContextSnapshot]):
    """For the admin of model requests."""

    actions = ["compare_selected", "collect"]

    def get_urls(self) -> list[URLPattern]:
        views = {"compare": self.compare_view, "what-if": self.what_if_view, "prove": self.prove_view}
        own = [
            path(
                f"<uuid:id>/{name}/",
                self.admin_site.admin_view(view),
                name=f"conversations_contextsnapshot_{name.replace('-', '_')}",
            )
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    @admin.action(description="Compare the two selected requests", permissions=["view"])
    def compare_selected(self, request: HttpRequest, queryset: QuerySet[ContextSnapshot]) -> HttpResponse | None:
        chosen = list(queryset.order_by("created_at", "id").values_list("pk", flat=True)[:3])
        if len(chosen) != 2:
            self.message_user(request, gettext("Choose exactly two requests to compare."), messages.WARNING)
            return None
        first, second = chosen
        return HttpResponseRedirect(compare_url(second, first))

    def compare_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        snapshot = self._snapshot(request, id)
        if version := request.GET.get("version"):
            return self._compare_version(request, snapshot, version)
        if without := request.GET.get("without"):
            return self._compare_without(request, snapshot, without)
        if rule := request.GET.get("rule"):
            return self._compare_lifted(request, snapshot, rule)
        if added := request.GET.get("added"):
            return self._compare_added(request, snapshot, added)
        other_id = request.GET.get("with", "").strip()
        previous = neighbour(snapshot, later=False)
        before = self.get_object(request, other_id) if other_id else previous
        context: dict[str, Any] = {
            "title": gettext("Compare requests"),
            "asked": other_id,
            "problem": NOBODY if other_id and before is None else "",
            "before": before,
            "previous": previous,
            "next": neighbour(snapshot, later=True),
        }
        if before:
            sight = self._look(request, snapshot, "comparison")
            same = before.thread.user_id == snapshot.thread.user_id
            other_sight = sight if same else self._look(request, before, "comparison")
            a = side_of(before, shown=other_sight.shown)
            page = compare_page(a, side_of(snapshot, shown=sight.shown), summaries_of(a))
            context |= {"page": page, "sight": sight, "other_sight": None if same else other_sight}
        return self._page(request, snapshot, "compare", context)

    def _compare_version(self, request: HttpRequest, snapshot: ContextSnapshot, pk: str) -> HttpResponse:
        """With what another version, or this release, would have built."""
        version = AssistantVersion.objects.select_related("assistant").filter(pk=pk).first() if pk.isdecimal() else None
        if version is None and pk != RELEASE:
            raise Http404
        context = self._remade(request, snapshot, lambda shown: side_at(snapshot, version, shown=shown))
        return self._page(request, snapshot, "compare_version", {**context, "tried": version})

    def _compare_without(self, request: HttpRequest, snapshot: ContextSnapshot, id: str) -> HttpResponse:
        """With what it would have been without a note, a turn or a file."""
        try:
            without = str(UUID(id))
        except ValueError:
            raise Http404 from None
        context = self._remade(request, snapshot, lambda shown: side_without(snapshot, without, shown=shown))
        return self._page(request, snapshot, "compare_version", {**context, "without": without})

    def _compare_lifted(self, request: HttpRequest, snapshot: ContextSnapshot, code: str) -> HttpResponse:
        """With what it would have been had a rule of choosing not held."""
        rule = next((rule for rule in LIFTED if rule.value == code), None)
        if rule is None:
            raise Http404
        context = self._remade(request, snapshot, lambda shown: side_lifted(snapshot, rule, shown=shown))
        return self._page(request, snapshot, "compare_version", {**context, "rule": rule})

    def _compare_added(self, request: HttpRequest, snapshot: ContextSnapshot, text: str) -> HttpResponse:
        """With what it would have been with a note that nobody made."""
        note = added_notes.read(text, snapshot.thread.user_id)
        if note is None:
            raise Http404
        context = self._remade(request, snapshot, lambda shown: side_with(snapshot, note, shown=shown))
        return self._page(request, snapshot, "compare_version", {**context, "added": note})

    def _remade(
        self, request: HttpRequest, snapshot: ContextSnapshot, remade: Callable[[bool], Side]
    ) -> dict[str, Any]:
        sight = self._look(request, snapshot, "comparison")
        context: dict[str, Any] = {"title": gettext("Compare requests"), "sight": sight}
        try:
            after = remade(sight.shown)
        except NotReplayable as error:
            context["refusal"] = str(error)
        else:
            before = side_of(snapshot, shown=sight.shown)
            context["page"] = compare_page(before, after, summaries_of(before))
        return context

    def what_if_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        snapshot = self._snapshot(request, id)
        # Without a question the page is a form.
        sight = self._look(request, snapshot, "what if") if any(request.GET.values()) else None
        page = what_if_page(snapshot, request.GET, shown=sight is not None and sight.shown)
        context = {"title": gettext("What if"), "sight": sight, "what_if": page, "page": page.compared}
        return self._page(request, snapshot, "what_if", context)

    def prove_view(self, request: HttpRequest, id: UUID) -> HttpResponse:
        """It shows digests and no content: of the request itself to who may read that."""
        snapshot = self._snapshot(request, id)
        shown = self._look(request, snapshot, "proof").shown
        context: dict[str, Any] = {
            "title": gettext("Proof"),
            "recorded": display.digest(bytes(snapshot.digest), shown=shown),
        }
        try:
            content = canonical(snapshots.rebuild(snapshot))
        except snapshots.NotRebuildable as error:
            context["refusal"] = str(error)
        else:
            rebuilt = sha256(content.decode())
            context |= {"rebuilt": display.digest(rebuilt, shown=shown), "size": len(content), "shown": shown}
            context["is_proven"] = rebuilt == bytes(snapshot.digest)
        return self._page(request, snapshot, "prove", context)

    def _snapshot(self, request: HttpRequest, id: UUID) -> ContextSnapshot:
        return self.allowed(request, self.get_object(request, str(id)))

    def _look(self, request: HttpRequest, snapshot: ContextSnapshot, what: str) -> Sight:
        return access.look(
            request, user=snapshot.thread.user_id, what=what, object_id=snapshot.pk, thread=snapshot.thread_id
        )

    def _page(
        self, request: HttpRequest, snapshot: ContextSnapshot, name: str, context: dict[str, Any]
    ) -> TemplateResponse:
        every = self.admin_site.each_context(request)
        own = {"opts": self.opts, "original": snapshot, "media": self.media, "has_view_permission": True}
        return TemplateResponse(request, f"{TEMPLATES}/{name}.html", every | own | context)


def compare_url(id: UUID, before: UUID) -> str:
    return reverse("admin:conversations_contextsnapshot_compare", args=[id], query={"with": before})
