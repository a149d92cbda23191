"""Every ending of a reply has a way on: to go on where it stopped, to build it smaller, to give it more room."""

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import replies
from conversations.context import replay
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.context.rules.fitting import GO_ON_WORDS
from conversations.errors import CannotContinue
from conversations.models import Assistant, ContextSnapshot, Message, Reply
from conversations.replies.events import Event
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database, read_only
from tests import model_scripts as scripts
from tests.model_scripts import BrokenStream, Script, ScriptedToolUse
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

TOO_LONG = "prompt is too long: 208310 tokens > 200000 maximum"
NOTES = ScriptedToolUse(
    name="save_artifact", input={"title": "Notes", "kind": "document", "content": "# Notes"}, id="toolu_notes"
)


async def events_of(opened: OpenedReply) -> list[Event]:
    return [event async for event in replies.follow(opened.reply.id)]


async def ended(opened: OpenedReply) -> Reply:
    await events_of(opened)
    return await Reply.objects.aget(id=opened.reply.id)


def text_of(events: list[Event]) -> str:
    return "".join(event.data["text"] for event in events if event.type == "reply.delta")


async def path(opened: OpenedReply) -> list[tuple[str, str]]:
    rows = Message.objects.filter(thread=opened.thread, is_active=True).order_by("position")
    return [(row.text, row.status) async for row in rows]


async def requests_of(reply: Reply) -> list[ContextSnapshot]:
    return [row async for row in ContextSnapshot.objects.filter(reply=reply).order_by("round")]


async def are_proven(reply: Reply) -> None:
    for request in await requests_of(reply):
        assert await in_database(snapshots.proof)(request)
        assert await in_database(is_remade)(request)


def is_remade(request: ContextSnapshot) -> bool:
    with read_only():
        record = record_of(request)
        return replay.remake(record, record.settings).is_exact


def cut_short(*deltas: str) -> Script:
    return scripts.text(*deltas, stop_reason="max_tokens")


def said_in(message: dict[str, Any]) -> list[str]:
    return [block["text"] for block in message["content"] if block["type"] == "text"]


async def test_an_answer_that_was_cut_short_goes_on_where_it_stopped(user: User, model: ModelServer) -> None:
    model.script(cut_short("The quick br"), cut_short("own fox "), scripts.text(" jumps.\n"))
    first = await replies.start(user=user, thread_id=None, content="Tell me")
    texts = [text_of(await events_of(first))]
    opened = first
    for _ in range(2):
        opened = await replies.go_on(user=user, reply_id=opened.reply.id)
        events = await events_of(opened)
        texts.append(text_of(events))
        earlier = events[1]
        assert (earlier.type, earlier.data) == ("reply.delta", {"text": texts[-2], "earlier": True})
        turn = await Message.objects.aget(reply=opened.reply)
        assert (events[-1].data["message"]["text"], turn.text) == (texts[-1], texts[-1])
        await are_proven(opened.reply)
    assert texts == ["The quick br", "The quick brown fox ", "The quick brown fox  jumps.\n"]
    assert await path(first) == [("Tell me", "complete"), (texts[-1], "complete")]
    assert await Message.objects.filter(thread=first.thread).acount() == 4  # what was replaced stays
    assert [said_in(message) for message in model.bodies[2]["messages"]] == [["Tell me"], [texts[1]], [GO_ON_WORDS]]
    sections = await in_database(lambda: snapshots.additions_of(ContextSnapshot.objects.latest("id")))()
    assert [section.name for section in sections] == ["round", "go_on"]


async def test_going_on_keeps_what_was_done_before(user: User, model: ModelServer) -> None:
    model.script(
        scripts.turn("I save it. ", NOTES),
        cut_short("It is sav"),
        scripts.turn(
            "ed. And once more: ", ScriptedToolUse(name="save_artifact", input={**json_of(NOTES), "title": "More"})
        ),
        scripts.text("Done."),
        scripts.text("As you like."),
    )
    opened = await replies.start(user=user, thread_id=None, content="Save notes", assistant="analyst")
    await ended(opened)
    further = await replies.go_on(user=user, reply_id=opened.reply.id)
    events = await events_of(further)
    turn = await Message.objects.aget(reply=further.reply)
    assert text_of(events) == turn.text == "I save it. \n\nIt is saved. And once more: \n\nDone."
    kinds = [block["type"] for block in turn.blocks]
    assert kinds == ["text", "tool_use", "tool_result", "text", "tool_use", "tool_result", "text"]
    roles = [message["role"] for message in model.bodies[3]["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
    await are_proven(further.reply)

    await ended(await replies.start(user=user, thread_id=opened.thread.id, content="Thank you"))
    body = json.dumps(model.bodies[-1]["messages"])
    assert "Save notes" not in body  # both were made, so that nobody makes them again


def json_of(use: ScriptedToolUse) -> dict[str, Any]:
    assert isinstance(use.input, dict)
    return use.input


async def test_a_stop_before_anything_new_leaves_the_answer_as_cut_short_as_it_was(
    user: User, model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(cut_short("Half"), scripts.stream(scripts.message_start(), gate), scripts.error(401))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    await ended(opened)
    further = await replies.go_on(user=user, reply_id=opened.reply.id)
    await asyncio.to_thread(gate.wait_until_reached)
    await replies.stop(user=user, reply_id=further.reply.id)
    assert (await ended(further)).status == "stopped"
    assert await path(opened) == [("Tell me", "complete"), ("Half", "incomplete")]
    failed = await replies.retry(user=user, reply_id=further.reply.id)
    assert ((await ended(failed)).status, failed.reply.continues_id) == ("failed", opened.reply.id)
    assert await path(opened) == [("Tell me", "complete"), ("Half", "incomplete")]


@pytest.mark.wide
async def test_another_attempt_at_going_on_begins_where_the_first_one_did(user: User, model: ModelServer) -> None:
    broken = scripts.stream(*scripts.opening_steps(), scripts.text_delta(" of it, and"), BrokenStream())
    model.script(cut_short("Half"), broken, scripts.text(" of it."), scripts.text("Anew."))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    await ended(opened)
    further = await replies.go_on(user=user, reply_id=opened.reply.id)
    await ended(further)
    assert await path(opened) == [("Tell me", "complete"), ("Half of it, and", "failed")]
    again = await replies.retry(user=user, reply_id=further.reply.id)
    await ended(again)
    assert await path(opened) == [("Tell me", "complete"), ("Half of it.", "complete")]
    await ended(await replies.retry(user=user, reply_id=again.reply.id))  # a whole answer is answered anew
    assert await path(opened) == [("Tell me", "complete"), ("Anew.", "complete")]


async def test_only_the_newest_answer_that_was_cut_short_can_be_gone_on_with(user: User, model: ModelServer) -> None:
    model.script(scripts.text("Whole"), cut_short("Half"), scripts.text("Later"))
    whole = await replies.start(user=user, thread_id=None, content="One")
    await ended(whole)
    with pytest.raises(CannotContinue):
        await replies.go_on(user=user, reply_id=whole.reply.id)
    half = await replies.start(user=user, thread_id=whole.thread.id, content="Two")
    await ended(half)
    await ended(await replies.start(user=user, thread_id=whole.thread.id, content="Three"))
    with pytest.raises(CannotContinue):
        await replies.go_on(user=user, reply_id=half.reply.id)


@pytest.mark.once("stop reason")
@pytest.mark.parametrize(
    "too_large",
    [scripts.error(400, TOO_LONG), scripts.error(413), scripts.text(stop_reason="model_context_window_exceeded")],
    ids=["prompt is too long", "request too large", "stop reason"],
)
async def test_what_is_too_large_for_the_model_is_built_once_more_and_smaller(
    user: User, model: ModelServer, too_large: Script
) -> None:
    await Assistant.objects.aupdate(uses_memory=False)
    model.script(*[scripts.text("So it is. " * 40)] * 4, too_large, scripts.text("Yes."))
    opened = await replies.start(user=user, thread_id=None, content="Is it so? " * 40)
    for _ in range(4):
        await ended(opened)
        opened = await replies.start(user=user, thread_id=opened.thread.id, content="Is it so? " * 40)
    assert (await ended(opened)).status == "completed"
    whole, smaller = await requests_of(opened.reply)
    assert (whole.status, whole.error and whole.error["code"]) == ("failed", "request_too_large")
    assert smaller.total_tokens <= smaller.budget == int(whole.total_tokens * 0.7)
    assert smaller.problems == [
        {
            "source": "size",
            "kind": "too_large",
            "message": f"The model could not take the request before. This one was built within {smaller.budget:,} tokens.",
        }
    ]
    assert 0 < smaller.message_history_count < whole.message_history_count
    await are_proven(opened.reply)


async def test_what_is_still_too_large_is_told_clearly(user: User, model: ModelServer) -> None:
    model.script(lambda body: scripts.error(400, TOO_LONG))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    reply = await ended(opened)
    assert reply.error is not None
    assert (reply.error["code"], reply.error["details"]) == ("request_too_large", {"retryable": False})
    assert reply.error["message"].startswith("The conversation is too large for the model")
    assert len(model.requests) <= 2


async def test_an_answer_that_was_thought_away_gets_more_room(user: User, model: ModelServer) -> None:
    model.script(cut_short(), cut_short(), scripts.text("At last."))
    opened = await replies.start(user=user, thread_id=None, content="Think")
    reply = await ended(opened)
    assert reply.error is not None
    assert (reply.status, reply.error["code"], reply.error["details"]) == ("failed", "out_of_room", {"retryable": True})
    again = await replies.retry(user=user, reply_id=reply.id)
    await ended(again)
    await ended(await replies.retry(user=user, reply_id=again.reply.id))
    room = [body["max_tokens"] for body in model.bodies]
    assert room[1:] == [2 * room[0], 4 * room[0]]
    assert await path(opened) == [("Think", "complete"), ("At last.", "complete")]


async def test_a_model_that_pauses_is_asked_to_go_on_but_not_for_ever(user: User, model: ModelServer) -> None:
    paused = scripts.text("and ", stop_reason="pause_turn")
    model.script(paused, scripts.text("on."), *[paused] * 6)
    opened = await replies.start(user=user, thread_id=None, content="Go")
    events = await events_of(opened)
    assert (text_of(events), await path(opened)) == ("and on.", [("Go", "complete"), ("and on.", "complete")])
    assert [said_in(message) for message in model.bodies[1]["messages"]] == [["Go"], ["and "], [GO_ON_WORDS]]
    await are_proven(opened.reply)

    opened = await replies.start(user=user, thread_id=opened.thread.id, content="Go")
    assert (await ended(opened)).stop_reason == "pause_turn"
    assert (await path(opened))[-1] == ("and " * 6, "incomplete")


async def test_what_the_service_asks_to_wait_is_told(user: User, model: ModelServer) -> None:
    model.script(scripts.error(429, headers={"retry-after": "29.5"}))
    reply = await ended(await replies.start(user=user, thread_id=None, content="Hello"))
    assert reply.error is not None
    assert (reply.error["code"], reply.error["details"]) == ("rate_limited", {"retryable": True, "retry_after": 30})
