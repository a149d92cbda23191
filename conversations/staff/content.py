"""The admin classes of rows that hold content, and the page of who looked at it."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any
from uuid import UUID

from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from conversations.accounts import freshness, second_factors
from conversations.models import ContentAccess, ContextSnapshot, HeldRow, Thread, data_map
from conversations.runtime.wording import counted, filled
from conversations.staff import access, display
from conversations.staff.base import InspectionAdmin, ReadOnlyAdmin

CONTENT_FORM = "admin/conversations/content_form.html"
"""For pages that are made of fields."""


class MaskedAdmin[M: Model](ReadOnlyAdmin[M]):
    """Its pages show content once a reason is stated; its lists don't, but for titles of threads.

    While a page is drawn, ``row.sight`` says whether its content may be shown.
    """

    owner_id = "thread.user_id"
    thread_id: str | None = "thread_id"
    """Where a row has the id of the person whose content it is, and of the thread that it belongs to, if to one."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        # A list never reads them, and a page only once it may show them.
        return super().get_queryset(request).defer(*data_map.content_columns(self.model))

    def page_context(self, request: HttpRequest, row: M, sight: access.Sight) -> dict[str, Any]:
        """What the template of the page needs beside the row."""
        return {}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context["original"]
        what = str(self.opts.verbose_name)
        user, thread = attrgetter(self.owner_id)(row), attrgetter(self.thread_id)(row) if self.thread_id else None
        sight = access.look(request, user=user, what=what, object_id=row.pk, thread=thread)
        row.sight = sight
        context |= {"sight": sight, "title": what.capitalize(), "subtitle": None}
        context |= {"held_note": held_note(thread) if thread else ""}
        context |= self.page_context(request, row, sight)
        return super().render_change_form(request, context, *args, **kwargs)


class MaskedInspectionAdmin[M: Model](MaskedAdmin[M], InspectionAdmin[M]):
    """For what was recorded: nobody changes or deletes it here."""


def held_note(thread_id: UUID) -> SafeString | str:
    """On pages of a thread or a request: that something of it was deleted or forgotten and is kept by a legal hold."""
    count = HeldRow.objects.filter(thread_id=thread_id).count()
    if not count:
        return ""
    words = counted("{count} row is kept by a legal hold", "{count} rows are kept by a legal hold", count)
    return display.list_link(HeldRow, words, q=thread_id)


def is_shown(row: Any) -> bool:
    """Whether this row is the one of a page that may show its content."""
    sight = getattr(row, "sight", None)
    return sight is not None and sight.shown


def content_column(title: str, field: str, show: Callable[[Any], str | None] = lambda text: text) -> Any:
    """A text of the row, or that it is masked: then it is not even read."""

    @admin.display(description=title)
    def shown(self: object, row: Model) -> SafeString | str:
        if not is_shown(row):
            return display.masked()
        text = show(getattr(row, field))
        return format_html('<div class="ob-text">{}</div>', text) if text else display.NOTHING

    return shown


def lacks_factor(request: HttpRequest) -> bool:
    """Whether content stays masked until a second factor is proved."""
    assert isinstance(request.user, User)
    return settings.OPENBOOK_READING_NEEDS_FACTOR and not freshness.is_factor_fresh(request, request.user)


def go_on_reading(request: HttpRequest, stated: dict[str, Any]) -> HttpResponse:
    """allauth calls it once somebody proved again who they are, by whatever way they chose."""
    if lacks_factor(request):
        messages.error(request, gettext("That takes your second factor: a password is not enough."))
    elif request.user.has_perm(access.READ):
        access.open_content(request, user=stated["user"], reason=stated["reason"])
    return HttpResponseRedirect(stated["next"])


@admin.register(ContentAccess)
class ContentAccessAdmin(InspectionAdmin[ContentAccess]):
    """Who of the staff looked at whose content, and why; and the door through which they do."""

    list_display = ["time", "who", "owner", "thing", "why"]
    list_filter = ["action", "what", "at"]
    search_fields = ["staff_name", "user__username", "object_id__exact", "request_id__exact"]
    search_help_text = "The name of who looked or of whose content it was, or the id of what was looked at."
    ordering = ["-id"]
    fields = [("time", "who", "owner"), ("thing", "thread"), "why", "asked", "identifier"]
    empty_text = "Nobody of the staff has looked at anybody's content. Who does states a reason, and is listed here."

    def get_queryset(self, request: HttpRequest) -> QuerySet[ContentAccess]:
        # No join: a record outlives the person.
        name = User.objects.filter(pk=OuterRef("user")).values("username")
        return super().get_queryset(request).annotate(owner_name=Subquery(name))

    def get_urls(self) -> list[URLPattern]:
        views = {"open": self.open_view, "mask": self.mask_view}
        own = [
            path(f"{name}/", self.admin_site.admin_view(require_POST(view)), name=f"conversations_contentaccess_{name}")
            for name, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def open_view(self, request: HttpRequest) -> HttpResponse:
        user = self._requested_user(request)
        reason = " ".join(request.POST.get("reason", "").split())
        if reason and lacks_factor(request):
            return self._prove_factor(request, user, reason)
        if reason:
            access.open_content(request, user=user.pk, reason=reason)
        else:
            self.message_user(
                request, gettext("Say why you need to read it. The person sees who looked and why."), messages.ERROR
            )
        return self._back(request)

    def _prove_factor(self, request: HttpRequest, user: User, reason: str) -> HttpResponse:
        """Ask for it, and go on with what was stated."""
        staff = request.user
        assert isinstance(staff, User)
        if not second_factors.has_factor(staff):
            words = gettext("To read what people wrote takes a second factor here. Set one up, then try again.")
            self.message_user(request, words, messages.ERROR)
            return redirect("mfa_index")
        address = self._back(request).url
        request.session[STATE_SESSION_KEY] = {
            "state": {"user": user.pk, "reason": reason, "next": address},
            "callback": f"{__name__}.go_on_reading",
        }
        has_passkey = second_factors.of(staff).filter(type=second_factors.PASSKEY).exists()
        page = reverse("mfa_reauthenticate_webauthn" if has_passkey else "mfa_reauthenticate")
        return redirect(f"{page}?{urlencode({'next': address})}")

    def mask_view(self, request: HttpRequest) -> HttpResponse:
        access.close_content(request, user=self._requested_user(request).pk)
        return self._back(request)

    def _requested_user(self, request: HttpRequest) -> User:
        if not request.user.has_perm(access.READ):
            raise PermissionDenied
        user_id = request.POST.get("user", "")
        user = User.objects.filter(pk=int(user_id)).first() if user_id.isascii() and user_id.isdecimal() else None
        if user is None:
            raise PermissionDenied
        return user

    def _back(self, request: HttpRequest) -> HttpResponseRedirect:
        url = request.POST.get("next", "")
        safe = url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
        return HttpResponseRedirect(url if safe else reverse("admin:index"))

    @admin.display(ordering="id")
    def time(self, row: ContentAccess) -> SafeString | str:
        return display.when(row.at)

    @admin.display(description="who looked", ordering="staff_name")
    def who(self, row: ContentAccess) -> str:
        return row.staff_name

    @admin.display(description="whose content")
    def owner(self, row: Any) -> SafeString | str:
        name = row.owner_name
        return (
            display.link(User, row.user_id, name)
            if name
            else filled("user {user_id}, deleted since", user_id=str(row.user_id))
        )

    @admin.display(description="what")
    def thing(self, row: ContentAccess) -> SafeString:
        model = self.pages().get(row.what)
        id = display.id_link(model, row.object_id) if model else display.mono(display.short_id(row.object_id))
        return display.with_note(f"{row.get_action_display()}: {row.what}", id)

    @admin.display
    def thread(self, row: ContentAccess) -> SafeString | str:
        return display.id_link(Thread, row.thread_id) if row.thread_id else display.NOTHING

    @admin.display
    def why(self, row: ContentAccess) -> str:
        return row.reason

    @admin.display(description="request id")
    def asked(self, row: ContentAccess) -> SafeString:
        return display.mono(row.request_id)

    def pages(self) -> dict[str, type[Model]]:
        """The models whose pages show content, by what a record calls them."""
        own = {
            str(model._meta.verbose_name): model
            for model, its in self.admin_site._registry.items()
            if isinstance(its, MaskedAdmin)
        }
        return own | {"exact request": ContextSnapshot}

    @admin.display(description="id")
    def identifier(self, row: ContentAccess) -> SafeString:
        return display.mono(row.pk)
