"""A model that declines: the person is told why in plain words, staff in the provider's, and the turn stays."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import replies
from conversations.db import in_database
from conversations.models import ContextSnapshot, Message, Reply
from conversations.providers import refusals
from conversations.replies.store import Opened
from tests import model_scripts as scripts
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

DETAILS = {"type": "refusal", "category": "cyber", "explanation": "It could do harm."}
STAYS = "Your message stays, but later answers are not given it. You can put it another way."


async def ended(opened: Opened) -> Reply:
    async for _ in replies.follow(opened.reply.id):
        pass
    return await Reply.objects.aget(id=opened.reply.id)


async def last_event(opened: Opened) -> dict[str, Any]:
    return [event.data async for event in replies.follow(opened.reply.id)][-1]


async def stored(opened: Opened) -> list[tuple[str, str, str]]:
    rows = Message.objects.filter(thread=opened.thread, is_active=True).order_by("position")
    return [(row.role, row.text, row.status) async for row in rows]


async def test_what_was_declined_before_a_word_is_told_in_plain_words(user: User, model: ModelServer) -> None:
    model.script(scripts.refusal())
    opened = await replies.start(user=user, thread_id=None, content="Break into this")
    reply = await ended(opened)
    assert reply.error is not None
    assert (reply.status, reply.stop_reason, reply.error["code"], reply.error["details"]) == (
        "failed",
        "refusal",
        "refused",
        {"retryable": False, "category": "cyber"},
    )
    assert reply.error["message"].startswith("The model declined to answer this: it looks like something")
    assert reply.error["message"].endswith(STAYS)
    assert "It could do harm." not in reply.error["message"]
    request = await ContextSnapshot.objects.aget(reply=reply)
    assert (request.status, request.stop_reason, request.stop_details) == ("failed", "refusal", DETAILS)
    assert await stored(opened) == [("user", "Break into this", "refused")]


async def test_what_was_said_before_it_declined_is_shown_as_refused(user: User, model: ModelServer) -> None:
    model.script(scripts.refusal("First you ", category=None))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    ending = await last_event(opened)
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert (reply.status, reply.error, reply.stop_reason) == ("completed", None, "refusal")
    assert await stored(opened) == [("user", "Tell me", "refused"), ("assistant", "First you ", "refused")]
    request = await ContextSnapshot.objects.aget(reply=reply)
    assert (request.status, request.error and request.error["code"]) == ("completed", "refused")

    assert (ending["user_message_status"], ending["reply"]["ways"]) == ("refused", ["rephrase"])
    assert ending["reply"]["refusal"] == {
        "category": None,
        "message": f"The model stopped here and declined to go on: it didn't say why. {STAYS}",
    }


async def test_a_turn_that_is_answered_after_all_is_whole_again(user: User, model: ModelServer) -> None:
    model.script(scripts.refusal(), scripts.error(401), scripts.text("Well then."), scripts.refusal("But "))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    seen = [(await last_event(opened))["user_message_status"]]
    for _ in range(3):
        opened = await replies.retry(user=user, reply_id=opened.reply.id)
        seen.append((await last_event(opened))["user_message_status"])
        assert seen[-1] == (await stored(opened))[0][2]
    assert seen == ["refused", "refused", "complete", "refused"]
    texts = [[block["text"] for block in body["messages"][-1]["content"]] for body in model.bodies]
    assert texts == [["Tell me"]] * 4  # the newest message is what is answered, refused or not


async def test_an_unknown_category_is_kept_and_has_words(user: User, model: ModelServer) -> None:
    model.script(scripts.refusal(category="of_the_future", explanation=None))
    reply = await ended(await replies.start(user=user, thread_id=None, content="Tell me"))
    assert reply.error is not None
    assert reply.error["details"]["category"] == "of_the_future"
    assert reply.error["message"] == f"The model declined to answer this: {refusals.NO_REASON}. {STAYS}"


async def test_a_preset_that_is_declined_makes_nothing_of_what_was_said(user: User, model: ModelServer) -> None:
    model.script(scripts.text("Hello"), scripts.refusal("# Half a document"))
    opened = await replies.start(user=user, thread_id=None, content="A bike shop", assistant="analyst")
    await ended(opened)
    preset = await in_database(lambda: opened.thread.assistant.presets.first())()
    assert preset
    reply = await ended(await replies.start_preset(user=user, thread_id=opened.thread.id, preset=preset.slug))
    assert reply.error is not None
    assert (reply.status, reply.error["code"]) == ("failed", "refused")
    assert reply.error["message"].startswith("The model declined to make this: it looks like")
    assert STAYS not in reply.error["message"]
    assert await stored(opened) == [("user", "A bike shop", "complete"), ("assistant", "Hello", "complete")]
