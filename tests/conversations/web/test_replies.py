"""Replies over sockets: the same events for every reader, from any point, whoever started them."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from conversations.models import Message, Reply, Thread
from tests import model_scripts as scripts
from tests.conversations.web.sockets import Frame, connected
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def text_of(frames: list[Frame]) -> str:
    return "".join(frame["data"]["text"] for frame in frames if frame["type"] == "reply.delta")


def kinds(frames: list[Frame]) -> list[str]:
    return [frame["type"] for frame in frames if frame["type"] not in ("reply.thinking", "reply.delta")]


async def stored_turns() -> list[tuple[int, str, str]]:
    rows = Message.objects.filter(is_active=True).order_by("position")
    return [(row.position, row.text, row.status) async for row in rows]


async def test_a_new_thread_is_opened_by_its_first_message_and_goes_on(session: str, model: ModelServer) -> None:
    model.script(scripts.text("Good ", "evening"), scripts.text("And ", "a good night"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", client_message_id="one")
        first = await socket.reply()
        await socket.send("message.send", content="Sleep well", client_message_id="two")
        second = await socket.reply()
        assert await socket.silent()
    thread = await Thread.objects.aget()
    for frames, sent, said in ((first, "one", "Good evening"), (second, "two", "And a good night")):
        assert kinds(frames) == ["message.saved", "context.built", "reply.started", "reply.completed"]
        assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
        assert all(set(frame) == {"type", "reply", "seq", "at", "data"} for frame in frames)
        assert frames[0]["data"]["thread"] == str(thread.id)
        assert frames[0]["data"]["message"]["client_message_id"] == sent
        assert text_of(frames) == frames[-1]["data"]["message"]["text"] == said
    assert await stored_turns() == [
        (1, "Hello", "complete"),
        (2, "Good evening", "complete"),
        (3, "Sleep well", "complete"),
        (4, "And a good night", "complete"),
    ]


async def test_a_token_sends_as_a_session_does(token: str, model: ModelServer) -> None:
    async with connected(token=token, origin=None) as socket:
        await socket.send("message.send", content="Hello")
        assert kinds(await socket.reply())[-1] == "reply.completed"


async def test_the_same_message_again_is_answered_with_the_same_events(session: str, model: ModelServer) -> None:
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello", client_message_id="once")
        first = await socket.reply()
        await socket.send("message.send", content="Hello", client_message_id="once")
        assert await socket.reply() == first
    async with connected(session=session) as late:
        await late.send("message.send", content="Hello", client_message_id="once")
        assert await late.reply() == first
    assert (len(model.bodies), await Message.objects.acount()) == (1, 2)


async def test_a_second_tab_gets_the_same_events(session: str, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("One"), scripts.text("before ", gate, "after"))
    async with connected(session=session) as one:
        await one.send("message.send", content="First")
        thread = (await one.reply())[0]["data"]["thread"]
        async with connected(thread, session=session) as two:
            await one.send("message.send", content="Second")
            seen = await two.until("reply.delta")
            gate.open()
            assert seen + await two.reply() == await one.reply()
            assert await one.silent()
            assert await two.silent()


async def test_a_socket_that_comes_in_the_middle_gets_all_from_the_first(session: str, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    async with connected(session=session) as one:
        await one.send("message.send", content="Hello")
        before = await one.until("reply.delta")
        async with connected(before[0]["data"]["thread"], session=session) as late:
            joined = await late.until("reply.delta")
            assert joined == before
            gate.open()
            assert await late.reply() == await one.reply()


async def test_a_thread_at_rest_tells_nothing(session: str, model: ModelServer) -> None:
    async with connected(session=session) as one:
        await one.send("message.send", content="Hello")
        thread = (await one.reply())[0]["data"]["thread"]
    async with connected(thread, session=session) as late:
        assert await late.silent()


async def test_a_reply_is_resumed_from_every_point(session: str, model: ModelServer) -> None:
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello")
        events = await socket.reply()
        for after in range(len(events)):
            await socket.send("reply.resume", reply=events[0]["reply"], after=after)
            assert await socket.reply() == events[after:]
        await socket.send("reply.resume", reply=events[0]["reply"], after=len(events))
        assert await socket.silent()


async def test_a_running_reply_is_resumed_without_a_repetition(session: str, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello")
        before = await socket.until("reply.delta")
        await socket.send("reply.resume", reply=before[0]["reply"], after=before[-1]["seq"])
        assert await socket.silent()
        gate.open()
        after = await socket.reply()
    assert [frame["seq"] for frame in before + after] == list(range(1, len(before + after) + 1))
    assert text_of(before + after) == "before after"


async def test_stopping_keeps_the_text_so_far(session: str, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("so far", gate, " and no further"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Talk")
        before = await socket.until("reply.delta")
        await socket.send("reply.stop", reply=before[0]["reply"])
        ending = (await socket.reply())[-1]
    assert (ending["type"], ending["data"]["message"]["text"]) == ("reply.stopped", "so far")
    assert await stored_turns() == [(1, "Talk", "complete"), (2, "so far", "stopped")]


async def test_a_failed_reply_is_retried_for_the_same_turn(session: str, model: ModelServer) -> None:
    model.script(scripts.error(401), scripts.text("Now it works"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello")
        failed = (await socket.reply())[-1]
        assert (failed["type"], failed["data"]["error"]["code"]) == ("reply.failed", "authentication")
        await socket.send("reply.retry", reply=failed["reply"])
        again = await socket.reply()
        assert await socket.silent()
    assert again[-1]["type"] == "reply.completed"
    assert again[0]["data"]["message"]["id"] == failed["data"]["user_message"]
    assert again[0]["reply"] != failed["reply"]
    assert await stored_turns() == [(1, "Hello", "complete"), (2, "Now it works", "complete")]


async def test_closing_the_socket_stops_nothing(session: str, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello")
        before = await socket.until("reply.delta")
    gate.open()
    async with connected(before[0]["data"]["thread"], session=session) as back:
        await back.send("reply.resume", reply=before[0]["reply"], after=before[-1]["seq"])
        frames = await back.reply()
    assert frames[-1]["type"] == "reply.completed"
    assert await stored_turns() == [(1, "Hello", "complete"), (2, "before after", "complete")]


async def test_a_reply_that_a_program_starts_shows_on_the_open_page(
    user: User, session: str, model: ModelServer
) -> None:
    async with connected(session=session) as socket:
        await socket.send("message.send", content="Hello")
        thread = (await socket.reply())[0]["data"]["thread"]
        client: Any = AsyncClient()
        await client.aforce_login(user)
        path = f"/api/v1/threads/{thread}/messages/"
        sent = asyncio.create_task(client.post(path, {"content": "From elsewhere"}, content_type="application/json"))
        frames = await socket.reply()
        answer = (await sent).json()
    assert (frames[0]["reply"], frames[0]["data"]["message"]["id"]) == (
        answer["reply"]["id"],
        answer["user_message"]["id"],
    )
    assert frames[-1]["data"]["message"] == answer["assistant_message"]
    assert await Reply.objects.acount() == 2
