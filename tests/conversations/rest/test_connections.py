"""A conversation by a connection that staff made: recorded, proven, and told in words when it can't go on."""

import logging
from typing import Any

import pytest
from pytest_django import Settings

from conversations.context.record import snapshots
from conversations.models import Assistant, Connection, ContextSnapshot, Model
from conversations.providers import connections, model_catalog
from conversations.runtime.db import in_database
from tests.conversations.connections import CANARY, HEADER, make_connection
from tests.conversations.proofs import remade_exactly
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "_sdk", "opened")]


def connected(url: str) -> Connection:
    row = make_connection(url)
    Model.objects.create(provider="team", name="claude-haiku-5-5", label="H", context_window=90_000, max_output=9_000)
    Assistant.objects.filter(slug="companion").update(provider="team", model="")
    model_catalog.reread()
    return row


def change(**values: Any) -> None:
    Connection.objects.filter(slug="team").update(**values)
    connections.reread()


async def newest() -> ContextSnapshot:
    return await ContextSnapshot.objects.alatest("created_at")


async def test_a_conversation_is_recorded_and_proven_under_the_name_of_its_connection(
    api: Api, model_server: ModelServer, settings: Settings
) -> None:
    settings.OPENBOOK_PROVIDER = "offline"
    await in_database(connected)(model_server.url)
    thread = "new"
    for text in ("Good morning!", "How do I keep sourdough alive?"):
        answer = await api.post(f"threads/{thread}/messages/", {"content": text})
        thread = answer.body["thread"]
    assert answer.body["assistant_message"]["text"].startswith("I was given 3 messages.")
    request = (await api.get(f"requests/{answer.body['request']}/")).body
    assert (request["provider"], request["model"]) == ("team", "claude-haiku-5-5")
    snapshot = await newest()
    assert await in_database(snapshots.proof)(snapshot)
    await in_database(change)(is_active=False)
    assert await in_database(snapshots.proof)(snapshot) and await in_database(remade_exactly)(snapshot)
    refused = await api.post(f"threads/{thread}/messages/", {"content": "Still there?"})
    assert (refused.status, refused.body["error"]["code"]) == (502, "misconfigured")
    assert refused.body["error"]["message"].startswith("The connection “Team” is switched off.")
    await in_database(change)(is_active=True)
    again = await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert again.body["reply"]["status"] == "completed"


async def test_the_server_s_default_can_be_a_connection_that_is_made_later(
    api: Api, model_server: ModelServer, settings: Settings
) -> None:
    settings.OPENBOOK_PROVIDER = "team"
    health = await Api().get("/health/")
    refused = await api.post("threads/new/messages/", {"content": "Hello"})
    for told in (health.body["checks"]["provider"], refused.body["error"]["message"]):
        assert told.startswith("The provider “team” is not known. Whoever runs this Openbook can add a connection")
    assert (health.status, refused.status, refused.body["error"]["code"]) == (503, 502, "misconfigured")
    await in_database(make_connection)(model_server.url)
    settings.OPENBOOK_MODEL = "claude-haiku-5-5"
    answered = await api.post(f"threads/{refused.body['error']['details']['thread']}/messages/", {"content": "Hello"})
    request = (await api.get(f"requests/{answered.body['request']}/")).body
    assert (request["provider"], request["model"]) == ("team", "claude-haiku-5-5")
    assert (await Api().get("/health/")).body["checks"]["provider"] == "ok"
    await in_database(change)(is_active=False)
    assert (await Api().get("/health/")).body["checks"]["provider"].startswith("The connection “Team” is switched off.")


async def test_the_key_is_in_no_answer_record_export_or_log(
    api: Api, model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    await in_database(connected)(model_server.url)
    model_server.api_key = "another"
    with caplog.at_level(logging.DEBUG):
        failed = await api.post("threads/new/messages/", {"content": "Hello"})
        error, thread = failed.body["error"], failed.body["error"]["details"]["thread"]
        assert (failed.status, error["code"]) == (502, "authentication")
        assert error["message"].endswith("has to check the key of the connection “Team”.")
        model_server.api_key = CANARY
        answered = await api.post(f"threads/{thread}/messages/", {"content": "Hello again"})
        assert answered.status == 201
        paths = [f"requests/{answered.body['request']}/", f"threads/{thread}/requests/", "export/", "assistants/"]
        texts = [str((await api.get(path)).body) for path in paths]
    stored = [str(vars(row)) async for row in ContextSnapshot.objects.all()]
    told = [str(failed.body), str(answered.body), *texts, *stored, caplog.text]
    assert [text for text in told if CANARY in text or HEADER in text] == []
    assert any(CANARY in str(request.headers) for request in model_server.requests)
