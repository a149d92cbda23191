"""The configuration of a filled installation, printed, applied to another one and printed again."""

from io import StringIO
from pathlib import Path

import pytest
from allauth.socialaccount.models import SocialApp
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from artifacts.models import Preset
from conversations.models import (
    Assistant,
    AuditEvent,
    Budget,
    Connection,
    Fallback,
    GroupAccess,
    GroupSignIn,
    Model,
    ModelPrice,
    Moderator,
    RetentionRule,
    SharedPrompt,
)
from conversations.models.connections import Secrets
from conversations.staff.sign_in_providers import EXAMPLE, ProviderForm
from tests.conversations.factories import make_shared_prompt, make_thread

pytestmark = pytest.mark.django_db

OTHERS = [SocialApp, RetentionRule, Moderator, GroupSignIn, Budget, GroupAccess, SharedPrompt, Fallback, Connection]


def printed() -> str:
    out = StringIO()
    call_command("configuration", stdout=out)
    return out.getvalue()


def configured(path: Path, text: str, *flags: str) -> list[str]:
    path.write_text(text)
    out = StringIO()
    call_command("configure", str(path), *flags, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "openbook.yaml"


def fill() -> None:
    group = Group.objects.create(name="Finance")
    connection = Connection(slug="bakery", label="Bakery", kind="openai", base_url="https://models.example.org/v1")
    connection.set_secrets(Secrets(key="sk-secret", headers={"X-Project": "hidden"}))
    connection.save()
    model = Model.objects.create(
        provider="bakery", name="loaf", label="Loaf", context_window=32_000, max_output=4_000, takes_tools=False
    )
    ModelPrice.objects.create(
        model=model, input="0.5", output=2, cache_write=0, cache_write_hour=0, cache_read="0.0500", since="2026-01-01"
    )
    assistant = Assistant.objects.create(slug="second", name="Second", system_prompt="You help.\nBriefly.", order=77)
    assistant.offered_models.add(model)
    Fallback.objects.create(assistant=assistant, provider="bakery", model="loaf")
    Preset.objects.get(slug="brd").assistants.add(assistant)
    GroupAccess.objects.create(group=group, assistants=["second"], export=False)
    GroupSignIn.objects.create(group=group, requires_second_factor=True)
    Budget.objects.create(group=group, money_month="12.50")
    Budget.objects.create(tokens_day=1_000_000)
    Moderator.objects.create(name="Words", kind="patterns", patterns="secret\n# note")
    RetentionRule.objects.create(kind="threads", group=group, days=30)
    make_shared_prompt()
    told = {"provider": "openid_connect", "provider_id": "corp", "name": "Corp", "secret": "hidden", "details": EXAMPLE}
    form = ProviderForm(told)
    assert form.is_valid(), form.errors
    form.save()


def empty() -> None:
    for model in OTHERS:
        model._default_manager.all().delete()
    Assistant.objects.filter(slug="second").delete()
    Model.objects.filter(provider="bakery").delete()
    Group.objects.filter(name="Finance").delete()


@pytest.mark.wide
def test_a_filled_installation_is_made_again_of_its_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill()
    text = printed()
    assert "sk-secret" not in text and "hidden" not in text
    assert "env: OPENBOOK_CONNECTION_BAKERY_KEY" in text
    assert configured(file, text) == ["0 changes."]
    empty()
    with pytest.raises(CommandError, match="the variable OPENBOOK_CONNECTION_BAKERY_KEY holds nothing: set it"):
        configured(file, text)
    assert not Group.objects.filter(name="Finance").exists()
    monkeypatch.setenv("OPENBOOK_CONNECTION_BAKERY_KEY", "sk-other")
    monkeypatch.setenv("OPENBOOK_CONNECTION_BAKERY_HEADERS_X_PROJECT", "cake")
    monkeypatch.setenv("OPENBOOK_SIGN_IN_PROVIDER_CORP_SECRET", "theirs")
    seen = configured(file, text, "--dry-run")
    assert "+ assistants second" in seen and seen[-1].endswith("changes, none of them made.")
    assert not Group.objects.filter(name="Finance").exists()
    configured(file, text)
    assert printed() == text
    kept = Connection.objects.get(slug="bakery").read_secrets()
    assert (kept.key, kept.headers) == ("sk-other", {"X-Project": "cake"})
    assert configured(file, text) == ["0 changes."]


def test_a_difference_is_shown_as_people_read_it_and_recorded(file: Path) -> None:
    fill()
    text = printed().replace("  Briefly.", "  At length.").replace("order: 77", "order: 99")
    expected = [
        "~ assistants second",
        "    system_prompt:",
        "      - Briefly.",
        "      + At length.",
        "    order: 77 → 99",
    ]
    assert configured(file, text, "--dry-run") == [*expected, "1 change, none of them made."]
    assert not AuditEvent.objects.exists()
    assert configured(file, text) == [*expected, "1 change."]
    assert Assistant.objects.get(slug="second").system_prompt == "You help.\nAt length."
    event = AuditEvent.objects.get()
    assert (event.kind, event.details["by"]) == ("row_changed", "configure")


def test_the_default_moves_and_what_is_not_named_stays_unless_a_flag_says_so(file: Path) -> None:
    fill()
    head = "format: openbook.installation/1\nassistants:\n- slug: second\n  is_default: true\n"
    configured(file, head)
    assert Assistant.objects.get(is_default=True).slug == "second" and Assistant.objects.count() > 1
    prompts = "format: openbook.installation/1\nprompts: []\n"
    assert configured(file, prompts) == ["0 changes."]
    assert configured(file, prompts, "--delete") == ["- prompts Summary", "1 change."]
    make_thread(turns=["Hello"])
    with pytest.raises(CommandError, match="in use and can't be deleted"):
        configured(file, head, "--delete")
    assert Assistant.objects.filter(slug="companion").exists()


@pytest.mark.once("- 1-*", "*key: sk-1}*")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- 1", "it must begin with `format"),
        ("format: openbook.installation/1\nassistant: []", "no section 'assistant': did you mean 'assistants'"),
        (
            "format: openbook.installation/1\nassistants:\n- {slug: companion, total_token: 4}",
            "assistants companion: there is no setting 'total_token': did you mean 'total_tokens'",
        ),
        ("format: openbook.installation/1\nassistants:\n- {name: x}", "give it slug"),
        (
            "format: openbook.installation/1\nassistants:\n- {slug: companion, total_tokens: many}",
            "assistants companion: total_tokens: “many” value must be an integer",
        ),
        (
            "format: openbook.installation/1\nassistants:\n- {slug: companion, offered_models: [x/y]}",
            "assistants companion: there is no model 'x/y'",
        ),
        (
            "format: openbook.installation/1\nmoderators:\n- {name: Words, kind: patterns}",
            "moderators Words: patterns: This kind of check needs it",
        ),
        (
            "format: openbook.installation/1\nconnections:\n- {slug: a, label: A, kind: openai, key: sk-1}",
            "Never write the secret itself",
        ),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do_and_nothing_is_changed(file: Path, text: str, problem: str) -> None:
    before = printed()
    with pytest.raises(CommandError) as refusal:
        configured(file, text)
    assert problem in str(refusal.value)
    assert printed() == before
