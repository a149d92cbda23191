"""Presets: an artifact is made of the conversation silently, and nothing of the request enters the thread (F9)."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User

from artifacts.models import Artifact, ArtifactVersion, Preset
from conversations import replies
from conversations.context.record import snapshot_api, snapshots
from conversations.errors import NothingToWorkFrom, PresetNotFound, ReplyInProgress
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.replies import closing
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

BRD = {"title": "Boat rental", "kind": "document", "content": "# Boat rental"}
TURNS = ["We rent boats.", "How many?", "Three.", "Noted."]


@pytest.fixture
def thread(user: User) -> Thread:
    assistant = Assistant.objects.get(slug="analyst")
    preset = Preset.objects.create(slug="letter", name="Letter", prompt="Write a letter.", kind="document")
    preset.assistants.add(assistant)
    return make_thread(user, TURNS, assistant=assistant)


async def run(user: User, thread: Thread, click: str | None = None) -> Reply:
    opened = await replies.start_preset(user=user, thread_id=thread.id, preset="letter", client_message_id=click)
    async for _ in replies.follow(opened.reply.id):
        pass
    return await Reply.objects.aget(id=opened.reply.id)


async def turns_of(thread: Thread) -> list[str]:
    return [turn.text async for turn in Message.objects.filter(thread=thread).order_by("position")]


async def events_of(reply: Reply) -> list[tuple[str, Any]]:
    return [(event.type, event.data) async for event in replies.follow(reply.id)]


async def test_a_preset_makes_its_artifact_and_leaves_no_turn(user: User, thread: Thread, model: ModelServer) -> None:
    model.script(scripts.tool_use("save_artifact", BRD), scripts.text("Hello."))
    reply = await run(user, thread)
    artifact = await Artifact.objects.aget()
    version = await ArtifactVersion.objects.aget()
    assert (reply.status, reply.user_message_id, len(model.bodies)) == ("completed", None, 1)
    assert (artifact.title, artifact.preset, artifact.after_position) == ("Boat rental", "letter", 4)
    assert (version.origin, version.reply_id, version.message_id) == ("preset", reply.id, None)
    assert await turns_of(thread) == TURNS
    (body,) = model.bodies
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert "Write a letter." in body["messages"][-1]["content"][-1]["text"]

    request = await ContextSnapshot.objects.aget()
    assert (request.purpose, request.message_id) == ("artifact", None)
    assert await in_database(snapshots.proven)(request) == body
    told = await in_database(snapshot_api.body)(request)
    assert [section["name"] for section in told["sections"]] == ["tools", "base", "rules", "history", "message"]
    assert sum(section["tokens"] for section in told["sections"]) == told["total_tokens"]
    assert [item["position"] for item in told["items"] if item["kind"] == "message"] == [1, 2, 3, 4]

    opened = await replies.start(user=user, thread_id=thread.id, content="Thanks")
    events = [event.type async for event in replies.follow(opened.reply.id)]
    assert events[-1] == "reply.completed"
    assert "Write a letter" not in str(model.bodies[1]["messages"])
    assert len(model.bodies[1]["messages"]) == 5


async def test_the_events_of_a_silent_reply_tell_of_the_artifact_and_of_no_turn(
    user: User, thread: Thread, model: ModelServer
) -> None:
    model.script(scripts.tool_use("save_artifact", BRD, before="I begin."))
    reply = await run(user, thread)
    artifact = await Artifact.objects.aget()
    live = await events_of(reply)
    assert [type for type, _ in live if type not in ("reply.thinking", "tool.delta")] == [
        "artifact.requested",
        "context.built",
        "reply.started",
        "tool.started",
        "tool.finished",
        "reply.completed",
    ]
    assert live[0][1] == {"thread": str(thread.id), "preset": "letter"}
    ending = live[-1][1]
    assert (ending["message"], ending["user_message"]) == (None, None)
    assert ending["artifact"] == {
        "id": str(artifact.id),
        "title": "Boat rental",
        "kind": "document",
        "language": "",
        "version": 1,
    }


async def test_what_the_model_writes_in_words_is_the_artifact(user: User, thread: Thread, model: ModelServer) -> None:
    model.script(scripts.text("Dear boats,\n\n", "good night."))
    reply = await run(user, thread)
    version = await ArtifactVersion.objects.select_related("artifact").aget()
    assert (reply.status, version.artifact.title, version.content) == (
        "completed",
        "Letter",
        "Dear boats,\n\ngood night.",
    )
    assert await turns_of(thread) == TURNS


async def test_the_same_click_makes_one_artifact_and_the_next_click_its_next_version(
    user: User, thread: Thread, model: ModelServer
) -> None:
    model.script(
        scripts.tool_use("save_artifact", BRD),
        scripts.tool_use("save_artifact", BRD | {"title": "Boats again", "content": "# More boats"}),
    )
    first = await run(user, thread, "click 1")
    assert (await run(user, thread, "click 1")).id == first.id
    assert len(model.bodies) == 1
    await run(user, thread, "click 2")
    artifact = await Artifact.objects.aget()
    assert (artifact.title, artifact.version) == ("Boat rental", 2)


async def test_clicks_at_the_same_time_make_one_artifact(user: User, thread: Thread, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text(gate, "Dear boats"))
    values: dict[str, Any] = {"user": user, "thread_id": thread.id, "preset": "letter"}
    clicks = [replies.start_preset(**values, client_message_id=click) for click in ("a", "a", "b", None)]
    opened = await asyncio.gather(*clicks)
    assert len({one.reply.id for one in opened}) == 1
    with pytest.raises(ReplyInProgress):
        await replies.start(user=user, thread_id=thread.id, content="Hello?")
    gate.open()
    async for _ in replies.follow(opened[0].reply.id):
        pass
    assert (await ArtifactVersion.objects.acount(), len(model.bodies)) == (1, 1)


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([scripts.error(529)] * 3, "overloaded"),
        ([scripts.text(" \n")], "empty_reply"),
        ([scripts.tool_use("save_artifact", {"title": "x"}), scripts.text("It is saved.")], "no_artifact"),
    ],
)
async def test_a_preset_that_fails_says_so_and_can_be_tried_again(
    user: User, thread: Thread, model: ModelServer, answers: list[Any], code: str
) -> None:
    model.script(*answers, scripts.tool_use("save_artifact", BRD))
    failed = await run(user, thread)
    assert failed.error is not None
    assert "Your message" not in failed.error["message"]
    assert (failed.status, failed.error["code"], await Artifact.objects.acount()) == ("failed", code, 0)
    again = await replies.retry(user=user, reply_id=failed.id)
    async for _ in replies.follow(again.reply.id):
        pass
    assert (await Artifact.objects.acount(), await turns_of(thread)) == (1, TURNS)


async def test_a_silent_reply_that_is_left_behind_leaves_no_turn(
    user: User, thread: Thread, model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("Dear ", gate, "boats"))
    opened = await replies.start_preset(user=user, thread_id=thread.id, preset="letter")
    await in_database(gate.wait_until_reached)()
    await Reply.objects.filter(id=opened.reply.id).aupdate(owner="died", lease_until=opened.reply.created_at)
    (ending,) = await in_database(closing.interrupt)(opened.reply.id, user_id=opened.reply.user_id)
    gate.open()
    assert (ending.type, ending.data["message"], ending.data["artifact"]) == ("reply.interrupted", None, None)
    async for _ in replies.follow(opened.reply.id):
        pass
    assert (await turns_of(thread), await Artifact.objects.acount()) == (TURNS, 0)


async def test_a_preset_needs_a_conversation_and_an_assistant_that_offers_it(
    user: User, thread: Thread, model: ModelServer
) -> None:
    empty = await in_database(make_thread)(user, assistant=thread.assistant)
    with pytest.raises(NothingToWorkFrom):
        await replies.start_preset(user=user, thread_id=empty.id, preset="letter")
    companions = await in_database(make_thread)(user, TURNS)
    for other, preset in ((companions, "letter"), (thread, "unknown"), (thread, "")):
        with pytest.raises(PresetNotFound):
            await replies.start_preset(user=user, thread_id=other.id, preset=preset)
    assert (model.bodies, await Reply.objects.acount()) == ([], 0)
