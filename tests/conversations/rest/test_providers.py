"""The same conversation through each way to the model, the real Claude CLI among them."""

import re
from typing import Any

import pytest
from pytest_django import Settings

from conversations.context import replay, snapshots
from conversations.models import ContextSnapshot
from conversations.runtime.db import in_database, read_only
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.model_scripts import ScriptedStream, texts_of
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

ASKED = (
    "Good morning! By the way, we're building a FastAPI app for a bakery.",
    "How do I keep sourdough alive?",
    "Which framework is our app written in?",
)


def recalling(body: dict[str, Any]) -> ScriptedStream:
    """Knows what stands in the request and nothing else."""
    told = "\n".join(text for message in body["messages"] for text in texts_of(message))
    framework = re.search(r"building a (\w+) app", told)
    answer = f"It is {framework[1] if framework else 'unknown'}: " + "; ".join(said for said in ASKED if said in told)
    return scripts.text(*re.findall(r"\S+\s*", answer))


async def test_the_claude_cli_is_given_the_context_that_the_api_is_given(
    api: Api, others_api: Api, model: ModelServer, settings: Settings, claude_cli_path: str
) -> None:
    settings.OPENBOOK_CLAUDE_CLI = claude_cli_path
    model.script(recalling)
    answers: dict[str, list[str]] = {}
    requests: dict[str, dict[str, Any]] = {}
    for provider, program in (("anthropic", api), ("claude_cli", others_api)):
        settings.OPENBOOK_PROVIDER = provider
        thread, answers[provider] = "new", []
        for text in ASKED:
            answer = await program.post(f"threads/{thread}/messages/", {"content": text})
            thread = answer.body["thread"]
            answers[provider].append(answer.body["assistant_message"]["text"])
        requests[provider] = (await program.get(f"requests/{answer.body['request']}/")).body
    assert answers["claude_cli"] == answers["anthropic"]
    assert answers["claude_cli"][-1] == f"It is FastAPI: {'; '.join(ASKED)}"
    by_api, by_cli = requests["anthropic"], requests["claude_cli"]
    for part in ("system", "messages"):
        assert by_cli["request"][part] == by_api["request"][part]
    assert (by_cli["provider"], by_cli["items"] != []) == ("claude_cli", True)
    assert by_cli["usage"]["input_tokens"] > by_api["usage"]["input_tokens"] > 0  # the program adds words of its own
    sent = model.bodies[-1]
    assert texts_of(sent["messages"][0]) == [by_cli["request"]["sent"]["standard_input"]]
    assert sent["system"][-1]["text"] == by_cli["request"]["sent"]["system_prompt"]
    newest = await ContextSnapshot.objects.order_by("created_at").alast()
    assert newest and await in_database(snapshots.proof)(newest)
    assert by_cli["request"]["program"]["arguments"][:3] == ["-p", "--output-format", "stream-json"]
    assert by_cli["sections"][0]["name"] == "program"
    assert by_cli["diagnostics"]["program"]["tools"] == []
    settings.OPENBOOK_CLAUDE_CLI, settings.OPENBOOK_CLAUDE_LOGIN = "no-such-program", "/a/login"
    assert await in_database(snapshots.proof)(newest), "what the program added then is recorded"
    assert await in_database(remade_exactly)(newest)


def remade_exactly(snapshot: ContextSnapshot) -> bool:
    record = replay.record_of(snapshot)
    with read_only():
        return replay.remake(record, record.settings).is_exact


async def test_health_tells_that_the_claude_cli_is_missing(settings: Settings) -> None:
    settings.OPENBOOK_PROVIDER, settings.OPENBOOK_CLAUDE_CLI = "claude_cli", "no-such-program"
    answer = await Api().get("/health/")
    problem = "The Claude CLI can't be run. Whoever runs this Openbook has to install it"
    assert (answer.status, answer.body["checks"]["provider"].startswith(problem)) == (503, True)
