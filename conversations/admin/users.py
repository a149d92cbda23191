from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from conversations import deletion
from conversations.admin import deleting, display
from conversations.admin.base import STYLES
from conversations.models import ApiToken, Thread
from memory.models import Consolidation, DailySummary, Memory, Topic

if TYPE_CHECKING:
    BaseAdmin = DjangoUserAdmin[User]
else:
    BaseAdmin = DjangoUserAdmin

admin.site.unregister(User)


@admin.register(User)
class UserAdmin(BaseAdmin):
    """Django's own, with the way to a user's threads and with a delete that takes them along."""

    list_display = ["username", "threads", "is_active", "is_staff", "seen", "joined", "email"]
    fieldsets = [
        (None, {"fields": ["username", "password", "threads", "memories"]}),
        *(DjangoUserAdmin.fieldsets or [])[1:],
    ]
    readonly_fields = ["threads", "memories"]

    class Media:
        css = STYLES

    @admin.display(ordering="date_joined")
    def joined(self, user: User) -> SafeString | str:
        return display.when(user.date_joined)

    @admin.display(description="last sign-in", ordering="last_login")
    def seen(self, user: User) -> SafeString | str:
        return display.when(user.last_login)

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
        counts = deleting.goes_with(Thread.objects.filter(user__in=users))
        counts = {"users": len(users), **counts, "API tokens": ApiToken.objects.filter(user__in=users).count()}
        may = request.user.has_perm("conversations.delete_thread") or not counts["threads"]
        return [display.link(User, user.pk, user) for user in users], counts, set() if may else {"thread"}, []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        deletion.delete_user(obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            deletion.delete_user(user)
