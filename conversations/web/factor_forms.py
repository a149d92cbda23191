"""The forms for second factors. Each guess at a code is counted, as one at a password is."""

from typing import Any

from allauth.core import context
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as base_forms
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from conversations.accounts import second_factors
from conversations.web.account_adapter import counted_code

CODE_ATTRIBUTES = {"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}


class CountedCode(forms.Form):
    """Takes a code of an app, or one of the recovery codes."""

    user: User

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = _("Code")
        self.fields["code"].widget.attrs = dict(CODE_ATTRIBUTES)

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        with counted_code(context.request, self.user) as attempt:
            self.authenticator = second_factors.use_code(self.user, code)
            if self.authenticator is None:
                raise get_adapter().validation_error("incorrect_code")
            self.authenticator.user = self.user
            attempt.forgive()
        return code


class CodeForm(CountedCode, base_forms.AuthenticateForm):  # type: ignore[misc]
    """The second step of signing in."""


class FreshCodeForm(CountedCode, base_forms.ReauthenticateForm):  # type: ignore[misc]
    """Proves again who sits there."""


class ActivateAppForm(ActivateTOTPForm):  # type: ignore[misc]
    """``step`` is that of the code, which is not to work again."""

    step: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = _("The code that the app shows now")
        self.fields["code"].widget.attrs = {**CODE_ATTRIBUTES, "inputmode": "numeric"}
        self.fields["code"].max_length = app_settings.TOTP_DIGITS + 2

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        with counted_code(context.request, self.user) as attempt:
            step = second_factors.step_of(self.secret, code)
            if step is None:
                raise get_adapter().validation_error("incorrect_code")
            self.step = step
            attempt.forgive()
        return code


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].label = _("Name")
        self.fields["name"].max_length = 100
        self.fields["name"].widget.attrs["maxlength"] = 100
        self.fields["passwordless"].label = _("Sign in with it alone, without my password")
        self.fields["passwordless"].help_text = ""
        self.fields["passwordless"].initial = True
