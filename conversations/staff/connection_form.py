"""The form of a connection. Keys and headers are only written: what is kept is not sent back."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html
from django.utils.translation import gettext

from conversations.models import Connection
from conversations.models.connections import Kind, Secrets, SecretsOfAnotherPlace
from conversations.providers import (
    connections,
    usable_key,
)
from conversations.providers.clouds import CLOUDS
from conversations.providers.dialects import DIALECTS
from conversations.runtime.encryption import NotDecryptable
from conversations.runtime.wording import filled, lazy
from conversations.staff import connection_addresses

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Connection]
else:
    ModelForm = forms.ModelForm

KEPT = lazy("•••• set; leave empty to keep it")
NOT_READABLE = lazy("It can't be read any more: enter it again.")
TYPED_AGAIN = lazy("Enter it once more: what was typed is not sent back with this page.")
SECRET_FIELDS = ("key", "headers")


class ConnectionForm(ModelForm):
    key = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        help_text=lazy(
            "Stored encrypted, and never shown again. It is sent to the address above alone. Of Amazon: an "
            "API key of Bedrock’s, or an access key as <code>ID:SECRET</code>."
        ),
    )
    forget_key = forms.BooleanField(required=False, label=lazy("Forget the key"))
    headers = forms.CharField(
        required=False,
        max_length=4_000,
        widget=forms.Textarea(
            attrs={"rows": 3, "class": "vLargeTextField", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text=lazy(
            "Sent with each request, a line each, such as <code>X-Project: bakery</code>. Stored like the "
            "key; what is written here takes the place of all that were set."
        ),
    )
    forget_headers = forms.BooleanField(required=False, label=lazy("Forget the headers"))

    class Meta:
        model = Connection
        fields = [
            "label",
            "slug",
            "kind",
            "server",
            "region",
            "base_url",
            "connect_seconds",
            "proxy",
            "is_active",
            "order",
        ]
        widgets = dict.fromkeys(
            ("base_url", "proxy"), forms.TextInput(attrs={"class": "vTextField", "inputmode": "url"})
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kept, self.problem = kept_secrets(self.instance)
        if "kind" in self.fields:
            spoken = [choice for choice in Kind.choices if choice[0] in connections.CLASSES]
            self.fields["kind"] = forms.ChoiceField(choices=spoken, help_text=gettext("It can't be changed later."))
        if "server" in self.fields:
            self.fields["server"] = forms.ChoiceField(
                required=False,
                choices=[("", gettext("told by its address")), *((name, name) for name in DIALECTS)],
                help_text=gettext("Which of the servers that speak Chat Completions in ways of their own."),
            )
        addresses = ", ".join(connections.ADDRESSES.values())
        for name, text in {
            "base_url": connection_addresses.HELP.format(addresses),
            "proxy": connection_addresses.PROXY_HELP,
        }.items():
            if name in self.fields:
                self.fields[name].help_text = text
        if "key" in self.fields:
            self._tell_what_is_set()

    def _tell_what_is_set(self) -> None:
        if self.kept.key:
            self.fields["key"].widget.attrs["placeholder"] = KEPT
        if self.kept.headers:
            self.fields["headers"].widget.attrs["placeholder"] = filled(
                "•••• set: {names}; leave empty to keep them", names=", ".join(self.kept.headers)
            )
        if self.problem:
            note = format_html('<strong class="ob-bad">{}</strong>', self.problem)
            self.fields["key"].help_text = format_html("{} {}", self.fields["key"].help_text, note)

    def full_clean(self) -> None:
        super().full_clean()
        if self.errors and self.data.get("key") and "key" not in self.errors:
            self.add_error("key", TYPED_AGAIN)

    def clean_base_url(self) -> str:
        kind = self.cleaned_data.get("kind") or self.instance.kind
        return connection_addresses.clean_address(self.cleaned_data["base_url"], kind)

    def clean_proxy(self) -> str:
        return connection_addresses.clean_proxy(self.cleaned_data["proxy"])

    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"]
        if key and not usable_key(key):
            raise ValidationError(
                gettext("This can't be a key: it has spaces, or characters that no key has. Copy it again.")
            )
        return key

    def clean_headers(self) -> dict[str, str]:
        return connection_addresses.parse_headers(self.cleaned_data["headers"])

    def clean(self) -> dict[str, Any] | None:
        values = super().clean() or self.cleaned_data
        kind = values.get("kind") or self.instance.kind
        if kind in CLOUDS and "region" in self.fields and not values.get("region") and "region" not in self.errors:
            self.add_error(
                "region", filled("{name} is asked in a region: write it, such as eu-central-1.", name=CLOUDS[kind].name)
            )
        if not self.errors and self.instance.pk:
            before = Connection.objects.get(pk=self.instance.pk).place
            place = Connection(base_url=values["base_url"], proxy=values["proxy"]).place
            if place != before:
                self._ask_again(values)
        return values

    def _ask_again(self, values: dict[str, Any]) -> None:
        """The address or the proxy is another one: what was kept for the old one is not sent to it."""
        for name in SECRET_FIELDS:
            if getattr(self.kept, name) and not values[name] and not values[f"forget_{name}"]:
                words = gettext(
                    "What is set is for the former address and proxy, and is sent nowhere else: enter it again, or tick"
                )
                self.add_error(name, f"{words} “{self.fields[f'forget_{name}'].label}”.")

    def secrets(self) -> Secrets:
        """What is to be kept from now on."""
        values = self.cleaned_data
        return Secrets(
            key=values["key"] or ("" if values["forget_key"] else self.kept.key),
            headers=values["headers"] or ({} if values["forget_headers"] else self.kept.headers),
        )


def kept_secrets(row: Connection) -> tuple[Secrets, str]:
    """What is kept, and in words what is wrong with it."""
    try:
        return row.read_secrets(), ""
    except (NotDecryptable, SecretsOfAnotherPlace):
        return Secrets(), NOT_READABLE


def secret_values(secrets: Mapping[str, Any]) -> dict[str, Any]:
    """What a form is given to keep these secrets from now on, headers by their names; to keep none where one is empty."""
    values: dict[str, Any] = {}
    for name, secret in secrets.items():
        lines = "\n".join(f"{each}: {value}" for each, value in (secret or {}).items()) if name == "headers" else secret
        values |= {name: lines or "", f"forget_{name}": not secret}
    return values
