from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers

from conversations.accounts import limits, tokens
from conversations.models import ApiToken
from conversations.staff import display
from conversations.staff.base import InspectionAdmin, column, user_column
from conversations.web.forms import TokenForm


class TokenOfUserForm(TokenForm):
    class Meta(TokenForm.Meta):
        fields = ["user", *TokenForm.Meta.fields]


@admin.register(ApiToken)
class ApiTokenAdmin(InspectionAdmin[ApiToken]):
    """Tokens of all users: made for one, shown once, and taken back. They can't be changed."""

    list_display = ["name", "owner", "granted", "state", "created", "expires", "used"]
    list_filter = ["created_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    search_help_text = "A word of the name, or a user name."
    ordering = ["-id"]
    fields = ["name", "owner", "granted", *limits.KINDS, "state", "created", "expires", "used", "revoked"]
    autocomplete_fields = ["user"]
    actions = ["revoke"]
    empty_text = (
        "No tokens. People make them at /account/tokens/, programs with their password at POST /api/v1/auth/token/."
    )

    owner = user_column()
    granted = column("scopes", "scopes", ", ".join)
    created = column("created", "created_at", display.when, sort="created_at")
    expires = column("expires", "expires_at", display.when, sort="expires_at")
    used = column("last used", "last_used_at", display.when, sort="last_used_at")
    revoked = column("revoked", "revoked_at", display.when)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.add_apitoken")

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> Any:
        return self.fields if obj else [*TokenOfUserForm.Meta.fields, "days"]

    def get_form(self, request: HttpRequest, obj: ApiToken | None = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **kwargs if change else kwargs | {"form": TokenOfUserForm})

    def save_model(self, request: HttpRequest, obj: ApiToken, form: forms.ModelForm[ApiToken], change: bool) -> None:
        assert isinstance(form, TokenForm)
        obj.secret = form.prepared(obj)
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        """In the answer itself: whatever is kept for a page after it could be read there again."""
        context = self.admin_site.each_context(request) | {"title": "A new token", "token": obj}
        response = TemplateResponse(request, "admin/conversations/apitoken/made.html", context)
        add_never_cache_headers(response)
        return response

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("conversations.change_apitoken")

    @admin.action(
        permissions=["revoke"],
        description="Revoke this token",
        description_plural="Revoke the selected tokens",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        valid = list(queryset.filter(revoked_at__isnull=True))
        tokens.revoke(queryset)
        for token in valid:
            self.log_change(request, token, "Revoked.")
        self.message_user(request, f"Revoked: {len(valid)}. They stop working at once.", messages.SUCCESS)

    @admin.display
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "revoked"
        return "expired" if token.expires_at <= timezone.now() else "valid"
