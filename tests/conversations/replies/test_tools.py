"""Replies with tool calls: rounds of model requests, artifacts beside the thread, and none of them made twice (F1–F9)."""

import json
import uuid
from typing import Any
from unittest.mock import ANY

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from artifacts.models import Artifact, ArtifactVersion
from conversations import replies
from conversations.context.record import snapshots
from conversations.models import Assistant, ContextSnapshot, Message, Reply, Thread
from conversations.providers.markers import ADDED, EARLIER
from conversations.replies.closing import interrupt
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

BRD = {"title": "Boat rental", "kind": "document", "content": "# Boat rental\n\nWe rent boats. 🚤"}


@pytest.fixture
def thread(user: User) -> Thread:
    return make_thread(user, assistant=Assistant.objects.get(slug="analyst"))


async def ask(user: User, thread: Thread, content: str) -> OpenedReply:
    opened = await replies.start(user=user, thread_id=thread.id, content=content)
    async for _ in replies.follow(opened.reply.id):
        pass
    return opened


def turn_texts(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The texts of a request, without what Openbook added."""
    return [
        (message["role"], block["text"])
        for message in body["messages"]
        for block in message["content"]
        if block["type"] == "text" and not block["text"].startswith(ADDED)
    ]


async def events_of(reply: Reply) -> list[tuple[str, Any]]:
    return [(event.type, event.data) async for event in replies.follow(reply.id)]


async def answer_of(opened: OpenedReply) -> Message:
    return await Message.objects.aget(reply=opened.reply)


async def test_a_request_for_an_artifact_makes_one_and_is_gone_from_the_next_context(
    user: User, thread: Thread, model: ModelServer
) -> None:
    """F1–F5, from end to end: asked for, made, filtered, deleted and back again."""
    model.script(
        scripts.tool_use("save_artifact", BRD, tool_id="toolu_1", before="I write it down."),
        scripts.text("There it is."),
        scripts.text("Yes, three."),
        scripts.text("Shall I write it again?"),
    )
    opened = await ask(user, thread, "Generate a BRD")
    answer, artifact = await answer_of(opened), await Artifact.objects.aget()
    assert (answer.text, answer.status) == ("I write it down.\n\nThere it is.", "complete")
    assert answer.content == [
        {"type": "text", "text": "I write it down."},
        {"type": "tool_use", "id": "toolu_1", "name": "save_artifact", "input": BRD},
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": f"Saved “Boat rental”, version 1. It is beside the conversation now. Its id is {artifact.id}.",
        },
        {"type": "text", "text": "There it is."},
    ]
    version = await ArtifactVersion.objects.aget()
    assert (version.content, version.origin, version.reply_id) == (BRD["content"], "reply", opened.reply.id)
    assert [message["role"] for message in model.bodies[1]["messages"]] == ["user", "assistant", "user"]
    assert (
        model.bodies[1]["messages"][1:]
        == [
            {"role": "assistant", "content": [ANY, *answer.content[:2]]},  # it gets its thinking back
            {"role": "user", "content": answer.content[2:3]},
        ]
    )

    await ask(user, thread, "Do we rent canoes?")
    assert turn_texts(model.bodies[2]) == [("user", "Do we rent canoes?")]
    assert f"- “Boat rental” (document, version 1, id {artifact.id})" in json.dumps(model.bodies[2], ensure_ascii=False)

    await Artifact.objects.all().aupdate(deleted_at=answer.created_at)
    await ask(user, thread, "And now?")
    assert turn_texts(model.bodies[3]) == [
        ("user", "Generate a BRD"),
        ("assistant", "I write it down."),
        ("assistant", "There it is."),
        ("user", "Do we rent canoes?"),
        ("assistant", "Yes, three."),
        ("user", "And now?"),
    ]


async def test_each_round_has_a_snapshot_that_rebuilds_to_what_was_sent(
    user: User, thread: Thread, model: ModelServer
) -> None:
    model.script(
        scripts.tool_use("search_messages", {"query": "boats"}, tool_id="toolu_1"),
        scripts.tool_use("save_artifact", BRD, tool_id="toolu_2"),
        scripts.text("Done."),
    )
    opened = await ask(user, thread, "Write down what we know about boats.")
    requests = [request async for request in ContextSnapshot.objects.filter(reply=opened.reply).order_by("round")]
    assert [(request.round, request.status, request.stop_reason) for request in requests] == [
        (1, "completed", "tool_use"),
        (2, "completed", "tool_use"),
        (3, "completed", "end_turn"),
    ]
    rebuilt = [await in_database(snapshots.proven)(request) for request in requests]
    assert rebuilt == model.bodies
    first, second = (len(json.dumps(body["messages"])) for body in model.bodies[:2])
    assert json.dumps(model.bodies[1]["messages"]).startswith(json.dumps(model.bodies[0]["messages"])[:-1])
    assert first < second
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert reply.usage["output_tokens"] == sum(request.usage["output_tokens"] for request in requests)


async def test_what_is_written_can_be_watched_and_the_deltas_are_the_stored_text(
    user: User, thread: Thread, model: ModelServer
) -> None:
    model.script(scripts.tool_use("save_artifact", BRD, before="\nWait. "), scripts.text("\n\nDone."))
    opened = await ask(user, thread, "Write it down.")
    events = await events_of(opened.reply)
    artifact = await Artifact.objects.aget()
    told = [type for type, _ in events if type not in ("reply.thinking", "reply.delta", "tool.delta")]
    assert told == [
        "message.saved",
        "context.built",
        "reply.started",
        "tool.started",
        "tool.finished",
        "context.built",
        "reply.completed",
    ]
    assert "".join(data["text"] for type, data in events if type == "reply.delta") == "Wait. \n\nDone."
    assert (await answer_of(opened)).text == "Wait. \n\nDone."
    written = [data for type, data in events if type == "tool.delta"]
    assert "".join(data["text"] for data in written) == BRD["content"]
    assert (written[0]["title"], written[0]["kind"]) == ("Boat rental", "document")
    finished = next(data for type, data in events if type == "tool.finished")
    assert finished == {
        "id": "toolu_local",
        "name": "save_artifact",
        "text": "Saved “Boat rental”, version 1",
        "is_error": False,
        "artifact": {
            "id": str(artifact.id),
            "title": "Boat rental",
            "kind": "document",
            "language": "",
            "version": 1,
        },
        "question": None,
    }


@pytest.mark.once("*input0*", "*input9*")
@pytest.mark.parametrize(
    ("name", "input", "told"),
    [
        ("save_artifact", {"title": "Boats", "kind": "document"}, "content must be given"),
        ("save_artifact", BRD | {"kind": "opera"}, "`kind` must be one of document, code"),
        ("save_artifact", BRD | {"title": ["Boats"]}, "`title` must be of type string"),
        ("save_artifact", BRD | {"title": " \n\t"}, "Give the artifact a title"),
        ("save_artifact", BRD | {"content": "x" * 6_000}, "the limit is 5,000"),
        ("save_artifact", BRD | {"title": "x" * 201}, "at most 200 characters"),
        ("read_artifact", {"artifact": str(uuid.uuid4())}, "There is no such artifact in this thread"),
        ("read_artifact", {"artifact": "Boats", "version": "two"}, "`version` must be of type integer"),
        ("search_messages", {"query": "%%%"}, "Nothing was found"),
        ("launch_rocket", {}, "There is no tool 'launch_rocket' here"),
    ],
)
async def test_a_tool_call_that_fails_answers_the_model_and_its_request_stays(
    user: User,
    thread: Thread,
    model: ModelServer,
    settings: Settings,
    name: str,
    input: dict[str, Any],
    told: str,
) -> None:
    """F5: text that claims success proves nothing."""
    settings.OPENBOOK_MAX_ARTIFACT_CHARS = 5_000
    model.script(scripts.tool_use(name, input), scripts.text("It is saved!"), scripts.text("Hm."))
    opened = await ask(user, thread, "Generate a BRD")
    (result,) = model.bodies[1]["messages"][-1]["content"]
    assert told in result["content"]
    assert result.get("is_error", False) == (name != "search_messages")
    assert not await Artifact.objects.aexists()
    assert (await Reply.objects.aget(id=opened.reply.id)).status == "completed"
    await ask(user, thread, "And?")
    assert turn_texts(model.bodies[2]) == [("user", "Generate a BRD"), ("assistant", "It is saved!"), ("user", "And?")]


async def test_anothers_artifact_is_not_found(user: User, thread: Thread, model: ModelServer) -> None:
    model.script(scripts.tool_use("save_artifact", BRD), scripts.text("Saved."))
    await ask(user, thread, "Generate a BRD")
    artifact = await Artifact.objects.aget()
    other = await in_database(make_thread)(assistant=thread.assistant)
    model.script(scripts.tool_use("read_artifact", {"artifact": str(artifact.id)}), scripts.text("No."))
    await ask(await User.objects.aget(id=other.user_id), other, "Read it")
    (result,) = model.bodies[-1]["messages"][-1]["content"]
    assert result["content"] == "There is no such artifact in this thread. There are none yet."


async def test_the_same_title_makes_the_next_version_and_the_same_content_none(
    user: User, thread: Thread, model: ModelServer
) -> None:
    model.script(
        scripts.tool_use("save_artifact", BRD, tool_id="a"),
        scripts.tool_use("save_artifact", BRD | {"title": "BOAT rental"}, tool_id="b"),
        scripts.tool_use("save_artifact", BRD | {"content": "# Boats"}, tool_id="c"),
        scripts.text("Done."),
    )
    await ask(user, thread, "Generate a BRD, then a shorter one.")
    assert [
        version async for version in ArtifactVersion.objects.values_list("number", "content").order_by("number")
    ] == [
        (1, BRD["content"]),
        (2, "# Boats"),
    ]
    assert (await Artifact.objects.aget()).version == 2


async def test_rounds_are_bounded_and_the_last_is_asked_for_words(
    user: User, thread: Thread, model: ModelServer
) -> None:
    def again(body: dict[str, Any]) -> Any:
        number = len(model.bodies)
        return scripts.tool_use("search_messages", {"query": "boats"}, tool_id=f"t{number}", before=f"Round {number}.")

    model.responder = again
    opened = await ask(user, thread, "Find it.")
    assert [body.get("tool_choice") for body in model.bodies] == [None] * 7 + [{"type": "none"}]
    answer = await answer_of(opened)
    assert (answer.status, answer.text) == ("incomplete", "\n\n".join(f"Round {n}." for n in range(1, 9)))
    assert sum(block["type"] == "tool_use" for block in answer.blocks) == 7


async def test_a_failure_in_a_later_round_keeps_what_was_done(user: User, thread: Thread, model: ModelServer) -> None:
    model.script(scripts.tool_use("save_artifact", BRD, before="Now."), scripts.error(400), scripts.text("Hello."))
    opened = await ask(user, thread, "Generate a BRD")
    answer = await answer_of(opened)
    assert (answer.status, answer.text) == ("failed", "Now.")
    assert [block["type"] for block in answer.blocks] == ["text", "tool_use", "tool_result"]
    await ask(user, thread, "Hi")
    assert turn_texts(model.bodies[2]) == [("user", "Hi")]


async def test_what_a_killed_reply_had_saved_is_told_by_its_turn(
    user: User, thread: Thread, model: ModelServer
) -> None:
    """Else the request would stand open, and the artifact be made again."""
    gate = scripts.Gate()
    model.script(scripts.tool_use("save_artifact", BRD), scripts.text(gate, "Done."), scripts.text("Hello."))
    opened = await replies.start(user=user, thread_id=thread.id, content="Generate a BRD")
    await in_database(gate.wait_until_reached)()
    await Reply.objects.filter(id=opened.reply.id).aupdate(
        owner="a process that died", lease_until=opened.reply.created_at
    )
    await in_database(interrupt)(opened.reply.id, user_id=opened.reply.user_id)
    gate.open()
    answer = await answer_of(opened)
    assert (answer.status, answer.text) == ("interrupted", "")
    assert [block["type"] for block in answer.blocks] == ["tool_use", "tool_result"]
    async for _ in replies.follow(opened.reply.id):
        pass
    await ask(user, thread, "Hi")
    assert turn_texts(model.bodies[-1]) == [("user", "Hi")]


async def test_twenty_questions_after_three_artifacts_make_no_fourth(
    user: User, thread: Thread, model: ModelServer
) -> None:
    """F9 against a model with the old fault: it carries out whatever request for an artifact it sees."""
    model.responder = scripts.repeater
    for name in ("BRD", "test plan", "decision record"):
        await ask(user, thread, f"Generate a {name}")
    titles = [artifact.title async for artifact in Artifact.objects.order_by("created_at")]
    assert len(titles) == 3
    for number in range(20):
        await ask(user, thread, f"How many boats are there, roughly? {number}")
    assert await ArtifactVersion.objects.acount() == 3
    assert await Message.objects.filter(thread=thread).acount() == 46
    assert EARLIER not in json.dumps(model.bodies[-1])
