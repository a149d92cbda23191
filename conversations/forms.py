"""The forms by which people and staff sign in and make a token."""

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User

from conversations import limits, sign_in, tokens
from conversations.errors import RateLimited
from conversations.models import ApiToken, Scope
from conversations.models.tokens import every_scope


class SignInForm(AuthenticationForm):
    """Django's own, whose attempts are counted. ``retry_after`` is for how many seconds it takes no more."""

    retry_after = 0

    def clean(self) -> dict[str, Any]:
        if "username" not in self.cleaned_data or "password" not in self.cleaned_data:
            return self.cleaned_data
        assert self.request is not None
        try:
            with sign_in.attempt(self.request, self.cleaned_data["username"]) as attempt:
                cleaned = super().clean()
                attempt.forgive()
                return cleaned
        except RateLimited as error:
            self.retry_after = error.details["retry_after"]
            raise forms.ValidationError(error.message, code=error.code) from error


class StaffSignInForm(SignInForm, AdminAuthenticationForm):
    """The same for the admin, which lets only staff in."""


class ConfirmedForm(forms.Form):
    """Takes the password of whoever is signed in: a browser that is left open isn't enough. The view counts it."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError("The password is wrong.", code="wrong")
        return password


class MailForm(ConfirmedForm):
    """Where a link for a new password is sent to."""

    email = forms.EmailField(
        label="Mail address", required=False, max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    field_order = ["email", "password"]


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label="Mail address",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email", "autofocus": True}),
    )


class TokenForm(forms.ModelForm[ApiToken]):
    """What a token is to be. Its row still has to be ``prepared``, which returns the token itself, for once."""

    scopes = forms.MultipleChoiceField(
        label="What it may do", choices=Scope.choices, initial=every_scope, widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(label="Days that it works", min_value=1)

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
            raise forms.ValidationError(f"At most {tokens.most_days()} days are allowed here.")
        return days

    def prepared(self, row: ApiToken) -> str:
        return tokens.prepare(row, days=self.cleaned_data["days"])
