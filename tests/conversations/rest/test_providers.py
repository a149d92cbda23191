"""The real Claude CLI as the way to the model."""

import pytest
from pytest_django import Settings

from conversations.context.record import snapshots
from conversations.models import ContextSnapshot
from conversations.runtime.db import in_database
from tests.conversations.proofs import remade_exactly
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.mark.wide
async def test_what_the_claude_cli_adds_is_recorded_and_counted(
    api: Api, model: ModelServer, settings: Settings, claude_cli_path: str
) -> None:
    settings.OPENBOOK_CLAUDE_CLI, settings.OPENBOOK_PROVIDER = claude_cli_path, "claude_cli"
    answer = await api.post("threads/new/messages/", {"content": "Good morning!"})
    recorded = (await api.get(f"requests/{answer.body['request']}/")).body
    assert answer.body["assistant_message"]["text"].startswith("I was given 1 messages.")
    assert recorded["usage"]["input_tokens"] > 0
    assert recorded["request"]["program"]["arguments"][:3] == ["-p", "--output-format", "stream-json"]
    assert recorded["sections"][0]["name"] == "program"
    assert recorded["diagnostics"]["program"]["tools"] == []
    snapshot = await ContextSnapshot.objects.aget(id=recorded["id"])
    settings.OPENBOOK_CLAUDE_CLI, settings.OPENBOOK_CLAUDE_LOGIN = "no-such-program", "/a/login"
    assert await in_database(snapshots.proof)(snapshot), "what the program added then is recorded"
    assert await in_database(remade_exactly)(snapshot)


async def test_health_tells_that_the_claude_cli_is_missing(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER, settings.OPENBOOK_CLAUDE_CLI = "claude_cli", "no-such-program"
    answer = await Api().get("/health/")
    problem = "The Claude CLI can't be run. Whoever runs this Openbook has to install it"
    assert (answer.status, answer.body["checks"]["provider"].startswith(problem)) == (503, True)
