"""Frames that can't be: each is refused in words, and the socket stays open."""

import json
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations import replies
from conversations.models import Thread
from conversations.runtime.db import in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.web.sockets import Socket, connected
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NO_ID = "`reply` must be an id, as text."
NO_SEQ = "`after` must be the last `seq` that you have, 0 or greater."
NO_TYPE = "A frame's type must be message.send, preset.run, reply.stop, reply.retry, reply.continue or reply.resume, "


async def refusal(socket: Socket) -> tuple[str, str]:
    frame = await socket.receive()
    assert set(frame) == {"type", "reply", "seq", "at", "data"}
    assert (frame["type"], frame["reply"], frame["seq"]) == ("error", None, 0)
    assert set(frame["data"]) - {"wording"} == {"type", "code", "message", "details", "request_id"}
    assert frame["data"]["request_id"]
    return frame["data"]["code"], frame["data"]["message"]


async def works(socket: Socket) -> bool:
    await socket.send("message.send", content="Are you there?")
    ending = (await socket.reply())[-1]
    return ending == ending | {"type": "reply.completed"}


SAY_NOTHING = [
    ("{", "The frame is not JSON. Send one JSON object a frame."),
    ("hello", "The frame is not JSON. Send one JSON object a frame."),
    ("[" * 100_000, "The JSON holds more than 20,000 values. Send less at once."),
    ("[" * 10_000, "The JSON is nested more than 100 levels deep."),
    ("1" * 5_000, "The frame is not JSON. Send one JSON object a frame."),
    ("[]", 'A frame is a JSON object such as {"type": "message.send", "content": "…"}.'),
    ("null", 'A frame is a JSON object such as {"type": "message.send", "content": "…"}.'),
    ('"message.send"', 'A frame is a JSON object such as {"type": "message.send", "content": "…"}.'),
    ("{}", NO_TYPE + "as text."),
    ('{"type": null}', NO_TYPE + "as text."),
    ('{"type": ["message.send"]}', NO_TYPE + "as text."),
    ('{"type": ' + "[" * 90 + "]" * 90 + "}", NO_TYPE + "as text."),
    ('{"type": "message.sent"}', NO_TYPE + "not 'message.sent'."),
    (f'{{"type": "{"x" * 90}"}}', NO_TYPE + f"not '{'x' * 40}'."),
]


async def test_a_frame_that_says_nothing_is_refused_and_the_socket_stays(session: str, model: ModelServer) -> None:
    async with connected(session=session) as socket:
        for text, message in SAY_NOTHING:
            await socket.send_raw(text=text)
            assert await refusal(socket) == ("invalid_frame", message), text[:30]
        assert await works(socket)


async def test_a_binary_frame_is_refused(session: str, model: ModelServer) -> None:
    async with connected(session=session) as socket:
        await socket.send_raw(data=json.dumps({"type": "message.send", "content": "Hello"}).encode())
        message = "Frames are text, not binary: send one JSON object a frame."
        assert await refusal(socket) == ("invalid_frame", message)
        assert await works(socket)


OF_A_REPLY = ["reply.stop", "reply.retry", "reply.continue", "reply.resume"]


async def test_a_reply_id_of_another_type_is_refused(session: str, model: ModelServer) -> None:
    unknown = ("reply_not_found", "There is no such reply, or it isn't yours. Check the id.")
    values: list[Any] = [None, 7, {}, [], True, ""]
    async with connected(session=session) as socket:
        for type, value in product(OF_A_REPLY, values):
            await socket.send(type, reply=value)
            assert await refusal(socket) == (unknown if value == "" else ("invalid_frame", NO_ID)), (type, value)
        assert await works(socket)


async def test_another_users_reply_is_an_unknown_one(other_user: User, session: str) -> None:
    reply = await in_database(lambda: make_reply(make_thread(other_user, ["Mine"])))()
    async with connected(session=session) as socket:
        for type in OF_A_REPLY:
            await socket.send(type, reply=str(reply.id))
            assert (await refusal(socket))[0] == "reply_not_found", type


async def test_a_point_that_cannot_be_is_refused(user: User, session: str) -> None:
    reply = await in_database(lambda: make_reply(make_thread(user, ["Hello?"])))()
    values: list[Any] = [-1, 1.5, "1", None, True, [], 2**31, 10**30]
    async with connected(session=session) as socket:
        for after in values:
            await socket.send("reply.resume", reply=str(reply.id), after=after)
            assert await refusal(socket) == ("invalid_frame", NO_SEQ), after


async def test_a_message_that_is_refused_is_named_by_its_client_message_id(session: str) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "invalid_message"),
        ({"content": " "}, "invalid_message"),
        ({"content": 7}, "invalid_message"),
        ({"content": [{"type": "image"}]}, "invalid_message"),
        ({"content": "x" * 100_001}, "message_too_long"),
        ({"content": "Hello", "assistant": "nobody"}, "invalid_message"),
        ({"content": "Hello", "assistant": 7}, "invalid_frame"),
    ]
    async with connected(session=session) as socket:
        for fields, code in refused:
            await socket.send("message.send", client_message_id="mine-1", **fields)
            error = (await socket.receive())["data"]
            assert (error["code"], error["details"]["client_message_id"]) == (code, "mine-1"), str(fields)[:50]
    assert await Thread.objects.acount() == 0


async def test_a_client_message_id_that_is_no_short_text_is_refused(session: str) -> None:
    words = "`client_message_id` must be a text of at most 100 characters."
    values: list[Any] = [7, {}, "x" * 101, "\ud800", "nul \0", True]
    async with connected(session=session) as socket:
        for id in values:
            await socket.send("message.send", content="Hello", client_message_id=id)
            assert await refusal(socket) == ("invalid_message", words), id
    assert await Thread.objects.acount() == 0


async def test_a_second_message_during_a_reply_is_refused_by_name(session: str, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    async with connected(session=session) as socket:
        await socket.send("message.send", content="First")
        started = await socket.until("reply.delta")
        await socket.send("message.send", content="Second", client_message_id="second")
        error = (await socket.until("error"))[-1]["data"]
        assert (error["code"], error["details"]) == (
            "reply_in_progress",
            {"reply": started[0]["reply"], "client_message_id": "second"},
        )
        gate.open()
        assert (await socket.reply())[-1]["type"] == "reply.completed"


async def test_a_failure_of_ours_is_told_and_the_socket_stays(
    session: str, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(**_: Any) -> None:
        raise ZeroDivisionError("secret")

    async with connected(session=session) as socket:
        with monkeypatch.context() as patch:
            patch.setattr(replies, "start", broken)
            await socket.send("message.send", content="Hello", client_message_id="mine")
            error = (await socket.receive())["data"]
        assert (error["code"], error["message"], error["details"]) == (
            "internal",
            "Something went wrong on the server. Try again.",
            {"client_message_id": "mine"},
        )
        assert await works(socket)
