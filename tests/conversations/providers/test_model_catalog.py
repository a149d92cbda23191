"""What is known of models: the rows that are shipped, and how they are read."""

from datetime import date

import pytest
from django.test import override_settings

from conversations.context.tokens.thinking import plan_without
from conversations.models import Model
from conversations.providers import ProviderError, get_provider, model_catalog

pytestmark = pytest.mark.django_db


def test_a_model_is_known_by_its_id_with_or_without_a_date() -> None:
    dated = model_catalog.get("anthropic", "claude-haiku-4-5-20251001")
    assert dated == model_catalog.get("anthropic", "claude-haiku-4-5")
    assert (dated.label, dated.context_window, dated.max_output) == ("Claude Haiku 4.5", 200_000, 64_000)


def test_the_cli_uses_the_models_of_anthropic() -> None:
    assert model_catalog.get("claude_cli", "claude-opus-5-5") == model_catalog.get("anthropic", "claude-opus-5-5")


def test_the_cli_has_no_words_to_switch_thinking_off() -> None:
    haiku = {of: model_catalog.get(of, "claude-haiku-5-5") for of in ("anthropic", "claude_cli")}
    assert {of: plan_without(row, 500).mode for of, row in haiku.items()} == {
        "anthropic": "disabled",
        "claude_cli": "adaptive",
    }


def test_a_model_without_a_row_is_taken_for_a_plain_one() -> None:
    unknown = model_catalog.get("anthropic", "claude-next-6-20270101")
    assert model_catalog.find("anthropic", "claude-next-6") is None
    assert (unknown.name, unknown.thinking, unknown.thinks_unasked, unknown.efforts) == (
        "claude-next-6-20270101",
        "none",
        False,
        [],
    )
    assert (unknown.cacheable_from, unknown.token_factor, unknown.context_window) == (None, 1.0, 200_000)


def test_what_staff_change_is_known_at_once_where_it_is_changed() -> None:
    assert model_catalog.get("anthropic", "claude-sonnet-5-5").max_output == 128_000
    Model.objects.filter(name="claude-sonnet-5-5").update(max_output=1_000)
    assert model_catalog.get("anthropic", "claude-sonnet-5-5").max_output == 128_000
    model_catalog.reread()
    assert model_catalog.get("anthropic", "claude-sonnet-5-5").max_output == 1_000


def test_every_test_begins_with_the_shipped_models() -> None:
    assert model_catalog.get("anthropic", "claude-sonnet-5-5").max_output == 128_000


@pytest.mark.parametrize(
    ("name", "off", "efforts", "default", "cacheable_from", "factor"),
    [
        ("claude-fable-5-2", "", 5, "high", 512, 1.3),
        ("claude-opus-5-5", "", 5, "medium", 512, 1.3),
        ("claude-sonnet-5-5", "between_tools", 5, "high", 512, 1.3),
        ("claude-haiku-5-5", "disabled", 5, "medium", 512, 1.3),
        ("claude-opus-5", "disabled", 5, "high", 512, 1.3),
        ("claude-sonnet-5", "disabled", 5, "high", 1_024, 1.3),
        ("claude-opus-4-7", "disabled", 5, "high", 2_048, 1.3),
        ("claude-opus-4-6", "disabled", 4, "high", 4_096, 1.0),
        ("claude-sonnet-4-6", "disabled", 4, "high", 1_024, 1.0),
        ("claude-opus-4-5", "disabled", 3, "high", 4_096, 1.0),
        ("claude-haiku-4-5", "disabled", 0, "", 4_096, 1.0),
    ],
)
def test_the_shipped_rows_say_what_the_documentation_says(
    name: str, off: str, efforts: int, default: str, cacheable_from: int, factor: float
) -> None:
    row = Model.objects.get(provider="anthropic", name=name)
    assert (row.thinking_off, len(row.efforts), row.default_effort) == (off, efforts, default)
    assert (row.cacheable_from, row.token_factor) == (cacheable_from, factor)
    assert (row.takes_tools, row.takes_images) == (True, True)


def test_models_since_5_think_unasked_and_those_of_4_5_only_within_a_budget() -> None:
    rows = list(Model.objects.filter(provider="anthropic"))
    assert {row.name for row in rows if row.thinks_unasked} == {row.name for row in rows if "-4-" not in row.name}
    budget = {"claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"}
    assert {row.name for row in rows if row.thinking == "budget"} == budget


def test_every_shipped_model_is_sound() -> None:
    for row in Model.objects.all():
        row.full_clean()
        assert row.max_output < row.context_window
        assert row.default_effort in [*row.efforts, ""]
    assert Model.objects.get(provider="offline").cacheable_from is None


def test_the_newest_price_comes_last() -> None:
    for row in (Model.objects.get(name="claude-sonnet-5-5"), model_catalog.get("anthropic", "claude-sonnet-5-5")):
        assert [price.since for price in row.prices.all()] == [None, date(2026, 10, 7)]


def test_the_small_model_is_named_by_the_row_or_is_the_model_itself() -> None:
    assert model_catalog.small_model("anthropic", "claude-opus-5-5") == "claude-haiku-5-5"
    assert model_catalog.small_model("anthropic", "claude-haiku-5-5") == "claude-haiku-5-5"
    assert model_catalog.small_model("anthropic", "my-own") == "my-own"
    assert model_catalog.small_model("offline", "offline") == "offline"


@pytest.mark.parametrize("provider", ["anthropic", "claude_cli"])
def test_the_default_model_is_the_setting_or_the_first_that_is_offered(provider: str) -> None:
    with override_settings(OPENBOOK_MODEL=""):
        assert get_provider(provider).default_model() == "claude-sonnet-5-5"
        Model.objects.filter(name="claude-sonnet-5-5").update(is_active=False)
        model_catalog.reread()
        assert get_provider(provider).default_model() == "claude-opus-5-5"
        Model.objects.update(is_active=False)
        model_catalog.reread()
        with pytest.raises(ProviderError, match="No model is offered"):
            get_provider(provider).default_model()
    with override_settings(OPENBOOK_MODEL="claude-local"):
        assert get_provider(provider).default_model() == "claude-local"
