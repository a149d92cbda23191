"""A reply whose readers are cut off after each of its events, and go on through whichever door: not a byte is another."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from itertools import cycle

import pytest
from django.contrib.auth.models import User

from conversations.replies import events as eventlog
from conversations.replies.events import ENDINGS
from tests import model_scripts as scripts
from tests.conversations.rest.client import Api
from tests.conversations.web.sockets import SECONDS, connected
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

ASKED = {"content": "Make a plan", "assistant": "analyst"}
INPUT = {"title": "A plan", "kind": "document", "content": "# A plan\n\n" + "First this, then that. " * 4}


class ResumingReader:
    """Somebody who reads replies through any door. What comes is kept as it comes: the JSON of each event."""

    def __init__(self, user: User) -> None:
        self.api = Api(user)
        self.token = self.api.headers["Authorization"].removeprefix("Token ")
        self.doors: dict[str, Callable[[str, int], AsyncGenerator[str]]] = {
            "stream": self._stream,
            "header": self._stream_by_header,
            "socket": self._socket,
        }

    async def begin(self, door: str) -> str:
        """Send a message and hang up after the first event."""
        if door == "socket":
            async with connected(token=self.token, origin=None) as socket:
                await socket.send("message.send", **ASKED)
                return str(await socket.wire.receive_from(SECONDS))
        async with aclosing(self._events("POST", "threads/new/messages/stream/", ASKED)) as events:
            return await anext(events)

    async def next(self, door: str, reply: str, after: int) -> str:
        """One event, and the connection is cut."""
        async with aclosing(self.doors[door](reply, after)) as events:
            return await anext(events)

    async def rest(self, door: str, reply: str, after: int = 0) -> list[str]:
        return [event async for event in self.doors[door](reply, after)]

    def _stream(self, reply: str, after: int) -> AsyncGenerator[str]:
        return self._events("GET", f"replies/{reply}/events/?after={after}")

    def _stream_by_header(self, reply: str, after: int) -> AsyncGenerator[str]:
        return self._events("GET", f"replies/{reply}/events/", **{"Last-Event-ID": str(after)})

    async def _events(self, method: str, path: str, body: object = None, **headers: str) -> AsyncGenerator[str]:
        async with aclosing(self.api.frames(method, path, body, **headers)) as frames:  # type: ignore[type-var]
            async for frame in frames:
                yield frame.partition("\ndata: ")[2].removesuffix("\n\n")

    async def _socket(self, reply: str, after: int) -> AsyncGenerator[str]:
        async with connected(token=self.token, origin=None) as socket:
            await socket.send("reply.resume", reply=reply, after=after)
            ended = False
            while not ended:
                frame = str(await socket.wire.receive_from(SECONDS))
                ended = json.loads(frame)["type"] in ENDINGS
                yield frame


@pytest.fixture
def reader(user: User) -> ResumingReader:
    return ResumingReader(user)


@pytest.mark.once("stream")
@pytest.mark.parametrize(
    "doors", [("stream",), ("header",), ("socket",), ("socket", "stream", "header")], ids=" and ".join
)
async def test_a_reader_who_is_cut_off_after_every_event_misses_nothing(
    reader: ResumingReader, model: ModelServer, doors: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reply of two rounds with a tool between; it waits at two places until the reader has come so far."""
    monkeypatch.setattr(eventlog, "READ_AT_ONCE", 3)
    monkeypatch.setattr(eventlog, "HELD_CHARS", 8)
    writing, saying = scripts.Gate(), scripts.Gate()
    plan = scripts.ScriptedToolUse(name="save_artifact", input=INPUT, halfway=(writing,))
    model.script(scripts.turn("I make it. ", plan), scripts.text("It is ", saying, "saved."))
    used = cycle(doors)
    cut = [await reader.begin(next(used))]
    reply = json.loads(cut[0])["reply"]
    beside = asyncio.create_task(reader.rest("stream", reply))
    while (newest := json.loads(cut[-1]))["type"] not in ENDINGS:
        if newest["type"] == "tool.started":
            writing.open()
        if "It is" in newest["data"].get("text", ""):
            saying.open()
        cut.append(await reader.next(next(used), reply, len(cut)))

    events = [json.loads(event) for event in cut]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    kinds = {event["type"] for event in events}
    assert kinds > {"message.saved", "reply.delta", "tool.started", "tool.delta", "tool.finished", "reply.completed"}
    assert await beside == cut
    for door in doors:
        for after in range(len(cut)):
            assert cut[:after] + await reader.rest(door, reply, after) == cut
