"""Event streams that nobody reads are ended in words; other answers wait."""

import asyncio
import json
from typing import Any

import pytest
from pytest_django import Settings

from config.server.pacing import Message, Pace, pace_of, patient

EVENT = b'id: 1\nevent: reply.delta\ndata: {"seq": 1}\n\n'


def start(kind: bytes) -> Message:
    return {"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", kind)]}


async def send_paced(settings: Settings, kind: bytes, body: bytes) -> list[Message]:
    """What is sent to a connection that takes no more after the first piece of a body."""
    settings.OPENBOOK_SLOW_READER_SECONDS = 0.01
    sent: list[Message] = []

    async def application(_: Message, receive: Any, send: Any) -> None:
        await send(start(kind))
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body"})

    paces: list[Pace] = []

    async def send(message: Message) -> None:
        sent.append(message)
        if message["type"] == "http.response.start":
            paces.append(pace_of(message))
        elif message.get("more_body"):
            paces[0].pauseProducing()
            asyncio.get_running_loop().call_later(0.05, paces[0].resumeProducing)
            await paces[0].wait()

    async def receive() -> Message:
        raise AssertionError

    await patient(application)({"type": "http"}, receive, send)
    return sent[1:]


async def test_a_stream_that_nobody_reads_ends_with_an_error(settings: Settings) -> None:
    first, farewell = await send_paced(settings, b"text/event-stream", EVENT)
    assert first["body"] == EVENT
    event, data, *end = farewell.pop("body").decode().split("\n")
    assert (event, end, farewell) == ("event: error", ["", ""], {"type": "http.response.body"})
    error = json.loads(data.removeprefix("data: "))
    assert (error["type"], error["code"]) == ("too_slow", "reader_too_slow")


async def test_an_event_that_was_begun_is_not_made_a_whole_one(settings: Settings) -> None:
    assert (await send_paced(settings, b"text/event-stream", EVENT[:-3]))[1] == {
        "type": "http.response.body",
        "body": b"",
    }


@pytest.mark.parametrize("body", [EVENT, b"{"])
async def test_other_answers_wait_for_their_reader(settings: Settings, body: bytes) -> None:
    assert (await send_paced(settings, b"application/json", body))[1] == {"type": "http.response.body"}
