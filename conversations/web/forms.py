"""The forms by which people and staff sign in and make a token."""

from typing import Any

from allauth.account import forms as allauth_forms
from allauth.core import context
from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.accounts import limits, tokens
from conversations.models import ApiToken, Scope
from conversations.models.tokens import every_scope
from conversations.web.account_adapter import counted_attempt
from conversations.web.token_revocation import RevokesTokens


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
    """What a token is to be. Its row still has to be ``prepared``, which returns the token itself, for once."""

    scopes = forms.MultipleChoiceField(
        label=_("What it may do"), choices=Scope.choices, initial=every_scope, widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(label=_("Days that it works"), min_value=1)

    class Meta:
        model = ApiToken
        fields = ["name", "scopes", *limits.KINDS]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].initial = tokens.most_days()
        self.fields["days"].widget.attrs["max"] = tokens.most_days()

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
        if days > tokens.most_days():
            raise forms.ValidationError(
                gettext("At most %(days)d days are allowed here.") % {"days": tokens.most_days()}
            )
        return days

    def prepared(self, row: ApiToken) -> str:
        return tokens.prepare(row, days=self.cleaned_data["days"])
