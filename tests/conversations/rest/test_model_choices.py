"""Models that people choose: listed, taken for a message or another attempt, and refused where staff do not allow them."""

from collections.abc import Callable

import pytest

from conversations.context import snapshots
from conversations.models import Assistant, Connection, ContextSnapshot, Model
from conversations.providers import connections, model_catalog
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.connections import make_connection
from tests.conversations.proofs import remade_exactly
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "opened")]

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"


def allow(*names: str, slug: str = "companion", provider: str = "anthropic") -> None:
    Assistant.objects.get(slug=slug).offered_models.add(*Model.objects.filter(provider=provider, name__in=names))


def connected(url: str) -> None:
    make_connection(url)
    for name in (SONNET, "small-one"):
        Model.objects.create(provider="team", name=name, label=name, context_window=90_000, max_output=9_000)
    model_catalog.reread()
    allow(SONNET, "small-one", provider="team")


def offers(answer: object) -> Callable[[str], list[str]]:
    return lambda field: [each[field] for each in answer.body["results"]]  # type: ignore[attr-defined]


async def test_without_a_choice_of_staff_there_is_the_assistants_own_model(api: Api, model: ModelServer) -> None:
    answer = await api.get("models/")
    assert (answer.status, answer.body) == (
        200,
        {
            "results": [
                {
                    "id": SONNET,
                    "name": "Claude Sonnet 5.5",
                    "provider": "anthropic",
                    "context_window": 1_000_000,
                    "max_output": 128_000,
                    "images": True,
                    "tools": True,
                    "thinking": True,
                    "assistants": ["companion", "analyst"],
                }
            ]
        },
    )


async def test_a_message_is_answered_by_the_model_that_was_chosen(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    assert offers(await api.get("models/"))("id") == [SONNET, OPUS]
    sent = await api.post("threads/new/messages/", {"content": "Hello", "model": OPUS})
    thread = sent.body["thread"]
    assert sent.status == 201 and model.bodies[-1]["model"] == OPUS
    previewed = await api.post(f"threads/{thread}/context/", {"content": "And now?", "model": OPUS})
    assert (previewed.body["model"], previewed.body["request"]["model"]) == (OPUS, OPUS)
    await api.post(f"threads/{thread}/messages/", {"content": "And now?"})
    assert model.bodies[-1]["model"] == SONNET, "a choice is for one message"


async def test_what_staff_do_not_allow_is_refused_and_nothing_is_stored(api: Api, model: ModelServer) -> None:
    await in_database(allow)(OPUS)
    for path in ("threads/new/messages/", "threads/new/messages/stream/", "threads/new/context/"):
        refused = await api.post(path, {"content": "Hello", "model": HAIKU})
        assert (refused.status, refused.body["error"]["code"]) == (400, "model_not_offered")
        assert refused.body["error"]["details"]["models"] == [SONNET, OPUS]
    assert (await api.get("threads/")).body["results"] == [] and model.requests == []
    other = {"content": "Hello", "model": OPUS, "assistant": "analyst"}
    assert (await api.post("threads/new/messages/", other)).status == 400


async def test_a_model_of_a_connection_answers_in_mid_thread_and_once_more(
    api: Api, model: ModelServer, model_server: ModelServer
) -> None:
    with ModelServer() as team:
        await in_database(connected)(team.url)
        assert offers(await api.get("models/"))("id") == [f"anthropic/{SONNET}", f"team/{SONNET}", "small-one"]
        first = await api.post("threads/new/messages/", {"content": "My dog is called Bruno."})
        thread = first.body["thread"]
        team.script(scripts.text("Bruno."))
        second = await api.post(
            f"threads/{thread}/messages/", {"content": "How is he called?", "model": f"team/{SONNET}"}
        )
        assert second.body["assistant_message"]["text"] == "Bruno."
        assert "My dog is called Bruno." in str(team.bodies[-1]) and len(model_server.requests) == 1
        snapshot = await ContextSnapshot.objects.alatest("created_at")
        assert (snapshot.provider, snapshot.model) == ("team", SONNET)
        assert await in_database(snapshots.proof)(snapshot) and await in_database(remade_exactly)(snapshot)
        again = await api.post(f"replies/{second.body['reply']['id']}/retry/", {})
        *_, ended = [event async for event in api.events("GET", f"replies/{again.body['id']}/events/")]
        assert (ended["type"], len(team.requests)) == ("reply.completed", 2)
        assert len(model_server.requests) == 1, "asked of the one that answered last"


async def test_what_can_not_answer_is_not_offered(api: Api, model: ModelServer) -> None:
    await in_database(connected)(model.url)
    assert offers(await api.get("models/"))("provider") == ["anthropic", "team", "team"]
    await in_database(switch_off)()
    assert offers(await api.get("models/"))("provider") == ["anthropic"]


def switch_off() -> None:
    Connection.objects.update(is_active=False)
    connections.reread()
