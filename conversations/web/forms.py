"""The forms by which people and staff sign in and make a token."""

from typing import Any

from allauth.account import forms as allauth_forms
from allauth.core import context
from django import forms
from django.contrib.auth.models import User
from django.db.models import Field
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.accounts import limits, networks, tokens
from conversations.accounts.scopes import grantable
from conversations.errors import InvalidServer, InvalidWebhook, ServerNameTaken, TooManyServers, TooManyWebhooks
from conversations.mcp_client import servers
from conversations.models import ApiToken, McpServer, Scope, Webhook, WebhookEvent, mcp
from conversations.models.tokens import default_scopes
from conversations.models.webhooks import NAME_CHARS, URL_CHARS
from conversations.runtime.wording import translated
from conversations.web.account_adapter import counted_attempt
from conversations.web.token_revocation import RevokesTokens
from conversations.webhooks import webhooks


class SignInForm(allauth_forms.LoginForm):  # type: ignore[misc]
    """allauth's, with the field's name that programs know."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True

    def add_prefix(self, field_name: str) -> str:
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class OffersToKeepTokens(RevokesTokens):
    """Where the account has any."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.user is None or not tokens.of(self.user).exists():
            del self.fields["keep_tokens"]


class ChangePasswordForm(OffersToKeepTokens, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    """allauth's, whose guesses at the old password are counted."""

    def clean_oldpassword(self) -> str:
        assert self.user  # as they are signed in
        with counted_attempt(context.request, self.user.get_username()) as attempt:
            password: str = super().clean_oldpassword()
            attempt.forgive()
            return password


class SetPasswordForm(OffersToKeepTokens, allauth_forms.SetPasswordForm):  # type: ignore[misc]
    """allauth's, for an account that has none."""


class ResetPasswordKeyForm(OffersToKeepTokens, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    """allauth's, for who came by a link."""


class TokenForm(forms.ModelForm[ApiToken]):
    """What a token of the row's user is to be. ``issued`` stores it, and returns the token itself, for once."""

    scopes = forms.MultipleChoiceField(
        label=_("What it may do"), choices=Scope.choices, initial=default_scopes, widget=forms.CheckboxSelectMultiple
    )
    addresses = forms.CharField(
        label=_("Networks that it works from"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea({"rows": 2, "spellcheck": "false"}),
    )
    days = forms.IntegerField(label=_("Days that it works"), min_value=1)

    class Meta:
        model = ApiToken
        fields = ["name", "scopes", *limits.KINDS]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        most = tokens.most_days(self.instance.user)
        self.fields["days"].initial = most
        self.fields["days"].widget.attrs["max"] = most
        offered = [(scope.value, scope.label) for scope in grantable(self.instance.user)]
        for kind in limits.KINDS:
            column = ApiToken._meta.get_field(kind)
            assert isinstance(column, Field)
            self.fields[kind].label = column.verbose_name  # as it is translated by now
        self.fields["scopes"].choices = offered  # type: ignore[attr-defined]  # of its class

    @property
    def own_limits(self) -> list[forms.BoundField]:
        """The fields of the limits of its own."""
        return [self[name] for name in limits.KINDS]

    @property
    def has_limits(self) -> bool:
        """Whether any of them was filled in."""
        return any(field.value() for field in self.own_limits)

    def clean_days(self) -> int:
        days: int = self.cleaned_data["days"]
        most = tokens.most_days(self.instance.user)
        if days > most:
            raise forms.ValidationError(gettext("At most %(days)d days are allowed here.") % {"days": most})
        return days

    def clean_addresses(self) -> list[str]:
        """One a line, or with commas between them."""
        texts = self.cleaned_data["addresses"].replace(",", " ").split()
        try:
            return networks.normalized(texts)
        except networks.NotANetwork as error:
            raise forms.ValidationError(str(error)) from None

    def issued(self) -> str:
        self.instance.addresses = self.cleaned_data["addresses"]
        return tokens.store(self.instance, days=self.cleaned_data["days"])


class WebhookForm(forms.Form):
    """What a webhook of the user's is to be. ``stored`` makes it, and returns it with its secret, for once."""

    name = forms.CharField(max_length=NAME_CHARS)
    url = forms.CharField(
        max_length=URL_CHARS, widget=forms.URLInput({"placeholder": "https://", "spellcheck": "false", "dir": "ltr"})
    )
    events = forms.MultipleChoiceField(choices=WebhookEvent.choices, widget=forms.CheckboxSelectMultiple)
    for_all = forms.BooleanField(required=False)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not webhooks.may_hear_of_all(user):
            del self.fields["for_all"]

    def stored(self) -> tuple[Webhook, str] | None:
        """``None``, with an error in the form, where there may be no such webhook."""
        try:
            return webhooks.create(self.user, **self.cleaned_data)
        except (InvalidWebhook, TooManyWebhooks) as refusal:
            self.add_error("url", translated(refusal.message))
            return None


class ServerForm(forms.Form):
    """An MCP server that the user connects. ``stored`` makes it."""

    name = forms.RegexField(
        servers.NAME, max_length=mcp.NAME_CHARS, widget=forms.TextInput({"spellcheck": "false", "dir": "ltr"})
    )
    url = forms.CharField(
        max_length=URL_CHARS, widget=forms.URLInput({"placeholder": "https://", "spellcheck": "false", "dir": "ltr"})
    )
    secret = forms.RegexField(
        servers.SECRET, max_length=mcp.SECRET_CHARS, required=False, widget=forms.PasswordInput({"autocomplete": "off"})
    )
    for_all = forms.BooleanField(required=False)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        if not servers.may_connect_for_all(user):
            del self.fields["for_all"]

    def stored(self) -> McpServer | None:
        """``None``, with an error in the form, where there may be no such server."""
        try:
            return servers.create(self.user, **self.cleaned_data)
        except (InvalidServer, TooManyServers) as refusal:
            self.add_error("url", translated(refusal.message))
        except ServerNameTaken as refusal:
            self.add_error("name", translated(refusal.message))
        return None
