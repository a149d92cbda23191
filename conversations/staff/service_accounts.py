"""Accounts for programs: made by staff, with tokens that are made here and shown once."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group, User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.accounts import rights, service_accounts
from conversations.models import ApiToken, ServiceAccount
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.base import PageAdmin, column
from conversations.web.forms import TokenForm


class NewAccountForm(forms.ModelForm[ServiceAccount]):
    username = forms.CharField(
        label=_("User name"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        help_text=_("What it is called in lists and in the record, such as “directory”."),
    )
    groups = forms.ModelMultipleChoiceField(
        Group.objects.none(), label=_("Groups"), required=False, help_text=_("They give it its rights.")
    )

    class Meta:
        model = ServiceAccount
        fields = ["purpose"]

    def clean_username(self) -> str:
        name: str = User.normalize_username(self.cleaned_data["username"])
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(gettext("Somebody is called so already."))
        return name


@admin.register(ServiceAccount)
class ServiceAccountAdmin(PageAdmin[ServiceAccount]):
    """Whoever makes a token here acts as the account: so they hold all that it may."""

    list_display = ["name", "purpose", "active", "tokens", "created"]
    list_select_related = ["user"]
    search_fields = ["user__username", "purpose"]
    search_help_text = "A word of the name or of the purpose."
    ordering = ["user__username"]
    readonly_fields = ["account", "active", "tokens", "created"]
    empty_text = (
        "No service accounts. Add one for a program that is nobody’s own, such as the directory of your people."
    )

    created = column("created", "created_at", display.when, sort="created_at")

    def has_change_permission(self, request: HttpRequest, obj: ServiceAccount | None = None) -> bool:
        return super().has_change_permission(request, obj) and (
            obj is None or rights.may_manage(request.user, obj.user)
        )

    def has_delete_permission(self, request: HttpRequest, obj: ServiceAccount | None = None) -> bool:
        return False  # it goes with its user

    def get_fields(self, request: HttpRequest, obj: ServiceAccount | None = None) -> Any:
        return ["account", "purpose", "active", "tokens", "created"] if obj else ["username", "purpose", "groups"]

    def get_form(
        self, request: HttpRequest, obj: ServiceAccount | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if obj:
            return super().get_form(request, obj, change, **kwargs)
        form: Any = super().get_form(request, obj, change, form=NewAccountForm, **kwargs)
        form.base_fields["groups"].queryset = rights.grantable_groups(request.user)
        return form

    def save_model(self, request: HttpRequest, obj: ServiceAccount, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        fields = form.cleaned_data
        user = service_accounts.make(
            username=fields["username"], purpose=fields["purpose"], groups=list(fields["groups"])
        )
        obj.user, obj.created_at = user, user.service_account.created_at

    def get_urls(self) -> list[URLPattern]:
        page = path(
            "<int:user_id>/token/",
            self.admin_site.admin_view(self.make_token),
            name="conversations_serviceaccount_token",
        )
        return [page, *super().get_urls()]

    def make_token(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """The form, and once, in its answer, the token."""
        account = self.get_object(request, str(user_id))
        may = account and self.has_change_permission(request, account)
        if not account or not may or not service_accounts.may_issue(request.user, account.user):
            raise PermissionDenied
        row = ApiToken(user=account.user)
        form = TokenForm(request.POST or None, instance=row)
        if form.is_valid():
            row.secret = form.issued()
            self.log_change(request, account, f"Made the token “{row.name}”: {', '.join(row.scopes)}.")
            form = TokenForm(instance=ApiToken(user=account.user))
        context = self.admin_site.each_context(request) | {
            "title": filled("A token for {name}", name=account.user.get_username()),
            "account": account,
            "form": form,
            "made": row,
            "opts": self.opts,
        }
        response = TemplateResponse(request, "admin/conversations/service_token.html", context)
        add_never_cache_headers(response)
        return response

    def response_add(self, request: HttpRequest, obj: ServiceAccount, post_url_continue: str | None = None) -> Any:
        self.message_user(request, gettext("The account is made. Nobody can sign in with it."), messages.SUCCESS)
        return super().response_add(request, obj, post_url_continue)

    @admin.display(description="name", ordering="user__username")
    def name(self, account: ServiceAccount) -> str:
        return account.user.get_username()

    @admin.display(description="account")
    def account(self, account: ServiceAccount) -> SafeString:
        return display.link(User, account.user_id, account.user)

    @admin.display(description="active", boolean=True, ordering="user__is_active")
    def active(self, account: ServiceAccount) -> bool:
        return account.user.is_active

    @admin.display(description="tokens")
    def tokens(self, account: ServiceAccount) -> SafeString | str:
        if account.pk is None:
            return display.NOTHING
        tokens = display.list_link(ApiToken, gettext("its tokens"), user__id__exact=account.user_id)
        make = reverse("admin:conversations_serviceaccount_token", args=[account.user_id])
        return format_html('{} · <a href="{}">{}</a>', tokens, make, gettext("make a token"))
