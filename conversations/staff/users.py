from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from conversations.accounts import allowances, mailing
from conversations.accounts.limits import FILES, by_default
from conversations.models import ApiToken, File, Thread, UserLimits
from conversations.runtime.site import site_address
from conversations.staff import deletion_counts, display
from conversations.staff.base import STYLES, column
from conversations.threads import deletion
from memory.models import Consolidation, DailySummary, Memory, Topic

if TYPE_CHECKING:
    BaseAdmin = DjangoUserAdmin[User]
    BaseInline = admin.StackedInline[UserLimits, User]
else:
    BaseAdmin = DjangoUserAdmin
    BaseInline = admin.StackedInline

admin.site.unregister(
    [User, EmailAddress, UserSession]
)  # a mail address is the user's; nobody sees where others are signed in


class LimitsInline(BaseInline):
    """What this user may use, and uses today."""

    model = UserLimits
    can_delete = False
    fields = ["requests_minute", "running_replies", "tokens_day", "files_mb", "used"]
    readonly_fields = ["used"]

    def get_formset(self, request: HttpRequest, obj: User | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        for name, default in {**asdict(by_default()), FILES: settings.OPENBOOK_LIMIT_FILES_MB}.items():
            if name in formset.form.base_fields:
                words = f"{default:,}" if default else "no limit"
                formset.form.base_fields[name].help_text = f"Empty: as in the settings, {words}. 0: no limit."
        return formset

    @admin.display(description="now")
    def used(self, limits: UserLimits) -> str:
        use = allowances.use_of(limits.user_id)
        running = "1 reply" if use.running == 1 else f"{use.running:,} replies"
        return f"{running} running; today {use.spent:,} tokens used, {use.reserved:,} set aside"


class LeavingFilter(admin.SimpleListFilter):
    title = "deletion"
    parameter_name = "leaving"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "asked for"), ("no", "not asked for")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        return queryset.filter(deletion__isnull=self.value() == "no") if self.value() in {"yes", "no"} else queryset


@admin.register(User)
class UserAdmin(BaseAdmin):
    """Django's own, with the way to a user's threads and with a delete that takes them along."""

    list_display = ["username", "leaves", "threads", "is_active", "is_staff", "seen", "joined", "email"]
    list_filter = [*DjangoUserAdmin.list_filter, LeavingFilter]
    list_select_related = ["deletion"]
    fieldsets = [
        (None, {"fields": ["username", "password", "threads", "memories", "goes"]}),
        *(DjangoUserAdmin.fieldsets or [])[1:],
    ]
    readonly_fields = ["threads", "memories", "goes"]
    inlines = [LimitsInline]
    actions = ["link_for_password"]

    joined = column("joined", "date_joined", display.when, sort="date_joined")
    seen = column("last sign-in", "last_login", display.when, sort="last_login")

    @admin.action(
        permissions=["change"],
        description="Make a link for a new password",
        description_plural="Make a link for a new password",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def link_for_password(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        """For people who have forgotten theirs where no mail is set up. Shown in the answer itself, and nowhere else."""
        people = list(queryset[:2])
        if len(people) != 1:
            self.message_user(request, "Choose one user: a link is for one.", messages.ERROR)
            return None
        (user,) = people
        if (user.is_staff or user.is_superuser) and not getattr(request.user, "is_superuser", False):
            # By the link one becomes them.
            self.message_user(request, "Only a superuser may make one for staff.", messages.ERROR)
            return None
        self.log_change(request, user, "Made a link for a new password.")
        link = mailing.password_link(user, site_address(request))
        context = self.admin_site.each_context(request) | {
            "title": "A link for a new password",
            "person": user,
            "link": link,
        }
        response = TemplateResponse(request, "admin/conversations/password_link.html", context)
        add_never_cache_headers(response)
        return response

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        return self.inlines if obj else []

    class Media:
        css = STYLES

    @admin.display(description="is to go", ordering="deletion__due_at")
    def leaves(self, user: User) -> SafeString | str:
        return display.when(user.deletion.due_at if hasattr(user, "deletion") else None)

    @admin.display(description="deletion")
    def goes(self, user: User) -> str:
        if not hasattr(user, "deletion"):
            return "Not asked for."
        asked_at, due_at = (display.moment(at) for at in (user.deletion.asked_at, user.deletion.due_at))
        return f"Asked to be deleted on {asked_at}, goes on {due_at}. Whoever signs in before can keep the account."

    @admin.display
    def threads(self, user: User) -> SafeString:
        return display.list_link(Thread, "their threads", user__id__exact=user.pk)

    @admin.display
    def memories(self, user: User) -> SafeString:
        about = {"user__id__exact": user.pk}
        lists = [(Memory, "memories"), (DailySummary, "days"), (Topic, "topics"), (Consolidation, "consolidation")]
        return format_html_join(", ", "{}", ((display.list_link(model, name, **about),) for model, name in lists))

    def get_deleted_objects(
        self, objs: Iterable[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        users = list(objs)
        counts = deletion_counts.goes_with(Thread.objects.filter(user__in=users))
        files, tokens = (rows.objects.filter(user__in=users).count() for rows in (File, ApiToken))
        counts = {"users": len(users), **counts, "files": files, "API tokens": tokens}
        may = request.user.has_perm("conversations.delete_thread") or not counts["threads"]
        return [display.link(User, user.pk, user) for user in users], counts, set() if may else {"thread"}, []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        deletion.delete_user(obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            deletion.delete_user(user)
