"""What a reply used is stored and counted as far as the provider told it, however the reply ended."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import replies
from conversations.accounts import allowances
from conversations.context.tokens.estimate import TURN_OVERHEAD
from conversations.models import Assistant, ContextSnapshot, Message, Reply
from conversations.replies.model_requests import OpenedReply
from conversations.runtime.db import in_database
from conversations.upkeep.hourly_figures import cost_of, hours
from tests import model_scripts as scripts
from tests.model_scripts import BrokenStream, Script, ScriptedToolUse
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

INPUT = {"input_tokens": 12, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}
WHOLE = INPUT | {"output_tokens": 7}
BEGUN = INPUT | {"output_tokens": 1}
DECLINED = INPUT
NONE: dict[str, int] = {}
SAVE = {"title": "Notes", "kind": "document", "content": "# Notes"}


@pytest.fixture(autouse=True)
def figures(model: ModelServer) -> None:
    """What is told is what the scripts say, to the figure."""
    model.claude.verbatim = True


def floor(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


async def ended(opened: OpenedReply) -> Reply:
    async for _ in replies.follow(opened.reply.id):
        pass
    return await Reply.objects.aget(id=opened.reply.id)


async def usages(reply: Reply) -> list[dict[str, int]]:
    return [row.usage async for row in ContextSnapshot.objects.filter(reply=reply).order_by("id")]


def added(*usages: dict[str, int]) -> dict[str, int]:
    return {name: sum(usage[name] for usage in usages) for name in WHOLE}


FREE = (scripts.refusal(), scripts.refusal(category=None))
ENDINGS: list[tuple[str, Script, tuple[str, str], dict[str, int]]] = [
    ("refused at once", scripts.refusal(category="bio"), ("failed", "refusal"), DECLINED),
    ("refused at once and not billed", FREE[0], ("failed", "refusal"), DECLINED),
    ("refused at once without a word", FREE[1], ("failed", "refusal"), DECLINED),
    ("refused after text", scripts.refusal("Half "), ("completed", "refusal"), WHOLE),
    ("empty", scripts.text(), ("failed", "end_turn"), WHOLE),
    ("nothing but thinking", scripts.text(stop_reason="max_tokens"), ("failed", "max_tokens"), WHOLE),
    ("cut short", scripts.text("Half", stop_reason="max_tokens"), ("completed", "max_tokens"), WHOLE),
    (
        "cut off",
        scripts.stream(*scripts.opening_steps(), scripts.text_delta("Half"), BrokenStream()),
        ("failed", ""),
        BEGUN,
    ),
    (
        "overloaded in mid-reply",
        scripts.stream(
            *scripts.opening_steps(), scripts.text_delta("x"), scripts.error_body("overloaded_error", "Busy")
        ),
        ("failed", ""),
        BEGUN,
    ),
    ("refused by the service", scripts.error(400), ("failed", ""), NONE),
]


@pytest.mark.once("refused after text", "cut off")
@pytest.mark.parametrize(("script", "ending", "usage"), [row[1:] for row in ENDINGS], ids=[row[0] for row in ENDINGS])
async def test_what_the_provider_told_is_stored_and_counted(
    user: User, model: ModelServer, script: Script, ending: tuple[str, str], usage: dict[str, int]
) -> None:
    model.script(script)
    reply = await ended(await replies.start(user=user, thread_id=None, content="Hello"))
    assert ((reply.status, reply.stop_reason), reply.usage, await usages(reply)) == (ending, usage, [usage])

    request = await ContextSnapshot.objects.aget(reply=reply)
    assert (request.provider_message_id, request.provider_request_id) == (
        ("msg_local", "req_local") if usage else ("", "")
    )
    is_billed = bool(usage) and script not in FREE
    assert ((await in_database(cost_of)(request) or 0) > 0) == is_billed
    [hour] = await in_database(
        lambda: list(hours(floor(request.created_at), request.created_at + timedelta(minutes=1)))
    )()
    assert (hour.figures["input"], hour.figures["reported"]) == (INPUT["input_tokens"] * is_billed, bool(usage))
    turn = await Message.objects.filter(reply=reply).afirst()
    written = turn.token_count - TURN_OVERHEAD if turn and not reply.stop_reason else 0
    spent = sum(usage.values()) + max(written - usage.get("output_tokens", 0), 0)
    spent *= is_billed  # what a service declines for free takes nothing of a limit
    assert await in_database(allowances.use_of)(user.pk) == allowances.AllowanceUse(running=0, spent=spent, reserved=0)
    assert (await in_database(allowances.recounted)(user.pk)).spent == spent


async def test_the_rounds_before_an_end_that_is_not_good_count_too(user: User, model: ModelServer) -> None:
    save = scripts.turn("I save it. ", ScriptedToolUse(name="save_artifact", input=SAVE))
    cut = scripts.stream(*scripts.opening_steps(), scripts.text_delta("It is"), BrokenStream())
    model.script(save, cut)
    reply = await ended(await replies.start(user=user, thread_id=None, content="Save this", assistant="analyst"))
    assert (reply.status, reply.usage, await usages(reply)) == ("failed", added(WHOLE, BEGUN), [WHOLE, BEGUN])


async def test_a_stopped_reply_counts_what_it_was_told_and_what_it_wrote(user: User, model: ModelServer) -> None:
    gate, text = scripts.Gate(), "So many words were written already by then. " * 20
    model.script(scripts.text(text, gate))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    await asyncio.to_thread(gate.wait_until_reached)
    await until_written(opened)
    await replies.stop(user=user, reply_id=opened.reply.id)
    reply = await ended(opened)
    turn = await Message.objects.aget(reply=reply)
    assert (reply.status, reply.usage, await usages(reply)) == ("stopped", BEGUN, [BEGUN])
    assert turn.token_count > 100
    assert (await in_database(allowances.use_of)(user.pk)).spent == sum(
        INPUT.values()
    ) + turn.token_count - TURN_OVERHEAD


async def test_a_reply_that_is_stopped_before_it_wrote_anything_counts_what_was_set_aside(
    user: User, model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.stream(scripts.message_start(), gate))
    opened = await replies.start(user=user, thread_id=None, content="Hello")
    await asyncio.to_thread(gate.wait_until_reached)
    await replies.stop(user=user, reply_id=opened.reply.id)
    await ended(opened)
    assert (await in_database(allowances.use_of)(user.pk)).spent == opened.reply.reserved
    assert (await in_database(allowances.recounted)(user.pk)).spent == opened.reply.reserved


async def test_a_query_that_fails_costs_what_it_cost(user: User, model: ModelServer) -> None:
    await Assistant.objects.aupdate(rewriting="model")
    first = await replies.start(user=user, thread_id=None, content="Who is Donald Trump?")
    await ended(first)
    cut = scripts.stream(*scripts.opening_steps(), scripts.text_delta("Who are"), BrokenStream())
    model.script(cut, scripts.text("Five of them."))
    reply = await ended(await replies.start(user=user, thread_id=first.thread.id, content="who are his children"))
    assert (await usages(reply), reply.usage) == ([BEGUN, WHOLE], WHOLE)


async def until_written(opened: OpenedReply) -> None:
    events: Any = replies.follow(opened.reply.id)
    async for event in events:
        if event.type == "reply.delta":
            break
    await events.aclose()
