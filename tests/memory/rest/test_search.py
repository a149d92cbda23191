"""What would be recalled, over REST: found as soon as it is stored, imported or answered, and never anybody else's."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.context.record import snapshots
from conversations.models import ContextSnapshot, Message, Thread
from conversations.providers.markers import RECALLED
from conversations.providers.quoting import day
from conversations.runtime.db import in_database
from memory.models import IndexedPassage, Vocabulary
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.memory.factories import make_memory, make_preferences
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


async def search_memories(api: Api, query: str) -> list[dict[str, Any]]:
    answer = await api.get(f"memories/search/?q={query}")
    assert answer.status == 200, answer.body
    return list(answer.body["results"])


async def test_turns_and_memories_are_found_with_their_source(user: User, api: Api, others_api: Api) -> None:
    memory = await in_database(make_memory)(user, "Owns the boat Marisol.")
    sent = await api.post("threads/new/messages/", {"content": "My boat Marisol needs paint."})
    turn = await Message.objects.aget(id=sent.body["user_message"]["id"])
    results = await search_memories(api, "boat Marisol")
    by_kind = {
        one["source"]["kind"]: one for one in results if one["content"] != turn.text or one["source"]["position"]
    }
    own = next(one for one in results if one["content"] == turn.text)
    assert own["source"] == {
        "kind": "message",
        "id": str(turn.id),
        "thread": sent.body["thread"],
        "position": 1,
        "role": "user",
        "project": None,
    }
    assert (by_kind["memory"]["content"], by_kind["memory"]["source"]["id"]) == (memory.content, str(memory.id))
    assert [one["score"] for one in results] == sorted((one["score"] for one in results), reverse=True)
    assert await search_memories(others_api, "boat Marisol") == []


async def test_notes_and_turns_are_told_and_found_by_their_project(user: User, api: Api) -> None:
    garden = (await api.post("projects/", {"name": "Garden"})).body["id"]
    for place, tags in ((garden, [f"project:{garden}"]), (None, [])):
        await api.post("memories/", {"content": f"The boat of {place} is blue.", "tags": tags})
        await api.post("threads/new/messages/", {"content": f"What of the boat of {place}?", "project": place})
    named = {"id": garden, "name": "Garden"}
    for asked, expected in ((garden, [named]), ("none", [None]), ("", [None, named])):
        notes = (await api.get(f"memories/?project={asked}")).body["results"]
        assert [note["project"] for note in notes] == expected
        found = (await api.get(f"memories/search/?q=boat&project={asked}")).body["results"]
        for kind in ("memory", "message"):
            told = [one["source"]["project"] for one in found if one["source"]["kind"] == kind]
            assert {each and each["id"] for each in told} == {each and each["id"] for each in expected}


async def test_a_day_is_one_of_the_persons_zone(user: User, api: Api) -> None:
    """At UTC+14 the morning of 3 March is the evening of the second in UTC."""
    await in_database(make_preferences)(user, time_zone="Pacific/Kiritimati")
    turns = [
        {"role": "user", "content": "Painted the boat.", "created_at": "2026-03-02T20:00:00Z"},
        {"role": "user", "content": "Sold the ladder.", "created_at": "2026-03-03T20:00:00Z"},
    ]
    await api.post("import/", {"format": "openbook/1", "threads": [{"messages": turns}]})
    results = await search_memories(api, "2026-03-03")
    assert results[0]["content"] == "Painted the boat."


async def test_what_was_said_is_in_the_index_once_the_reply_has_ended(api: Api) -> None:
    sent = await api.post("threads/new/messages/", {"content": "My boat is called Marisol."})
    rows = IndexedPassage.objects.filter(thread=sent.body["thread"]).values_list("depth", flat=True)
    while [depth async for depth in rows.order_by("depth").all()] != [1, 2]:  # noqa: ASYNC110  # nobody tells of it
        await asyncio.sleep(0.01)


async def test_what_was_imported_is_found_at_once_and_no_longer_once_it_is_deleted(user: User, api: Api) -> None:
    turns = [{"role": "user", "content": f"Turn {n} of the boat talk."} for n in range(110)]
    imported = await api.post("import/", {"format": "openbook/1", "threads": [{"messages": turns}]})
    assert (await IndexedPassage.objects.acount(), (await Vocabulary.objects.aget(user=user)).turns) == (110, 110)
    results = await search_memories(api, "boat turn 7")
    assert results[0]["content"] == "Turn 7 of the boat talk."
    assert len(await search_memories(api, "boat talk")) == 100
    await api.call("DELETE", f"threads/{imported.body['threads'][0]['id']}/")
    assert (await search_memories(api, "boat turn 7"), await IndexedPassage.objects.acount()) == ([], 0)


async def test_what_was_said_in_another_thread_stands_beside_the_question_and_is_accounted_for(
    api: Api, model: ModelServer
) -> None:
    """C3, S3, S4; and after its thread is deleted it is gone from what comes."""
    model.script(scripts.text("Noted."), scripts.text("You told me."))
    told = (await api.post("threads/new/messages/", {"content": "My boat is called Marisol."})).body
    asked = (await api.post("threads/new/messages/", {"content": "What is the name of my boat?"})).body
    request = (await api.get(f"requests/{asked['request']}/")).body
    own, recalled = (block["text"] for block in model.bodies[1]["messages"][-1]["content"])
    assert own == "What is the name of my boat?"
    heading = f"Said on {day(timezone.now())} in another conversation:"
    assert recalled.splitlines()[:3] == [RECALLED, heading, '- person: "My boat is called Marisol."']
    items = {item["id"]: item for item in request["items"]}
    needle = items[told["user_message"]["id"]]
    assert (needle["reason"], needle["thread"], needle["position"]) == ("recalled", told["thread"], 1)
    assert await in_database(snapshots.proof)(await ContextSnapshot.objects.aget(id=request["id"]))
    await api.call("DELETE", f"threads/{told['thread']}/")
    preview = (await api.post("threads/new/context/", {"content": "What is the name of my boat?"})).body
    assert "Marisol" not in str(preview["request"]) and told["thread"] not in str(preview["items"])


async def test_a_thread_whose_memory_is_off_neither_gives_nor_gets(user: User, api: Api, model: ModelServer) -> None:
    """And so for all of them, where the person wants nothing remembered; what it says itself it still knows."""
    model.script(scripts.text("Noted."), scripts.text("Noted."))
    question = {"content": "What is the name of my boat?"}
    off = (await api.post("threads/new/messages/", {"content": "My boat is called Marisol."})).body["thread"]
    on = (await api.post("threads/new/messages/", {"content": "My boat is painted blue."})).body["thread"]

    async def told(thread: str) -> set[str]:
        request = str((await api.post(f"threads/{thread}/context/", question)).body["request"])
        return {word for word in ("Marisol", "blue") if word in request}

    assert [await told(off), await told(on), await told("new")] == [{"Marisol", "blue"}] * 3
    await Thread.objects.filter(id=off).aupdate(remembers=False)
    assert [await told(off), await told(on), await told("new")] == [{"Marisol"}, {"blue"}, {"blue"}]
    await in_database(make_preferences)(user, remembers=False)
    assert [await told(off), await told(on), await told("new")] == [{"Marisol"}, {"blue"}, set()]


@pytest.mark.parametrize("query", ["", "   ", "x" * 4_001])
async def test_a_query_must_say_something(api: Api, query: str) -> None:
    assert (await api.get(f"memories/search/?q={query}")).code == (400, "invalid_request", "invalid_message")


@pytest.mark.once("what is it", "%00")
@pytest.mark.parametrize("query", ["what is it", "%25%25%25 ' \" | %26 !", "天", "%F0%9F%8E%89", "%00"])
async def test_whatever_is_asked_is_answered(api: Api, query: str) -> None:
    await api.post("threads/new/messages/", {"content": "My boat is called Marisol."})
    assert isinstance(await search_memories(api, query), list)
