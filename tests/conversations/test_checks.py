from typing import Any

import pytest
from django.test import override_settings

from conversations.checks import memory_is_configured, prices_can_be_read, provider_is_configured

KEY = "sk-local"


@pytest.mark.parametrize(
    ("changed", "numbers"),
    [
        ({"OPENBOOK_PROVIDER": "offline", "ANTHROPIC_API_KEY": ""}, []),
        ({"OPENBOOK_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": ""}, []),
        ({"OPENBOOK_PROVIDER": "gpt"}, ["openbook.E001"]),
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
