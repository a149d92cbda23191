"""What requests cost, by the prices of the shipped models and by an operator's own."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from conversations.models import Model, ModelPrice
from conversations.providers import model_catalog
from conversations.providers.prices import Tokens, cost, cost_of, own, price_of, tokens_of

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BEFORE = datetime(2026, 10, 6, 23, 59, tzinfo=UTC)
USAGE = {
    "input_tokens": 1_000,
    "output_tokens": 200,
    "cache_creation_input_tokens": 400,
    "cache_creation_1h_input_tokens": 100,
    "cache_read_input_tokens": 10_000,
    "thinking_tokens": 150,
}


def of(model: str, at: datetime = NOW, provider: str = "anthropic", input: int = 1_000) -> Decimal | None:
    prices = model_catalog.prices()
    return cost(prices, provider=provider, model=model, at=at, usage=USAGE | {"input_tokens": input})


def test_each_token_is_counted_once() -> None:
    tokens = tokens_of(USAGE)
    assert tokens == Tokens(input=1_000, output=200, cache_write=300, cache_write_hour=100, cache_read=10_000)
    assert tokens.prompt == 11_400


def test_each_kind_of_token_has_its_price() -> None:
    dollars = [Decimal("0.005"), Decimal("0.005"), Decimal("0.001875"), Decimal("0.001"), Decimal("0.005")]
    assert of("claude-opus-5") == sum(dollars)


def test_a_price_that_changed_leaves_what_was_paid_before_as_it_was() -> None:
    assert (of("claude-sonnet-5-5", BEFORE), of("claude-sonnet-5-5")) == (Decimal("0.00715"), Decimal("0.00615"))


def test_a_price_that_staff_write_holds_from_its_day_on() -> None:
    row = Model.objects.get(name="claude-opus-5-5")
    since = date(2026, 11, 21)
    ModelPrice.objects.create(
        model=row, since=since, input=1, output=1, cache_write=1, cache_write_hour=1, cache_read=1
    )
    model_catalog.reread()
    assert of("claude-opus-5-5") == Decimal("0.0116")
    assert of("claude-opus-5-5", BEFORE) == Decimal("0.0123")


def test_a_long_prompt_costs_more_where_the_model_says_so() -> None:
    assert of("claude-haiku-5-5", input=89_600) == Decimal("0.0092175")
    assert of("claude-haiku-5-5", input=89_601) == Decimal("0.046088")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5-latest", "claude-sonnet-4-5"])
def test_a_dated_name_is_of_the_same_model(model: str) -> None:
    assert of(model) == Decimal("0.010725")


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
    prices = model_catalog.prices()
    assert cost(prices, provider="anthropic", model="claude-opus-5", at=NOW, usage={}) is None


def test_an_operator_can_write_prices() -> None:
    prices = own(
        '{"my-model": [{"input": 1, "output": 2, "cache_write": 0, "cache_read": 0.5},'
        ' {"input": 3, "output": 2, "cache_write": 0, "cache_write_hour": 4, "cache_read": 0.5, "since": "2026-11-21"}]}'
    )
    tokens = Tokens(input=1_000_000, cache_write_hour=1_000_000, cache_read=1_000_000)
    costs = [cost(prices, provider="offline", model="my-model", at=at, usage=tokens) for at in (BEFORE, NOW)]
    assert costs == [Decimal("3.5"), Decimal("7.5")]


def test_an_operators_price_wins() -> None:
    prices = {
        **model_catalog.prices(),
        **own('{"claude-opus-5": {"input": 1, "output": 0, "cache_write": 0, "cache_read": 0}}'),
    }
    assert cost(prices, provider="anthropic", model="claude-opus-5", at=NOW, usage=Tokens(input=10**6)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"m": 1}',
        '{"m": {"input": 1}}',
        '{"m": {"input": "x", "output": 1, "cache_write": 1, "cache_read": 1}}',
        '{"m": {"input": -1, "output": 1, "cache_write": 1, "cache_read": 1}}',
        '{"m": {"output": 1, "cache_write": 1, "cache_read": 1}}',
    ],
)
def test_prices_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        own(text)


def test_every_shipped_model_has_a_price_at_any_time_and_the_kinds_cost_more_and_more() -> None:
    prices = model_catalog.prices()
    for row in Model.objects.filter(provider="anthropic"):
        price = price_of(prices, provider="anthropic", model=row.name, at=BEFORE, prompt=1)
        assert isinstance(price, ModelPrice)
        assert price.cache_read < price.input < price.cache_write < price.cache_write_hour < price.output
        assert price.cache_write_hour == price.input * 2
        assert cost_of(price, Tokens(input=1_000_000)) == price.input
