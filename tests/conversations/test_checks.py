from typing import Any

import pytest
from django.test import override_settings

from conversations.checks import (
    links_lead_here,
    memory_is_configured,
    prices_can_be_read,
    provider_is_configured,
    search_is_configured,
)
from conversations.models import Connection
from conversations.runtime.site import public_address
from tests.conversations.connections import make_connection

KEY = "sk-local"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "numbers"),
    [
        ({"OPENBOOK_PROVIDER": "offline", "ANTHROPIC_API_KEY": ""}, []),
        ({"OPENBOOK_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": ""}, []),
        ({"OPENBOOK_PROVIDER": "bedrock"}, ["openbook.E009"]),
        ({"OPENBOOK_PROVIDER": "bedrock", "AWS_REGION": "eu-central-1"}, []),
        ({"OPENBOOK_PROVIDER": "vertex", "CLOUD_ML_REGION": "global"}, ["openbook.E009"]),
        ({"OPENBOOK_PROVIDER": "two words"}, ["openbook.E001"]),
        ({"OPENBOOK_PROVIDER": "not-made-yet"}, ["openbook.W004"]),
        ({"OPENBOOK_PROVIDER": "claude_cli", "OPENBOOK_CLAUDE_CLI": "no-such-program"}, ["openbook.E005"]),
        ({"OPENBOOK_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": ""}, ["openbook.E002"]),
        ({"OPENBOOK_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "two words"}, ["openbook.E003"]),
        (
            {"OPENBOOK_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "example"},
            ["openbook.E004"],
        ),
        ({"OPENBOOK_PROVIDER": "openai", "OPENAI_API_KEY": KEY}, []),
        ({"OPENBOOK_PROVIDER": "openai", "OPENAI_BASE_URL": "http://localhost:11434/v1"}, []),
        ({"OPENBOOK_PROVIDER": "openai"}, ["openbook.E007"]),
        ({"OPENBOOK_PROVIDER": "openai", "OPENAI_API_KEY": "two words"}, ["openbook.E003"]),
        ({"OPENBOOK_PROVIDER": "openai", "OPENAI_BASE_URL": "localhost:11434"}, ["openbook.E004"]),
        (
            {"OPENBOOK_PROVIDER": "openai", "OPENAI_API_KEY": KEY, "OPENBOOK_OPENAI_SERVER": "ollma"},
            ["openbook.E008"],
        ),
    ],
)
def test_a_provider_that_cannot_work_is_told_before_the_start(changed: dict[str, Any], numbers: list[str]) -> None:
    with override_settings(**changed):
        assert [problem.id for problem in provider_is_configured()] == numbers


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"is_active": True}, []),
        ({"is_active": False}, ["The connection “Team” is switched off."]),
        ({"secrets": b"of another key"}, ["The key of the connection “Team” can't be read"]),
    ],
)
def test_a_default_connection_that_cannot_be_asked_is_told_at_the_start(
    changed: dict[str, Any], words: list[str]
) -> None:
    row = make_connection("https://models.example")
    Connection.objects.filter(pk=row.pk).update(**changed)
    with override_settings(OPENBOOK_PROVIDER="team", OPENBOOK_MODEL=""):
        [no_model] = provider_is_configured() if not words else [None]
        assert no_model is None or "has no model" in no_model.msg
    with override_settings(OPENBOOK_PROVIDER="team", OPENBOOK_MODEL="claude-x"):
        told = provider_is_configured()
    assert [problem.msg[: len(start)] for problem, start in zip(told, words, strict=True)] == words
    assert all("admin, under Connections" in str(problem.hint) for problem in told)


@pytest.mark.parametrize(
    ("changed", "numbers"),
    [
        ({}, []),
        ({"OPENBOOK_MEMORY_BACKEND": "supermemory", "SUPERMEMORY_API_KEY": KEY}, []),
        ({"OPENBOOK_MEMORY_BACKEND": "redis"}, ["openbook.E011"]),
        ({"OPENBOOK_MEMORY_BACKEND": "supermemory", "SUPERMEMORY_API_KEY": ""}, ["openbook.E012"]),
        ({"OPENBOOK_MEMORY_BACKEND": "supermemory", "SUPERMEMORY_API_KEY": "two words"}, ["openbook.E012"]),
        (
            {
                "OPENBOOK_MEMORY_BACKEND": "supermemory",
                "SUPERMEMORY_API_KEY": KEY,
                "SUPERMEMORY_BASE_URL": "example",
            },
            ["openbook.E013"],
        ),
    ],
)
def test_a_memory_service_that_cannot_work_is_told_before_the_start(
    changed: dict[str, Any], numbers: list[str]
) -> None:
    with override_settings(**changed):
        assert [problem.id for problem in memory_is_configured()] == numbers


@pytest.mark.parametrize(("text", "numbers"), [("", []), ('{"m": {"input": 1}}', ["openbook.E006"])])
def test_prices_that_cannot_be_read_are_told_before_the_start(text: str, numbers: list[str]) -> None:
    with override_settings(OPENBOOK_PRICES=text):
        assert [problem.id for problem in prices_can_be_read()] == numbers


@pytest.mark.parametrize(
    ("public", "trusted", "address", "numbers"),
    [
        ("", [], "http://book.local:8000", ["openbook.W007"]),
        ("", ["https://*.example"], "http://book.local:8000", ["openbook.W007"]),
        ("", ["https://a.example", "https://b.example"], "http://book.local:8000", ["openbook.W007"]),
        ("", ["https://a.example"], "https://a.example", []),
        ("https://book.example", ["https://a.example"], "https://book.example", []),
    ],
)
def test_a_deployment_is_asked_for_its_address(
    public: str, trusted: list[str], address: str, numbers: list[str]
) -> None:
    hosts = ["*", ".example", "book.local"]
    own = {"OPENBOOK_PUBLIC_URL": public, "CSRF_TRUSTED_ORIGINS": trusted, "ALLOWED_HOSTS": hosts, "PORT": 8000}
    with override_settings(**own):
        assert ([problem.id for problem in links_lead_here()], public_address()) == (numbers, address)


@pytest.mark.parametrize(
    ("service", "url", "key", "numbers"),
    [
        ("", "", "", []),
        ("searxng", "http://searxng.internal:8080", "", []),
        ("searxng", "", "", ["openbook.E025"]),
        ("brave", "", KEY, []),
        ("tavily", "searxng.internal", "two words", ["openbook.E004", "openbook.E024"]),
        ("altavista", "", "", ["openbook.E023"]),
    ],
)
def test_a_search_service_that_cannot_be_asked_is_told(service: str, url: str, key: str, numbers: list[str]) -> None:
    with override_settings(OPENBOOK_SEARCH_SERVICE=service, OPENBOOK_SEARCH_URL=url, OPENBOOK_SEARCH_KEY=key):
        assert [problem.id for problem in search_is_configured()] == numbers
