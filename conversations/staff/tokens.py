from typing import Any

from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from conversations.accounts import limits, rights, tokens
from conversations.models import ApiToken
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column, user_column


class ServiceFilter(admin.SimpleListFilter):
    title = "kind of account"
    parameter_name = "account"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("service", gettext("service account")), ("person", gettext("person"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> QuerySet[ApiToken]:
        if self.value() not in {"service", "person"}:
            return queryset
        return queryset.filter(user__service_account__isnull=self.value() == "person")


@admin.register(ApiToken)
class ApiTokenAdmin(InspectionAdmin[ApiToken]):
    """Tokens of all users, seen and taken back. Only their own people make them, as by a token one acts as its user; those of
    service accounts are made on the page of the account."""

    list_display = ["name", "owner", "granted", "networks", "state", "expires", "used", "used_from"]
    list_filter = ["created_at", ServiceFilter]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    search_help_text = "A word of the name, or a user name."
    ordering = ["-id"]
    fields = [
        *("name", "owner", "granted", "networks", *limits.KINDS),
        *("state", "created", "expires", "used", "used_from", "revoked"),
    ]
    actions = ["revoke"]
    empty_text = (
        "No tokens. People make them at /account/tokens/, programs with their password at POST /api/v1/auth/token/."
    )

    owner = user_column()
    granted = column("scopes", "scopes", ", ".join)
    created = column("created", "created_at", display.when, sort="created_at")
    expires = column("expires", "expires_at", display.when, sort="expires_at")
    used = column("last used", "last_used_at", display.when, sort="last_used_at")
    used_from = column("last used from", "last_used_from", lambda network: network or display.NOTHING)
    networks = column("works from", "addresses", lambda networks: ", ".join(networks) or gettext("everywhere"))
    revoked = column("revoked", "revoked_at", display.when)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.change_apitoken")

    @admin.action(
        permissions=["revoke"],
        description="Revoke this token",
        description_plural="Revoke the selected tokens",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        valid = list(queryset.filter(revoked_at__isnull=True).select_related("user"))
        mine = [token for token in valid if rights.may_manage(request.user, token.user)]
        tokens.revoke(queryset.filter(pk__in=[token.pk for token in mine]))
        for token in mine:
            self.log_change(request, token, "Revoked.")
        self.message_user(
            request, filled("Revoked: {mine}. They stop working at once.", mine=len(mine)), messages.SUCCESS
        )
        if kept := len(valid) - len(mine):
            words = filled(
                "Kept: {kept}. Only a superuser revokes those of people who may more than you do.", kept=kept
            )
            self.message_user(request, words, messages.ERROR)

    @admin.display
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return gettext("revoked")
        return gettext("expired") if token.expires_at <= timezone.now() else gettext("valid")
