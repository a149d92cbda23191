from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from conversations.admin import display
from conversations.admin.base import InspectionAdmin
from conversations.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(InspectionAdmin[ApiToken]):
    """Programs get their tokens through the API; here they can only be taken back."""

    list_display = ["name", "owner", "state", "created", "expires", "used"]
    list_filter = ["created_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    search_help_text = "A word of the name, or a user name."
    ordering = ["-id"]
    fields = ["name", "owner", "state", "created", "expires", "used", "revoked"]
    actions = ["revoke"]
    empty_text = "No tokens. A program gets one from the API: POST /api/v1/auth/token/ with a user name and password."

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.change_apitoken")

    @admin.action(
        permissions=["revoke"],
        description="Revoke this token",
        description_plural="Revoke the selected tokens",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        tokens = list(queryset.filter(revoked_at__isnull=True))
        queryset.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())
        for token in tokens:
            self.log_change(request, token, "Revoked.")
        self.message_user(request, f"Revoked: {len(tokens)}. They stop working at once.", messages.SUCCESS)

    @admin.display(description="user", ordering="user__username")
    def owner(self, token: ApiToken) -> SafeString:
        return display.link(User, token.user_id, token.user)

    @admin.display
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "revoked"
        return "expired" if token.expires_at <= timezone.now() else "valid"

    @admin.display(ordering="created_at")
    def created(self, token: ApiToken) -> SafeString | str:
        return display.when(token.created_at)

    @admin.display(ordering="expires_at")
    def expires(self, token: ApiToken) -> SafeString | str:
        return display.when(token.expires_at)

    @admin.display(description="last used", ordering="last_used_at")
    def used(self, token: ApiToken) -> SafeString | str:
        return display.when(token.last_used_at)

    @admin.display
    def revoked(self, token: ApiToken) -> SafeString | str:
        return display.when(token.revoked_at)
