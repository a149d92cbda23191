"""The forms of people who have no account yet."""

from collections.abc import Callable
from typing import Any

from allauth.account import forms as allauth_forms
from allauth.core import context
from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.accounts import letters
from conversations.accounts.sign_up import MESSAGES, Refusal
from conversations.web import invited


class AddressForm(forms.Form):
    """``refusal`` says why an address gets no account, given it as ``email``, once it is proven."""

    email = forms.EmailField(
        label=_("Your mail address"),
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "email", "autofocus": True}),
    )

    def __init__(self, *args: Any, refusal: Callable[..., Refusal | None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refusal = refusal

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        if refusal := self.refusal(email=email):
            raise forms.ValidationError(gettext(MESSAGES[refusal]))
        return email


class SignUpForm(allauth_forms.SignupForm):  # type: ignore[misc]
    """allauth's, with the address that was proven before, where one was."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        email = invited.proven(context.request)
        if email and letters.has_account(email):
            raise forms.ValidationError(gettext("There is an account with this mail address already. Sign in to it."))
        return {**cleaned, "email": email}
