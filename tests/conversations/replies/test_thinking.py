"""A model that thinks: readers see that it does, it gets its thinking back within the reply, and nobody else does."""

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from conversations import replies
from conversations.context.record import snapshots
from conversations.context.tokens.estimate import turn_tokens
from conversations.models import Assistant, ContextSnapshot, Message, Model, Reply, Thread, text_blocks
from conversations.providers import model_catalog
from conversations.replies.model_requests import OpenedReply
from tests import model_scripts as scripts
from tests.conversations.factories import make_thread
from tests.model_scripts import Gate, ScriptedToolUse, Thought
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

SEARCH = ScriptedToolUse(name="search_messages", input={"query": "boats"}, id="toolu_1")


@pytest.fixture
def thread(user: User) -> Thread:
    """With an assistant that shows what its model thinks."""
    Assistant.objects.filter(slug="analyst").update(show_thinking="summary", effort="low", thinking_tokens=5_000)
    row = {"label": "Sonnet", "context_window": 1_000_000, "max_output": 128_000, "thinking": "adaptive"}
    ability = {"thinks_unasked": True, "thinking_off": "between_tools", "efforts": ["low", "high"]}
    Model.objects.update_or_create(provider="anthropic", name="claude-sonnet-5-5", defaults=row | ability)
    model_catalog.reread()
    return make_thread(user, assistant=Assistant.objects.get(slug="analyst"))


async def start(user: User, thread: Thread, content: str = "Hello") -> OpenedReply:
    return await replies.start(user=user, thread_id=thread.id, content=content)


async def events_of(opened: OpenedReply) -> list[tuple[str, Any]]:
    events = [event async for event in replies.follow(opened.reply.id)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return [(event.type, event.data) for event in events]


def joined(events: list[tuple[str, dict[str, Any]]], type: str, name: str) -> str:
    return "".join(data[name] for kind, data in events if kind == type)


async def test_silent_thinking_is_told_while_it_lasts_and_leaves_nothing_but_its_time(
    user: User, thread: Thread, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conversations.replies.rounds.TICK_SECONDS", 0.05)
    gate = Gate()
    model.script(scripts.turn(Thought(halfway=(gate,)), "At last."))
    opened, told = await start(user, thread), []
    async for event in replies.follow(opened.reply.id):
        told.append(event)
        if sum(event.type == "reply.thinking" for event in told) == 3:
            gate.open()
    beats = [event.data for event in told if event.type == "reply.thinking"]
    assert [beat["summary"] for beat in beats] == [""] * len(beats)
    assert [beat["seconds"] for beat in beats] == sorted(beat["seconds"] for beat in beats)
    answer = await Message.objects.aget(reply=opened.reply)
    assert (answer.text, answer.content) == ("At last.", None)
    request = await ContextSnapshot.objects.aget(reply=opened.reply)
    assert request.thinking_ms is not None
    assert request.first_token_ms is not None
    assert 100 <= request.thinking_ms <= request.first_token_ms


async def test_a_summary_is_shown_and_kept_beside_the_words(user: User, thread: Thread, model: ModelServer) -> None:
    model.script(
        scripts.turn(
            Thought(pieces=(" \n", "Let me \ud83d", "\udc4b", " see.")), "Well,", Thought(pieces=("Hm.",)), "yes."
        ),
        scripts.text("And no."),
    )
    opened = await start(user, thread)
    events = await events_of(opened)
    answer = await Message.objects.aget(reply=opened.reply)
    assert answer.content == [
        {"type": "thinking", "thinking": "Let me 👋 see."},
        {"type": "text", "text": "Well,"},
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": "yes."},
    ]
    assert joined(events, "reply.thinking", "summary") == "Let me 👋 see.\n\nHm."
    assert joined(events, "reply.delta", "text") == answer.text == "Well,\n\nyes."
    assert answer.token_count == turn_tokens([*text_blocks("Well,"), *text_blocks("yes.")])

    await events_of(await start(user, thread, "Really?"))
    assert "👋" not in str(model.bodies[1])
    first = model.bodies[0]
    assert (first["thinking"], first["output_config"]) == (
        {"type": "adaptive", "display": "summarized"},
        {"effort": "low"},
    )
    assert first["max_tokens"] == thread.assistant.max_output_tokens + 5_000


async def test_thinking_that_comes_unasked_is_not_shown(user: User, thread: Thread, model: ModelServer) -> None:
    """As through a program that can't be told what to show."""
    await Assistant.objects.filter(slug="analyst").aupdate(show_thinking="off")
    model.script(scripts.turn(Thought(pieces=("Let me see.",)), "Yes."))
    opened = await start(user, thread)
    assert joined(await events_of(opened), "reply.thinking", "summary") == ""
    assert (await Message.objects.aget(reply=opened.reply)).content is None
    assert model.bodies[0]["thinking"] == {"type": "adaptive", "display": "omitted"}


async def test_thinking_goes_back_unchanged_within_the_reply_and_nowhere_else(
    user: User, thread: Thread, model: ModelServer
) -> None:
    first, note = Thought(signature="Zmlyc3Q="), Thought(pieces=("Still ", "looking."), signature="bm90ZQ==")
    model.script(
        scripts.turn(first, "\n\nI look. ", note, SEARCH),
        scripts.turn(Thought(signature="dGhpcmQ="), ScriptedToolUse(name="search_messages", input={}, id="toolu_2")),
        scripts.text("Nothing."),
        scripts.text("No."),
    )
    opened = await start(user, thread)
    events = await events_of(opened)
    said = [first.block, {"type": "text", "text": "\n\nI look. "}, note.block]
    call = {"type": "tool_use", "id": "toolu_1", "name": "search_messages", "input": {"query": "boats"}}
    assert [m["content"] for m in model.bodies[1]["messages"] if m["role"] == "assistant"] == [[*said, call]]
    assert model.bodies[2]["messages"][: len(model.bodies[1]["messages"])] == model.bodies[1]["messages"]
    assert model.bodies[2]["messages"][-2]["content"][0] == {
        "type": "thinking",
        "thinking": "",
        "signature": "dGhpcmQ=",
    }
    requests = [request async for request in ContextSnapshot.objects.filter(reply=opened.reply).order_by("round")]
    assert await sync_to_async(lambda: [snapshots.rebuild(one) for one in requests])() == model.bodies
    answer = await Message.objects.aget(reply=opened.reply)
    assert answer.text == joined(events, "reply.delta", "text") == "I look. \n\nNothing."
    assert [block["type"] for block in answer.blocks if block["type"] == "thinking"] == ["thinking"] * 2

    await events_of(await start(user, thread, "Sure?"))
    assert "signature" not in str(model.bodies[3])
    assert "looking" not in str(model.bodies[3])


async def test_what_was_thought_is_left_out_where_the_window_has_to_move_within_a_reply(
    user: User, thread: Thread, model: ModelServer
) -> None:
    """It would be refused: it is bound to all that stood before it."""
    model.claude.ledger.demands_thinking = False
    budgets = {"hard_cap_tokens": 3_500, "total_tokens": 3_000, "history_tokens_high": 1_500, "history_tokens_low": 900}
    await Assistant.objects.filter(slug="analyst").aupdate(**budgets)
    thread = await sync_to_async(make_thread)(user, ["Hm?", "Well. " * 20] * 12, assistant=thread.assistant)
    long = {"title": "Boats", "kind": "document", "content": "We rent boats. " * 250}
    model.script(
        scripts.turn(ScriptedToolUse(name="search_messages", input={}, id="toolu_1")),
        scripts.turn(ScriptedToolUse(name="save_artifact", input=long, id="toolu_2")),
        scripts.turn(ScriptedToolUse(name="search_messages", input={}, id="toolu_3")),
        scripts.text("There it is."),
    )
    opened = await start(user, thread)
    assert (await events_of(opened))[-1][0] == "reply.completed"
    turns = [len(body["messages"]) for body in model.bodies]
    assert turns[1] == turns[0] + 2 and turns[2] < turns[1]
    assert [str(body["messages"]).count("'signature'") for body in model.bodies] == [0, 1, 0, 1]
    requests = [request async for request in ContextSnapshot.objects.filter(reply=opened.reply).order_by("round")]
    assert await sync_to_async(lambda: [snapshots.rebuild(one) for one in requests])() == model.bodies


async def test_a_request_stays_as_it_was_sent_whatever_staff_change(
    user: User, thread: Thread, model: ModelServer
) -> None:
    opened = await start(user, thread)
    await events_of(opened)
    await Assistant.objects.aupdate(show_thinking="off", effort="", thinking_tokens=0, max_output_tokens=7)
    await Model.objects.aupdate(thinking="none", max_output=9, efforts=[])
    request = await ContextSnapshot.objects.aget(reply=opened.reply)
    assert await sync_to_async(snapshots.rebuild)(request) == model.bodies[0]


async def test_a_reply_that_is_stopped_while_it_thinks_leaves_no_turn(
    user: User, thread: Thread, model: ModelServer
) -> None:
    gate = Gate()
    model.script(scripts.turn(Thought(pieces=("So far",), halfway=(gate,)), "Never"))
    opened = await start(user, thread)
    await asyncio.to_thread(gate.wait_until_reached)
    await replies.stop(user=user, reply_id=opened.reply.id)
    assert (await events_of(opened))[-1][0] == "reply.stopped"
    gate.open()
    assert not await Message.objects.filter(thread=thread, role="assistant").aexists()
    request = await ContextSnapshot.objects.aget(reply=opened.reply)
    assert (request.thinking_ms is not None, request.first_token_ms) == (True, None)


async def test_a_reply_that_takes_longer_than_its_assistant_allows_is_ended(
    user: User, thread: Thread, model: ModelServer
) -> None:
    await Assistant.objects.filter(slug="analyst").aupdate(reply_minutes=0)
    opened = await start(user, thread)
    await events_of(opened)
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert (reply.status, (reply.error or {})["code"]) == ("failed", "timeout")


async def test_a_reply_of_nothing_but_thinking_is_out_of_room(user: User, thread: Thread, model: ModelServer) -> None:
    model.script(scripts.turn(Thought(pieces=("All in vain",)), stop_reason="max_tokens"))
    opened = await start(user, thread)
    await events_of(opened)
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert (reply.status, (reply.error or {})["code"]) == ("failed", "out_of_room")
    assert not await Message.objects.filter(thread=thread, role="assistant").aexists()
