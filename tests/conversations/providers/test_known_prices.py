"""Prices of other makers, as the package lists them."""

from decimal import Decimal

import pytest

from conversations.providers.known_prices import known_prices, known_window

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai/"


def test_a_model_has_the_price_of_the_service_that_it_is_asked_at() -> None:
    (openai,) = known_prices("https://api.openai.com/v1", "gpt-5.1")
    assert (openai.above, openai.input, openai.output, openai.cache_read) == (
        *(0, Decimal("1.25")),
        *(Decimal(10), Decimal("0.125")),
    )
    (groq,) = known_prices("https://api.groq.com/openai/v1", "llama-3.3-70b-versatile")
    assert groq.cache_read == groq.cache_write == groq.input > 0, "without a cache of its own all is plain input"


def test_large_requests_have_prices_of_their_own() -> None:
    small, large = known_prices(GOOGLE, "gemini-2.5-pro")
    assert (small.above, large.above) == (0, 200_000)
    assert small.input < large.input and small.output < large.output


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        ("http://127.0.0.1:11434/v1", "llama-3.3-70b-versatile"),
        ("https://models.example.org/v1", "gpt-5.1"),
        ("https://api.openai.com/v1", "no-such-model"),
        ("https://api.deepseek.com", "deepseek-chat"),
    ],
    ids=["own server", "unknown service", "unknown model", "by the time of the day"],
)
def test_what_is_unknown_has_no_price(base_url: str, model: str) -> None:
    assert known_prices(base_url, model) == []


def test_the_window_is_told_where_it_is_known() -> None:
    assert known_window("https://api.openai.com/v1", "gpt-5.1") == 400_000
    assert known_window("http://127.0.0.1:11434/v1", "gpt-5.1") is None
