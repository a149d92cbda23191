"""What staff tell people: the notice that everybody accepts, and banners above pages."""

from typing import Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.accounts import banners, notices
from conversations.models import Banner, Notice, NoticeAcceptance
from conversations.runtime import clock
from conversations.runtime.wording import counted, filled
from conversations.staff import display
from conversations.staff.base import PageAdmin, column


@admin.register(Notice)
class NoticeAdmin(PageAdmin[Notice]):
    """A draft is written, previewed and published. What was published is only read, and withdrawn."""

    list_display = ["title", "version", "state", "published", "acceptances"]
    ordering = ["-version", "-id"]
    fields = ["title", "text"]
    readonly_fields = ["version", "state", "published", "withdrawn", "acceptances"]
    actions = None
    empty_text = "No notices: people are asked to accept nothing. Add one; nobody is asked until it is published."

    published = column("published", "published_at", display.when, sort="published_at")
    withdrawn = column("withdrawn", "withdrawn_at", display.when)

    @admin.display(description="state")
    def state(self, notice: Notice) -> str:
        if notice.version is None:
            return gettext("draft")
        return gettext("withdrawn") if notice.withdrawn_at else gettext("published")

    @admin.display(description="accepted by")
    def acceptances(self, notice: Notice) -> str:
        """How many did who are still here. Who it was is in the audit record."""
        if notice.version is None:
            return display.NOTHING
        return counted("{count} person", "{count} people", cast(Any, notice).accepted)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Notice]:
        counts = NoticeAcceptance.objects.filter(version=OuterRef("version")).order_by().values("version")
        return super().get_queryset(request).annotate(accepted=Coalesce(Subquery(counts.values(count=Count("pk"))), 0))

    def get_fields(self, request: HttpRequest, obj: Notice | None = None) -> Any:
        return ["title", "text", *(self.readonly_fields if obj and obj.version else [])]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The next version begins as the one in force."""
        notice = notices.newest()
        return {"title": notice.title, "text": notice.text} if notice else {}

    def has_change_permission(self, request: HttpRequest, obj: Notice | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.version is None)

    def has_delete_permission(self, request: HttpRequest, obj: Notice | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or obj.version is None)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.preview_view)
        return [path("<path:object_id>/preview/", view, name="conversations_notice_preview"), *super().get_urls()]

    def preview_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """As people read it, and from where it is published or withdrawn."""
        notice = self.get_object(request, object_id)
        if not self.has_view_permission(request, notice):
            raise PermissionDenied
        if notice is None:
            raise Http404
        may_change = super().has_change_permission(request, None)
        if request.method == "POST":
            if not may_change:
                raise PermissionDenied
            self._put_in_force(request, notice)
            return redirect("admin:conversations_notice_changelist")
        context = self.admin_site.each_context(request) | {
            "title": gettext("How people read it"),
            "opts": self.opts,
            "original": notice,
            "notice": notice,
            "may_change": may_change,
            "is_draft": notice.version is None,
            "is_in_force": notice.version is not None and notice.withdrawn_at is None,
        }
        return TemplateResponse(request, "admin/conversations/notice/preview.html", context)

    @transaction.atomic
    def _put_in_force(self, request: HttpRequest, notice: Notice) -> None:
        """Publish a draft, or withdraw what is in force."""
        if notice.version is None:
            notices.publish(notice)
            words = filled(
                "Version {version} is published. Whoever uses Openbook reads it next.", version=notice.version
            )
            field = "version"
        else:
            notices.withdraw_all()
            words, field = (
                gettext("It is withdrawn. Nobody is asked until another version is published."),
                "withdrawn at",
            )
        self.log_change(request, notice, [{"changed": {"fields": [field]}}])
        self.message_user(request, words, messages.SUCCESS)


@admin.register(Banner)
class BannerAdmin(PageAdmin[Banner]):
    list_display = ["text", "level", "audience", "state", "begins", "ends", "is_dismissable"]
    list_filter = ["level", "audience"]
    ordering = ["-starts_at", "-id"]
    fields = ["text", ("level", "audience"), ("starts_at", "ends_at"), "is_dismissable", "preview"]
    readonly_fields = ["preview"]
    actions = None
    empty_text = "No banners. Add one to tell people something above their pages for a time, such as of maintenance."

    begins = column("from", "starts_at", display.when, sort="starts_at")
    ends = column("until", "ends_at", display.when, sort="ends_at")

    @admin.display(description="state")
    def state(self, banner: Banner) -> str:
        now = clock.now()
        if banner.starts_at > now:
            return gettext("still to come")
        return gettext("over") if banner.ends_at and banner.ends_at <= now else gettext("shown")

    @admin.display(description="as it is shown")
    def preview(self, banner: Banner) -> SafeString | str:
        if banner.pk is None:
            return gettext("Save it to see it; with a time to come nobody else does yet.")
        return format_html(
            '<div class="ob-banner ob-banner-{}"><strong>{}</strong> <bdi>{}</bdi></div>',
            banner.level,
            gettext(str(Banner.Level(banner.level).label)).capitalize(),
            banner.text,
        )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"starts_at": clock.now().replace(second=0, microsecond=0)}

    def save_model(self, request: HttpRequest, obj: Banner, form: Any, change: bool) -> None:
        if change:
            obj.version += 1
        super().save_model(request, obj, form, change)
        banners.reread()

    def delete_model(self, request: HttpRequest, obj: Banner) -> None:
        super().delete_model(request, obj)
        banners.reread()
