"""A model that declines: the person is told why in plain words, staff in the provider's, and the turn stays."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import replies
from conversations.context import replay
from conversations.context.record import snapshots
from conversations.context.record.request_record import record_of
from conversations.errors import ModelNotOffered
from conversations.models import Assistant, ContextSnapshot, Message, Reply
from conversations.providers import refusals
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database, read_only
from tests import model_scripts as scripts
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

DETAILS = {"type": "refusal", "category": "cyber", "explanation": "It could do harm."}
STAYS = "Your message stays, but later answers are not given it. You can put it another way."


async def ended(opened: OpenedReply) -> Reply:
    async for _ in replies.follow(opened.reply.id):
        pass
    return await Reply.objects.aget(id=opened.reply.id)


async def last_event(opened: OpenedReply) -> Any:
    return [event.data async for event in replies.follow(opened.reply.id)][-1]


async def stored_turns(opened: OpenedReply) -> list[tuple[str, str, str]]:
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
    assert await stored_turns(opened) == [("user", "Break into this", "refused")]


async def test_what_was_said_before_it_declined_is_shown_as_refused(user: User, model: ModelServer) -> None:
    model.script(scripts.refusal("First you ", category=None))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    ending = await last_event(opened)
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert (reply.status, reply.error, reply.stop_reason) == ("completed", None, "refusal")
    assert await stored_turns(opened) == [("user", "Tell me", "refused"), ("assistant", "First you ", "refused")]
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
        assert seen[-1] == (await stored_turns(opened))[0][2]
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
    assert await stored_turns(opened) == [("user", "A bike shop", "complete"), ("assistant", "Hello", "complete")]


OWN, OTHER = "claude-sonnet-5-5", "claude-sonnet-5"


@pytest.fixture
async def fallback() -> None:
    await Assistant.objects.aupdate(fallback_model=OTHER)


@pytest.fixture
async def automatic(fallback: None) -> None:
    await Assistant.objects.aupdate(fallback_automatic=True)


async def requests_of(reply: Reply) -> list[tuple[str, str, str, str]]:
    rows = ContextSnapshot.objects.filter(reply=reply).order_by("round")
    return [(row.model, row.fallback_for, row.status, row.stop_reason) async for row in rows]


async def test_another_model_answers_where_the_assistant_names_one(
    user: User, model: ModelServer, fallback: None
) -> None:
    model.script(scripts.refusal(), scripts.text("Like this."), scripts.text("Or like this."))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    ending = await last_event(opened)
    assert (ending["reply"]["ways"], ending["reply"]["fallback_model"]) == (["rephrase", "fallback"], OTHER)

    again = await replies.retry(user=user, reply_id=opened.reply.id, model=OTHER)
    reply = await ended(again)
    assert (reply.model, await requests_of(reply)) == (OTHER, [(OTHER, OWN, "completed", "end_turn")])
    assert await stored_turns(opened) == [("user", "Tell me", "complete"), ("assistant", "Like this.", "complete")]
    assert [body["model"] for body in model.bodies] == [OWN, OTHER]
    assert model.bodies[1]["messages"][-1]["content"][0]["text"] == "Tell me"

    another = await ended(await replies.retry(user=user, reply_id=reply.id))  # whoever answered is asked again
    assert (another.model, await requests_of(another)) == (OTHER, [(OTHER, OWN, "completed", "end_turn")])
    for request in [row async for row in ContextSnapshot.objects.filter(thread=opened.thread)]:
        assert await in_database(snapshots.proof)(request)


@pytest.mark.parametrize("asked", ["claude-opus-5-5", "x" * 80])
async def test_no_model_is_asked_that_the_assistant_does_not_name(
    user: User, model: ModelServer, fallback: None, asked: str
) -> None:
    model.script(scripts.refusal())
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    await ended(opened)
    with pytest.raises(ModelNotOffered) as refused:
        await replies.retry(user=user, reply_id=opened.reply.id, model=asked)
    assert (refused.value.status, refused.value.details) == (400, {"models": [OWN, OTHER]})
    assert len(model.requests) == 1


async def test_the_other_model_answers_by_itself_in_the_same_reply(
    user: User, model: ModelServer, automatic: None
) -> None:
    model.claude.verbatim = True  # for its figures
    model.script(scripts.refusal(), scripts.text("Like ", "this."))
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    events = [event async for event in replies.follow(opened.reply.id)]
    started = [event.data for event in events if event.type == "reply.started"]
    assert [(data["model"], data["fallback_for"]) for data in started] == [(OWN, None), (OTHER, OWN)]
    assert "".join(event.data["text"] for event in events if event.type == "reply.delta") == "Like this."
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert await requests_of(reply) == [(OWN, "", "failed", "refusal"), (OTHER, OWN, "completed", "end_turn")]
    assert (reply.usage["input_tokens"], reply.usage["output_tokens"]) == (24, 7)
    assert (events[-1].data["reply"]["model"], events[-1].data["reply"]["fallback_for"]) == (OTHER, OWN)
    assert await stored_turns(opened) == [("user", "Tell me", "complete"), ("assistant", "Like this.", "complete")]
    rows = [row async for row in ContextSnapshot.objects.filter(reply=reply).order_by("round")]
    assert rows[0].stop_details == DETAILS
    for row in rows:
        assert await in_database(snapshots.proof)(row)
        assert await in_database(is_remade)(row)


def is_remade(request: ContextSnapshot) -> bool:
    with read_only():
        record = record_of(request)
        return replay.remake(record, record.settings).is_exact


def own_of_no_model(body: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What was said and done, without what belongs to one model: its thinking, and cache marks, which pay from another size."""
    return [
        [
            {name: value for name, value in block.items() if name != "cache_control"}
            for block in message["content"]
            if block["type"] != "thinking"
        ]
        for message in body["messages"]
    ]


async def test_after_a_tool_the_other_model_goes_on_with_what_was_done(
    user: User, model: ModelServer, automatic: None
) -> None:
    use = scripts.ScriptedToolUse(
        name="save_artifact", input={"title": "Notes", "kind": "document", "content": "# Notes"}
    )
    model.script(scripts.turn("I save it. ", use), scripts.refusal(), scripts.text("Done."))
    opened = await replies.start(user=user, thread_id=None, content="Save it", assistant="analyst")
    reply = await ended(opened)
    assert [each[:3] for each in await requests_of(reply)] == [
        (OWN, "", "completed"),
        (OWN, "", "failed"),
        (OTHER, OWN, "completed"),
    ]
    assert own_of_no_model(model.bodies[2])[1:] == own_of_no_model(model.bodies[1])[1:]
    assert (await stored_turns(opened))[1][1] == "I save it. \n\nDone."
    for row in [row async for row in ContextSnapshot.objects.filter(reply=reply)]:
        assert await in_database(snapshots.proof)(row)
        assert await in_database(is_remade)(row)


@pytest.mark.parametrize(
    "script",
    [[scripts.refusal("First you ")], [scripts.refusal(), scripts.refusal()]],
    ids=["it had begun to write", "the other one declines too"],
)
async def test_what_was_shown_is_not_taken_back_and_nobody_is_asked_twice(
    user: User, model: ModelServer, automatic: None, script: list[scripts.Script]
) -> None:
    model.script(*script)
    opened = await replies.start(user=user, thread_id=None, content="Tell me")
    ending = await last_event(opened)
    assert len(model.requests) == len(script)
    offered = OTHER if len(script) == 1 else None
    assert (ending["reply"]["fallback_model"], ending["reply"]["refusal"]["category"]) == (offered, "cyber")
    assert (await stored_turns(opened))[0] == ("user", "Tell me", "refused")
