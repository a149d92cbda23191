"""The form by which people and staff make a token."""

from typing import Any

from django import forms

from conversations import tokens
from conversations.models import ApiToken, Scope
from conversations.models.tokens import every_scope


class TokenForm(forms.ModelForm[ApiToken]):
    """What a token is to be. Its row still has to be ``prepared``, which returns the token itself, for once."""

    scopes = forms.MultipleChoiceField(
        label="What it may do", choices=Scope.choices, initial=every_scope, widget=forms.CheckboxSelectMultiple
    )
    days = forms.IntegerField(label="Days that it works", min_value=1)

    class Meta:
        model = ApiToken
        fields = ["name", "scopes"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].initial = tokens.most_days()
        self.fields["days"].widget.attrs["max"] = tokens.most_days()

    def clean_days(self) -> int:
        days: int = self.cleaned_data["days"]
        if days > tokens.most_days():
            raise forms.ValidationError(f"At most {tokens.most_days()} days are allowed here.")
        return days

    def prepared(self, row: ApiToken) -> str:
        return tokens.prepare(row, days=self.cleaned_data["days"])
