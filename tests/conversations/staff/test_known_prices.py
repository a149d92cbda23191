"""Prices that a model gets by itself: those of who is asked, as far as they are known."""

from decimal import Decimal

import pytest
from django.urls import reverse

from conversations.models import Model
from conversations.providers.model_listing import OfferedModel
from conversations.staff.offered_models import add_models
from tests.conversations.connections import make_connection
from tests.conversations.staff.conftest import StaffReader

pytestmark = pytest.mark.django_db


def offered(name: str) -> OfferedModel:
    return OfferedModel(id=name, label=name)


def prices_of(row: Model) -> list[tuple[int, Decimal, Decimal]]:
    return [(price.above, price.input.normalize(), price.output.normalize()) for price in row.prices.all()]


def test_a_model_of_a_connection_costs_what_its_service_takes() -> None:
    groq = make_connection("https://api.groq.com/openai/v1", kind="openai")
    [row] = add_models(groq, [offered("llama-3.3-70b-versatile")])
    assert prices_of(row) == [(0, Decimal("0.59"), Decimal("0.79"))]


def test_a_model_of_the_maker_itself_costs_what_the_table_says() -> None:
    [row] = add_models(make_connection(""), [offered("claude-haiku-5-5")])
    shipped = Model.objects.get(provider="anthropic", name="claude-haiku-5-5")
    assert prices_of(row) == prices_of(shipped) != []


def test_on_a_server_of_ones_own_nothing_is_known() -> None:
    here = make_connection("http://127.0.0.1:11434/v1", kind="openai")
    [row] = add_models(here, [offered("llama-3.3-70b-versatile")])
    assert (prices_of(row), row.context_window) == ([], 4_096)


@pytest.mark.parametrize(
    ("name", "own", "prices"),
    [
        ("gpt-5.1", {}, [(0, Decimal("1.25"), Decimal(10))]),
        ("gpt-5.1", {"above": 0, "input": 3, "output": 4}, [(0, Decimal(3), Decimal(4))]),
        ("no-such-model", {}, []),
    ],
    ids=["filled in", "entered by staff", "unknown"],
)
def test_a_model_that_staff_add_gets_what_is_known_unless_they_enter_it(
    staff: StaffReader, name: str, own: dict[str, object], prices: list[object]
) -> None:
    entered = own | dict.fromkeys(("cache_write", "cache_write_hour", "cache_read"), 0) if own else {}
    data = {
        "provider": "openai",
        "name": name,
        "label": name,
        "context_window": 400_000,
        "max_output": 128_000,
        "thinking": "none",
        "token_factor": 1,
        "order": 0,
        "is_active": "on",
        "prices-TOTAL_FORMS": int(bool(own)),
        "prices-INITIAL_FORMS": 0,
        **{f"prices-0-{field}": value for field, value in entered.items()},
    }
    response = staff.post(reverse("admin:conversations_model_add"), data, follow=True)
    row = Model.objects.get(provider="openai", name=name)
    assert prices_of(row) == prices
    assert ("genai-prices" in response.text) == (bool(prices) and not own)
