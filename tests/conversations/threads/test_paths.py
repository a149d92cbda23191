"""People edit what they said and ask again: each version is kept, and the active path alone counts."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.request_record import record_of
from conversations.context.replay import remake
from conversations.models import ContextSnapshot, Message, Thread
from conversations.runtime.db import in_database, read_only
from conversations.threads.paths import PlacedTurn, newest_end
from memory.consolidation.consolidate import consolidate
from memory.models import IndexedPassage, Memory
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


@pytest.fixture(autouse=True)
def _offline(settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "offline"


@given(st.lists(st.integers(min_value=0, max_value=100), max_size=30), st.data())
def test_the_newest_end_is_the_last_stored_of_all_that_follow(choices: list[int], data: st.DataObject) -> None:
    ids = [uuid.uuid4() for _ in range(len(choices) + 1)]
    parents: dict[uuid.UUID, uuid.UUID | None] = {ids[0]: None}
    for number, choice in enumerate(choices):
        parents[ids[number + 1]] = ids[choice % (number + 1)]
    start = data.draw(st.sampled_from(ids))
    turns = [PlacedTurn(id=id, parent=parents[id]) for id in ids]

    def follows(id: uuid.UUID | None) -> bool:
        return id is not None and (id == start or follows(parents[id]))

    assert newest_end(start, turns[ids.index(start) :]) == [id for id in ids if follows(id)][-1]


class Talk:
    """A person's conversation over REST."""

    def __init__(self, user: User) -> None:
        self.api, self.thread = Api(user), "new"

    async def say(self, text: str, **values: Any) -> dict[str, Any]:
        answer = await self.api.post(f"threads/{self.thread}/messages/", {"content": text, **values})
        assert answer.status == 201, answer.body
        self.thread = answer.body["thread"]
        message: dict[str, Any] = answer.body["user_message"]
        return message

    async def turns(self, path: str = "") -> list[dict[str, Any]]:
        answer = await self.api.get(f"threads/{self.thread}/messages/{f'?path={path}' if path else ''}")
        assert answer.status == 200, answer.body
        turns: list[dict[str, Any]] = answer.body["results"]
        return turns

    async def said(self, path: str = "") -> list[str]:
        return [turn["text"] for turn in await self.turns(path) if turn["role"] == "user"]

    async def go_to(self, message: str) -> None:
        answer = await self.api.call("PATCH", f"threads/{self.thread}/", {"active": message})
        assert answer.status == 200, answer.body

    @in_database
    def newest_request(self) -> ContextSnapshot:
        return ContextSnapshot.objects.filter(thread__id=self.thread).latest("created_at")


@pytest.fixture
def talk(user: User) -> Talk:
    return Talk(user)


@in_database
def sent(request: ContextSnapshot) -> str:
    return str(snapshots.rebuild(request))


@in_database
def remembered(user: User) -> str:
    """What is known of a person once all that was said has been consolidated."""
    consolidate(user.pk, at=timezone.now() + timedelta(hours=1))
    return " ".join(Memory.objects.filter(user=user, ended_at=None).values_list("content", flat=True))


async def test_an_edited_message_is_a_version_and_the_answer_knows_its_path_alone(talk: Talk) -> None:
    await talk.say("My dog is called Rex.")
    second = await talk.say("He likes fish.")
    await talk.say("And long walks.")
    edited = await talk.say("He likes bones.", edits=second["id"])
    assert await talk.said() == ["My dog is called Rex.", "He likes bones."]
    assert await talk.said("all") == ["My dog is called Rex.", "He likes fish.", "And long walks.", "He likes bones."]
    assert edited["versions"] == [second["id"], edited["id"]]
    assert edited["parent"] == second["parent"]
    request = await talk.newest_request()
    body = await in_database(snapshot_api.body)(request)
    assert "fish" not in str(body["request"]) and "walks" not in str(body["request"])
    left = [item for item in body["items"] if item["reason"] == "other_branch"]
    assert sum(item.get("count", 1) for item in left) == 4
    await talk.go_to(second["id"])
    assert await talk.said() == ["My dog is called Rex.", "He likes fish.", "And long walks."]
    assert await talk.said(edited["id"]) == ["My dog is called Rex.", "He likes bones."]
    await talk.say("What does he like?")
    text = await sent(await talk.newest_request())
    assert "fish" in text and "walks" in text and "bones" not in text


@pytest.mark.wide
async def test_the_first_message_can_be_edited_too(talk: Talk) -> None:
    first = await talk.say("Call me Ann.")
    await talk.say("Call me Bea.", edits=first["id"])
    assert await talk.said() == ["Call me Bea."]
    assert "Ann" not in await sent(await talk.newest_request())


async def test_every_request_is_proved_and_remade_exactly_after_the_path_has_moved(talk: Talk) -> None:
    await talk.say("My dog is called Rex.")
    second = await talk.say("He likes fish.")
    await talk.say("And long walks.")
    await talk.say("He likes bones.", edits=second["id"])
    await talk.say("Who is that?")
    await talk.go_to(second["id"])
    assert await in_database(exact)(talk.thread) == [True] * 5


def exact(thread: str) -> list[bool]:
    """Whether each request of a thread is made again as it was sent."""
    results = []
    for request in ContextSnapshot.objects.filter(thread__id=thread, purpose="reply"):
        record = record_of(request)
        with read_only():
            results.append(remake(record, record.settings).is_exact)
    return results


async def test_an_earlier_message_is_answered_again_and_both_answers_stay(talk: Talk) -> None:
    await talk.say("One.")
    await talk.say("Two.")
    first_answer = (await talk.turns())[1]
    retried = await talk.api.post(f"replies/{first_answer['reply']['id']}/retry/", {})
    assert retried.status == 202, retried.body
    assert [event async for event in talk.api.events("GET", f"replies/{retried.body['id']}/events/")]
    shown = await talk.turns()
    assert await talk.said() == ["One."]
    assert shown[1]["versions"] == [first_answer["id"], shown[1]["id"]]
    await talk.go_to(first_answer["id"])
    assert await talk.said() == ["One.", "Two."]


async def test_what_was_said_on_a_branch_that_was_left_is_not_remembered(talk: Talk, user: User) -> None:
    await talk.say("Good morning.")
    second = await talk.say("I live in Lisbon.")
    assert "Lisbon" in await remembered(user)
    await talk.say("I live in Porto.", edits=second["id"])
    assert not await Memory.objects.filter(user=user, content__contains="Lisbon").aexists()
    assert "Porto" in await remembered(user)
    await talk.go_to(second["id"])
    facts = await remembered(user)
    assert "Lisbon" in facts and "Porto" not in facts
    active = Message.objects.filter(thread__id=talk.thread, is_active=True).values_list("position", flat=True)
    indexed = IndexedPassage.objects.filter(thread__id=talk.thread).values_list("position", flat=True)
    assert {place async for place in indexed} == {place async for place in active}


@pytest.mark.once("7-400", "*0-404")
@pytest.mark.parametrize(
    ("edits", "status"),
    [("nonsense", 404), ("01a21e43-0000-7000-8000-000000000000", 404), (7, 400), ("answer", 400), ("new thread", 400)],
)
async def test_only_an_own_message_of_the_thread_can_be_edited(talk: Talk, edits: Any, status: int) -> None:
    asked = await talk.say("One.")
    thread = "new" if edits == "new thread" else talk.thread
    value = {"answer": (await talk.turns())[1]["id"], "new thread": asked["id"]}.get(edits, edits)
    answer = await talk.api.post(f"threads/{thread}/messages/", {"content": "Two.", "edits": value})
    assert answer.status == status, answer.body
    assert await talk.said("all") == ["One."]


@pytest.mark.wide
async def test_the_path_is_one_path_whatever_is_edited_and_chosen(talk: Talk) -> None:
    said = [await talk.say("0")]
    for number, choice in enumerate([0, 1, 0, 2, 3, 1, 5]):
        said.append(
            await talk.say(str(number + 1), edits=said[choice]["id"]) if number % 2 else await talk.say(str(number + 1))
        )
        await talk.go_to(said[choice]["id"])
        active = Message.objects.filter(thread__id=talk.thread, is_active=True).order_by("depth")
        path = [turn async for turn in active]
        assert [turn.depth for turn in path] == list(range(1, len(path) + 1))
        assert [turn.parent_id for turn in path] == [None, *[turn.id for turn in path[:-1]]]
        assert (await Thread.objects.aget(id=talk.thread)).message_count == len(path)
    assert len(await talk.said("all")) == len(said)


async def test_an_artifact_follows_the_branch_that_made_it(talk: Talk, model: ModelServer, settings: Any) -> None:
    settings.OPENBOOK_PROVIDER = "anthropic"
    packing = {"title": "Packing list", "kind": "document", "content": "Tent, stove, and a canary."}
    model.script(scripts.tool_use("save_artifact", packing), scripts.text("Saved."), scripts.text("Hello."))
    first = await talk.say("Write a packing list.", assistant="analyst")
    path = f"threads/{talk.thread}/artifacts/"
    assert [each["title"] for each in (await talk.api.get(path)).body["results"]] == ["Packing list"]
    await talk.say("Hello!", edits=first["id"])
    assert "Packing list" not in str(model.bodies[-1])
    assert (await talk.api.get(path)).body["results"] == []
    await talk.go_to(first["id"])
    assert [each["title"] for each in (await talk.api.get(path)).body["results"]] == ["Packing list"]
