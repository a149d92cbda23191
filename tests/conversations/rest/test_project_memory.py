"""What is remembered in a project is known nowhere else, and nothing of elsewhere in it, unless its switches say so."""

import json
import uuid
from collections.abc import Mapping
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.context.gather.known import KnownQuery, read_known
from conversations.context.sessions import Session
from conversations.context.sources import SourceQuery
from conversations.models import Thread
from conversations.runtime.db import in_database, read_only
from memory.consolidation.consolidate import consolidate
from memory.index.index_turns import catch_up
from memory.models import DailySummary, Memory, ThreadSummary
from memory.scope import MemoryScope, scope_of
from tests import model_scripts as scripts
from tests.conversations.factories import make_file
from tests.conversations.rest.client import Api
from tests.memory.factories import make_topic
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

WORDS = {"outside": "Aldebaran", "garden": "Betelgeuse", "office": "Capella"}
"""What the dog is called in each place."""
ASKED = "What is my dog called, and where does it sleep?"
STANDING = "About my dog: remind me of all that you know."

type Places = Mapping[str, str | None]


async def told(user: User, api: Api, model: ModelServer) -> tuple[Places, dict[str, str]]:
    """Ids of the two projects, and in each place a thread that taught something."""
    places: dict[str, str | None] = {"outside": None}
    for name in ("garden", "office"):
        places[name] = (await api.post("projects/", {"name": name})).body["id"]
    threads = {}
    for name, word in WORDS.items():
        model.script(scripts.text(f"Good to know: {word}."))
        said = f"My dog is called {word}. It sleeps in the shed of {word}."
        body = {"content": said, "assistant": "analyst", "project": places[name]}
        threads[name] = (await api.post("threads/new/messages/", body)).body["thread"]
    await in_database(taught)(user, threads, places)
    return places, threads


def taught(user: User, threads: Mapping[str, str], places: Places) -> None:
    catch_up(user.pk)
    consolidate(user.pk, waits=True)
    for name, word in WORDS.items():
        thread = Thread.objects.get(id=threads[name])
        make_topic(user, f"A kennel for {word}", thread=thread)
        make_file(user, f"{word} sleeps".encode(), parts=[f"The dog {word} sleeps in the shed."], thread=thread)
        if places[name]:
            project = uuid.UUID(places[name])
            make_file(user, b"Dog", parts=[f"The dog {word} was called by the vet."], project_id=project, state="ready")


def words_in(text: str) -> set[str]:
    return {name for name, word in WORDS.items() if word.lower() in text.lower()}


async def known_in(api: Api, model: ModelServer, project: str | None) -> set[str]:
    """Of which places a new thread knows: by all that its model is sent, a search among it, and by all that its pages say."""
    sent = len(model.bodies)
    model.script(
        scripts.tool_use("search_messages", {"query": ASKED}), scripts.text("I have looked."), scripts.text("Well.")
    )
    body = {"content": ASKED, "assistant": "analyst", "project": project}
    thread = (await api.post("threads/new/messages/", body)).body["thread"]
    await api.post(f"threads/{thread}/messages/", {"content": STANDING})
    assert len(model.bodies) - sent >= 3
    pages = [(await api.get(f"threads/{thread}/{page}")).body for page in ("messages/", "requests/")]
    pages.append((await api.post(f"threads/{thread}/context/", {"content": ASKED})).body)
    assert (await api.call("DELETE", f"threads/{thread}/")).status == 204
    return words_in(json.dumps([model.bodies[sent:], pages], ensure_ascii=False))


@pytest.mark.wide
async def test_nothing_said_in_a_project_leaves_it_and_nothing_of_elsewhere_comes_in(
    user: User, api: Api, model: ModelServer
) -> None:
    places, threads = await told(user, api, model)
    for name in WORDS:
        assert await known_in(api, model, places[name]) == {name}
    await api.call("PATCH", f"projects/{places['garden']}/", {"shares_memory": True})
    assert await known_in(api, model, None) == {"outside", "garden"}
    assert await known_in(api, model, places["garden"]) == {"garden"}
    assert await known_in(api, model, places["office"]) == {"office"}
    await api.call("PATCH", f"projects/{places['office']}/", {"uses_outside_memory": True})
    assert await known_in(api, model, places["office"]) == {*WORDS}
    assert await known_in(api, model, None) == {"outside", "garden"}
    await api.call("PATCH", f"projects/{places['garden']}/", {"shares_memory": False})
    assert await known_in(api, model, places["office"]) == {"office", "outside"}
    assert threads


@pytest.mark.wide
async def test_moving_a_thread_moves_what_it_taught(user: User, api: Api, model: ModelServer) -> None:
    places, threads = await told(user, api, model)
    await api.call("PATCH", f"threads/{threads['outside']}/", {"project": places["garden"]})
    assert await known_in(api, model, None) == set()
    assert await known_in(api, model, places["garden"]) == {"outside", "garden"}
    await api.call("PATCH", f"threads/{threads['garden']}/", {"project": None})
    assert await known_in(api, model, None) == {"garden"}


async def test_each_tier_is_of_its_place_alone(user: User, api: Api, model: ModelServer) -> None:
    """Notes, the day, open topics and the last conversation, as somebody is given them who was away for long."""
    places, _ = await told(user, api, model)

    def tiers(name: str) -> dict[str, set[str]]:
        later = timezone.now() + timedelta(seconds=1)
        project = places[name]
        scope: MemoryScope = scope_of(user.pk, uuid.UUID(project) if project else None)
        session = Session(started_at=later, away_since=later - timedelta(days=2))
        query = SourceQuery(user_id=user.pk, thread_id=None, session=session, memory=scope)
        with read_only():
            known = read_known(KnownQuery(query=query))
        return {source: words_in(repr(rows)) for source, rows in known.candidates.items()}

    assert await DailySummary.objects.acount() == 3
    assert {each.confined_to.partition(":")[0] async for each in Memory.objects.all()} == {"", "project"}
    for name in WORDS:
        found = await in_database(tiers)(name)
        assert found.keys() >= {"memory", "today", "open_threads", "last_conversation"}
        assert {source: words for source, words in found.items() if words - {name}} == {}
        assert found["memory"] == found["today"] == {name}


@pytest.mark.wide
async def test_deleting_a_project_keeps_or_deletes_what_it_taught(user: User, api: Api, model: ModelServer) -> None:
    places, _ = await told(user, api, model)
    note = {"content": "The dog Betelgeuse is brown.", "tags": [f"project:{places['garden']}"]}
    assert (await api.post("memories/", note)).status == 201
    assert (await api.call("DELETE", f"projects/{places['garden']}/?threads=keep")).status == 204
    assert await known_in(api, model, None) == {"outside", "garden"}
    assert (await api.call("DELETE", f"projects/{places['office']}/?threads=delete")).status == 204
    kept = [Memory, ThreadSummary, DailySummary, Thread]
    rows = await in_database(lambda: [list(table._default_manager.values_list()) for table in kept])()
    assert words_in(repr(rows)) == {"outside", "garden"}


@pytest.mark.wide
async def test_a_request_says_whose_memory_was_open_to_it(user: User, api: Api, model: ModelServer) -> None:
    places, threads = await told(user, api, model)
    await api.post(f"threads/{threads['garden']}/messages/", {"content": ASKED})
    request = (await api.get(f"threads/{threads['garden']}/requests/")).body["results"][0]
    assert {item["thread"] for item in request["items"] if item["reason"] == "other_project"} == {
        threads["outside"],
        threads["office"],
    }
    assert request["memory"] == {
        "project": {"id": places["garden"], "name": "garden"},
        "outside": False,
        "shared": [],
        "closed": 1,
        "text": "Only what is remembered in the project garden.",
    }
