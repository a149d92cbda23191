"""What requests cost, by published prices."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from conversations.providers.prices import PUBLISHED, SHIPPED, Tokens, cost, cost_of, price_of, with_own

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BEFORE = datetime(2026, 10, 6, 23, 59, tzinfo=UTC)
USAGE = {
    "input_tokens": 1_000,
    "output_tokens": 200,
    "cache_creation_input_tokens": 400,
    "cache_read_input_tokens": 10_000,
}


def of(model: str, at: datetime = NOW, provider: str = "anthropic", input: int = 1_000) -> Decimal | None:
    return cost(SHIPPED, provider=provider, model=model, at=at, usage=USAGE | {"input_tokens": input})


def test_each_kind_of_token_has_its_price() -> None:
    assert of("claude-opus-5") == Decimal("0.005") + Decimal("0.005") + Decimal("0.0025") + Decimal("0.005")


def test_a_price_that_changed_leaves_what_was_paid_before_as_it_was() -> None:
    assert (of("claude-sonnet-5-5", BEFORE), of("claude-sonnet-5-5")) == (Decimal("0.007"), Decimal("0.006"))


def test_a_long_prompt_costs_more_where_the_model_says_so() -> None:
    assert of("claude-haiku-5-5", input=89_600) == Decimal("0.00921")
    assert of("claude-haiku-5-5", input=89_601) == Decimal("0.0460505")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5-latest", "claude-sonnet-4-5"])
def test_a_dated_name_is_of_the_same_model(model: str) -> None:
    assert of(model) == Decimal("0.0105")


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-sonnet-5-6", "anthropic"),
        ("claude-sonnet", "anthropic"),
        ("", "anthropic"),
        ("claude-opus-5", "claude_cli"),
        ("offline", "offline"),
    ],
)
def test_no_price_is_guessed(model: str, provider: str) -> None:
    assert of(model, provider=provider) is None


def test_what_was_not_reported_has_no_cost() -> None:
    assert cost(SHIPPED, provider="anthropic", model="claude-opus-5", at=NOW, usage={}) is None


def test_an_operator_can_write_prices() -> None:
    own = with_own(
        '{"my-model": [{"input": 1, "output": 2, "cache_write": 0, "cache_read": 0.5},'
        ' {"input": 3, "output": 2, "cache_write": 0, "cache_read": 0.5, "since": "2026-11-21"}]}'
    )
    tokens = Tokens(input=1_000_000, cache_read=1_000_000)
    costs = [cost(own, provider="offline", model="my-model", at=at, usage=tokens) for at in (BEFORE, NOW)]
    assert costs == [Decimal("1.5"), Decimal("3.5")]
    assert cost(own, provider="anthropic", model="claude-opus-5", at=NOW, usage=USAGE) == of("claude-opus-5")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"m": 1}',
        '{"m": {"input": 1}}',
        '{"m": {"input": "x", "output": 1, "cache_write": 1, "cache_read": 1}}',
        '{"m": {"input": -1, "output": 1, "cache_write": 1, "cache_read": 1}}',
    ],
)
def test_prices_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_own(text)


def test_every_shipped_model_has_a_price_at_any_time_and_reading_the_cache_is_the_cheapest() -> None:
    for names in PUBLISHED:
        for model in names.split():
            price = price_of(SHIPPED, provider="anthropic", model=model, at=BEFORE, prompt=1)
            assert price is not None
            assert price.cache_read < price.input < price.cache_write < price.output
            assert cost_of(price, Tokens(input=1_000_000)) == price.input
