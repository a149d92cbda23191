"""Links that people share: that there are some, since when and how often they were opened. Not where they lead: whoever has the
address reads what somebody wrote, and nobody would have noted that they looked."""

from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from conversations.models import Share
from conversations.runtime.wording import filled, translated
from conversations.sharing import shares
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column, thread_column, user_column
from memory.forgetting.ledger import LedgerAway


@admin.register(Share)
class ShareAdmin(InspectionAdmin[Share]):
    list_display = ["created", "owner", "thread_link", "kind", "state", "expires", "opened"]
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["id__exact", "thread__id__exact", "user__username"]
    search_help_text = "The id of a link or a thread, or a user name."
    ordering = ["-id"]
    fields = ["identifier", "owner", "thread_link", "kind", "state", "created", "expires", "revoked", "opened"]
    actions = ["revoke"]
    empty_text = (
        "No links. One appears here when somebody shares a conversation or an artifact, where OPENBOOK_SHARING is on."
    )

    identifier = column("id", "id", display.mono)
    owner = user_column()
    thread_link = thread_column()
    kind = column("shows", "kind", str)
    created = column("created", "created_at", display.when, sort="created_at")
    expires = column("expires", "expires_at", display.when, sort="expires_at")
    revoked = column("revoked", "revoked_at", display.when)
    opened = column("opened", "views", display.number, sort="views")

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.change_share")

    @admin.action(
        permissions=["revoke"],
        description="Revoke this link",
        description_plural="Revoke the selected links",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def revoke(self, request: HttpRequest, queryset: QuerySet[Share]) -> None:
        working = list(queryset.filter(revoked_at=None))
        try:
            shares.revoke(queryset)
        except LedgerAway as refusal:
            self.message_user(request, translated(refusal.message), messages.ERROR)
            return
        for share in working:
            self.log_change(request, share, "Revoked.")
        self.message_user(
            request, filled("Revoked: {working}. They open nothing any more.", working=len(working)), messages.SUCCESS
        )

    @admin.display
    def state(self, share: Share) -> str:
        if share.revoked_at:
            return gettext("revoked")
        return gettext("expired") if share.expires_at <= timezone.now() else gettext("open")
