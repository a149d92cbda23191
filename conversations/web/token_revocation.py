"""The part of a form for a new password that revokes the account's access tokens, unless it is chosen to keep them."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from conversations.accounts import tokens


class RevokesTokens(forms.Form):
    """``user`` is whose password it is."""

    user: User | None
    keep_tokens = forms.BooleanField(
        required=False,
        label=_("Keep access tokens working"),
        help_text=_("Unless you tick this they are revoked, and programs that use them need new ones."),
    )

    def save(self, *args: Any, **kwargs: Any) -> Any:
        # First: should the password not be stored, a token too many is revoked, and not one too few.
        if self.user and not self.cleaned_data.get("keep_tokens"):
            tokens.revoke(tokens.of(self.user))
        return super().save(*args, **kwargs)  # type: ignore[misc]  # of the form that it is a part of
