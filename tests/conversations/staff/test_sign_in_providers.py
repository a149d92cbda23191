"""Providers of sign-in in the admin: superusers' alone; a secret is written and never shown."""

import json
import re
from pathlib import Path

import pytest
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp
from django.contrib.admin.models import LogEntry
from django.core import serializers
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from conversations.checks import sign_in_is_possible
from conversations.models import AuditEvent
from tests.certificates import signing_pair
from tests.conversations.staff.conftest import SignIn, StaffReader

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning:onelogin"),
]

CANARY = "the secret of a client 7f3c"
LIST = reverse("admin:socialaccount_socialapp_changelist")
DETAILS = 'server = "https://login.example/realms/staff"\nclient_id = "openbook"\nsign_up = "anybody"'
NEW = {
    "provider": "openid_connect",
    "provider_id": "company",
    "name": "Example Ltd",
    "secret": CANARY,
    "details": DETAILS,
}


def submit(client: Client, row: SocialApp | None = None, **changes: str) -> dict[str, list[str]]:
    """Save the form with these changes. Returns its errors, none where it was saved."""
    place = reverse("admin:socialaccount_socialapp_change", args=[row.pk]) if row else f"{LIST}add/"
    page = client.post(place, {**NEW, "secret": "" if row else CANARY, **changes})
    if page.status_code == 302:
        return {}
    assert CANARY not in page.text
    return dict(page.context["adminform"].form.errors)


def used_secret() -> str:
    [app] = get_adapter().list_apps(None, provider="openid_connect")
    return str(app.secret)


def test_a_secret_is_written_and_never_shown(staff: StaffReader, capfd: pytest.CaptureFixture[str]) -> None:
    assert submit(staff) == {}
    row = SocialApp.objects.get()
    assert (row.secret, row.client_id, used_secret()) == ("", "openbook", CANARY)
    assert (
        "by Example Ltd" in Client().get("/accounts/login/").text
        or "Example Ltd" in Client().get("/accounts/login/").text
    )
    sealed = row.settings["sealed_secret"]
    assert submit(staff, row, name="Example") == {}  # left empty, it stays
    row.refresh_from_db()
    assert (row.name, row.settings["sealed_secret"], used_secret()) == ("Example", sealed, CANARY)
    assert submit(staff, row, secret="another one") == {}
    assert used_secret() == "another one"
    assert submit(staff, row, secret=CANARY) == {}

    place = reverse("admin:socialaccount_socialapp_change", args=[row.pk])
    history = reverse("admin:socialaccount_socialapp_history", args=[row.pk])
    shown = [staff.get(address).text for address in (LIST, place, history, reverse("admin:index"))]
    assert '<code dir="ltr">http://testserver/accounts/oidc/company/login/callback/</code>' in shown[1]
    shown += [json.dumps(list(rows.objects.values()), default=str) for rows in (LogEntry, AuditEvent)]
    row.refresh_from_db()
    kept = row.settings["sealed_secret"]
    assert not [text for text in (*shown, *capfd.readouterr(), repr(row)) if CANARY in text or kept in text]
    assert CANARY not in serializers.serialize("json", [row])
    changed = (
        AuditEvent.objects.filter(kind__in=["row_added", "row_changed"])
        .order_by("at", "id")
        .values_list("details", flat=True)
    )
    assert [each["act"] for each in changed] == ["added", "changed", "changed", "changed"]


@pytest.mark.wide
def test_a_mistake_is_named_and_what_was_typed_stays(staff: StaffReader, settings: Settings, tmp_path: Path) -> None:
    _, certificate = signing_pair(tmp_path, "campus")
    saml = 'entity_id = "https://idp.example"\nsso_url = "https://idp.example/sso"\n'
    settings.SOCIALACCOUNT_PROVIDERS = {
        **settings.SOCIALACCOUNT_PROVIDERS,
        "saml": {
            **settings.SOCIALACCOUNT_PROVIDERS["saml"],
            "APPS": [{"provider_id": "campus", "client_id": "campus"}],
        },
    }
    wrong = {
        "no TOML": ({"details": "server ="}, "details", "TOML: "),
        "nothing": ({"details": ""}, "details", "This field is required."),
        "no server": ({"details": 'client_id = "a"'}, "details", "server is missing."),
        "no address": ({"details": DETAILS.replace("https://", "")}, "details", "server has to be an address such as"),
        "unknown": ({"details": f"{DETAILS}\ncolour = 1"}, "details", "'colour' is not known; it takes "),
        "no claim": ({"details": f'{DETAILS}\nstaff = ["a"]'}, "details", "groups_claim is missing"),
        "a secret": ({"details": f'{DETAILS}\nclient_secret = "a"'}, "details", "Files, variables and secrets are not"),
        "a file": ({"details": f'{DETAILS}\nclient_secret_file = "/etc/passwd"'}, "details", "Files, variables and"),
        "a variable": ({"details": f'{DETAILS}\nclient_secret_env = "SECRET_KEY"'}, "details", "Files, variables and"),
        "an id that is none": ({"provider_id": "../x"}, "details", "id has to be a short name of a-z, 0-9 and -."),
        "no id": ({"provider_id": ""}, "provider_id", "This field is required."),
        "an id of the file's": ({"provider_id": "campus"}, "provider_id", "Another provider has this id."),
        "no certificate": ({"provider": "saml", "details": saml}, "details", "certificate is missing"),
        "another certificate": (
            {"provider": "saml", "details": f'{saml}certificate = "MIIB"'},
            "details",
            "certificate is missing",
        ),
        "another kind": ({"provider": "google"}, "provider", "Select a valid choice."),
    }
    for name, (changes, field, words) in wrong.items():
        errors = submit(staff, **changes)
        assert any(words in error for error in errors[field]), (name, errors)
    page = staff.post(f"{LIST}add/", {**NEW, "details": "server = typed"})
    assert "server = typed" in page.text and CANARY not in page.text
    assert not SocialApp.objects.exists()
    good = f'{saml}certificate = """\n{certificate.read_text()}"""'
    assert submit(staff, provider="saml", provider_id="library", details=good) == {}
    saved = staff.get(reverse("admin:socialaccount_socialapp_change", args=[SocialApp.objects.get().pk])).text
    [metadata] = re.findall(r">http://testserver(/\S+/metadata/)<", saved)
    assert Client().get(metadata).status_code == 200


def test_providers_are_superusers_alone(staff: StaffReader, signed_in: SignIn) -> None:
    submit(staff)
    row = SocialApp.objects.get()
    clerk = signed_in("socialaccount.view_socialapp", "socialaccount.change_socialapp", "socialaccount.add_socialapp")
    places = [LIST, f"{LIST}add/", reverse("admin:socialaccount_socialapp_change", args=[row.pk])]
    assert [clerk.get(place).status_code for place in places] == [403] * 3
    assert [clerk.post(place, NEW).status_code for place in places[1:]] == [403] * 2


def test_what_keeps_everybody_out_is_told_before_the_start(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def problems() -> list[tuple[str, str]]:
        return [(str(each.id), str(each.hint)) for each in sign_in_is_possible()]

    assert problems() == []
    settings.OPENBOOK_PASSWORD_SIGN_IN = False
    [(number, hint)] = problems()
    assert (number, "under Social applications" in hint) == ("openbook.W008", True)
    named = {
        kind: {**value, "APPS": [{"provider_id": "a"}]} for kind, value in settings.SOCIALACCOUNT_PROVIDERS.items()
    }
    settings.SOCIALACCOUNT_PROVIDERS, settings.OPENBOOK_SIGN_IN_PROVIDERS = named, "/etc/providers.toml"
    assert problems() == []
    settings.OPENBOOK_DIRECTORY = {"server": "ldap://a"}
    monkeypatch.setattr("conversations.checks.find_spec", lambda package: None)
    assert problems() == [
        ("openbook.E022", f"Run `make {extra}`, or take the provider out of /etc/providers.toml.")
        for extra in ("saml", "ldap")
    ]
