"""Providers of sign-in as rows: what the operator's file says, for superusers in the admin. Secrets are only written."""

import tomllib
from typing import TYPE_CHECKING, Any

from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from conversations.accounts import provider_secrets, provider_settings
from conversations.runtime.site import public_address
from conversations.runtime.wording import lazy
from conversations.staff.base import CHANGE_LIST, PageAdmin

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[SocialApp]
else:
    ModelForm = forms.ModelForm

for model in (SocialAccount, SocialApp, SocialToken):  # whom somebody is elsewhere is theirs; no tokens are kept
    admin.site.unregister(model)

KINDS = {"openid_connect": "openid", "saml": "saml"}
OF_FILES = ("_file", "_env")
EXAMPLE = '''server = "https://login.example/realms/staff"
client_id = "openbook"
scopes = ["openid", "profile", "email"]
sign_up = "as_others"'''


class ProviderForm(ModelForm):
    secret = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        help_text=lazy("Of OpenID: the client's secret. Stored encrypted, and never shown again. Empty: it stays."),
    )
    details = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14, "class": "vLargeTextField", "spellcheck": "false", "dir": "ltr"}),
        help_text=lazy(
            "TOML with the keys that a provider has in the operator's file, but for its id, name and secret."
        ),
    )

    class Meta:
        model = SocialApp
        fields = ["provider", "provider_id", "name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "provider" in self.fields:
            self.fields["provider"] = forms.ChoiceField(
                label=lazy("Kind"), choices=[("openid_connect", "OpenID Connect"), ("saml", "SAML")]
            )
        if "provider_id" in self.fields:
            self.fields["provider_id"].required = True
            self.fields["provider_id"].help_text = lazy("A short name of a-z, 0-9 and -. It is part of addresses.")
        if "details" in self.fields:
            self.fields["details"].initial = (self.instance.settings or {}).get("written", EXAMPLE)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        kind = KINDS.get(cleaned.get("provider") or self.instance.provider, "")
        if not kind or "details" not in cleaned:
            return cleaned
        try:
            table = tomllib.loads(cleaned["details"])
        except tomllib.TOMLDecodeError as error:
            raise ValidationError({"details": f"TOML: {error}"}) from error
        if elsewhere := [name for name in table if name.endswith(OF_FILES) or name == "client_secret"]:
            raise ValidationError(
                {"details": lazy("Files, variables and secrets are not named here: ") + ", ".join(elsewhere)}
            )
        table |= {"id": cleaned.get("provider_id") or self.instance.provider_id, "name": cleaned.get("name", "")}
        if problem := provider_settings.problem_of(kind, table):
            raise ValidationError({"details": problem})
        if kind == "saml" and not provider_settings.holds_certificate(table.get("certificate", "")):
            raise ValidationError({"details": lazy("certificate is missing: the provider's, as PEM has it.")})
        taken = SocialApp.objects.filter(provider_id=table["id"]).exclude(pk=self.instance.pk).exists()
        if taken or table["id"] in {app["provider_id"] for app in configured_apps()}:
            raise ValidationError({"provider_id": lazy("Another provider has this id.")})
        cleaned["fields"] = (
            provider_settings.openid_app(table, client_secret="")
            if kind == "openid"
            else provider_settings.saml_app(table, certificate=table["certificate"])
        )
        return cleaned

    def save(self, commit: bool = True) -> SocialApp:
        kept = (self.instance.settings or {}).get(provider_secrets.KEY)
        fields = self.cleaned_data["fields"]
        written = {"written": self.cleaned_data["details"]}
        sealed = provider_secrets.seal(self.cleaned_data["secret"]) if self.cleaned_data["secret"] else kept
        self.instance.client_id, self.instance.secret = fields["client_id"], ""
        self.instance.settings = fields["settings"] | written | ({provider_secrets.KEY: sealed} if sealed else {})
        row: SocialApp = super().save(commit)
        return row


@admin.register(SocialApp)
class SignInProviderAdmin(PageAdmin[SocialApp]):
    """Whoever may change these could sign in as anybody, so they are superusers' alone."""

    change_list_template = CHANGE_LIST
    form = ProviderForm
    list_display = ["name", "provider", "provider_id"]
    fields = ["provider", "provider_id", "name", "secret", "details"]
    empty_text = "No providers here. Those that OPENBOOK_SIGN_IN_PROVIDERS names are not listed, and work all the same."

    def get_fields(self, request: HttpRequest, obj: SocialApp | None = None) -> Any:
        return [*self.fields, "addresses"] if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: SocialApp | None = None) -> list[str]:
        return ["provider", "provider_id", "addresses"] if obj else []

    @admin.display(description="what the provider has to know")
    def addresses(self, provider: SocialApp) -> SafeString:
        """The addresses of this server that are entered over there."""
        rows = [(gettext(name), public_address() + path) for name, path in addresses_of(provider)]
        return format_html_join("", '<div>{}: <code dir="ltr">{}</code></div>', rows)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._is_superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: SocialApp | None = None) -> bool:
        return self._is_superuser(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: SocialApp | None = None) -> bool:
        return self._is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: SocialApp | None = None) -> bool:
        return self._is_superuser(request)

    @staticmethod
    def _is_superuser(request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)


def addresses_of(provider: SocialApp) -> list[tuple[str, str]]:
    """What each is for, and its path."""
    if provider.provider == "saml":
        return [
            (name, reverse(f"saml_{route}", args=[provider.client_id]))
            for name, route in (
                (gettext_noop("metadata"), "metadata"),
                (gettext_noop("answers (ACS)"), "acs"),
                (gettext_noop("sign-out"), "sls"),
            )
        ]
    args = [provider.provider_id]
    return [
        (gettext_noop("redirect"), reverse("openid_connect_callback", args=args)),
        (gettext_noop("after sign-out"), reverse("account_login")),
        (gettext_noop("back-channel logout"), reverse("back_channel_logout", args=args)),
    ]


def configured_apps() -> list[dict[str, Any]]:
    """Those of the operator's file."""
    return [app for value in settings.SOCIALACCOUNT_PROVIDERS.values() for app in value.get("APPS", [])]
