"""Replies as Server-Sent Events: from any point, as often as one likes, the same bytes."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.context.record.usage import usage_answer
from conversations.models import Message, Reply, ReplyEvent
from conversations.rest import streams
from conversations.runtime.db import in_database
from conversations.threads.deletion import allow_deletion
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread
from tests.conversations.rest.client import Api, Event, parsed
from tests.model_server import ModelServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


async def send_message(api: Api, content: str = "Hello") -> list[str]:
    return [frame async for frame in api.frames("POST", "threads/new/messages/stream/", {"content": content})]


NO_REQUEST_YET: dict[str, Any] = {
    "request": None,
    "message_history_count": None,
    "total_tokens": None,
    "model": None,
    "provider": None,
    "stop_reason": "",
    "ways": [],
    "ended_at": None,
}


def end_earlier() -> None:
    with allow_deletion():  # what has ended can't be changed otherwise
        ReplyEvent.objects.update(at=timezone.now() - timedelta(hours=2))


async def resumed(api: Api, reply: Any, query: str = "", **headers: str) -> list[str]:
    return [frame async for frame in api.frames("GET", f"replies/{reply}/events/{query}", **headers)]


async def test_a_stream_tells_the_whole_reply_in_the_order_of_the_contract(
    user: User, api: Api, model: ModelServer
) -> None:
    model.script(scripts.text("Good ", "evening"))
    events = [parsed(frame) for frame in await send_message(api)]
    reply, answer = await Reply.objects.aget(), await Message.objects.aget(role="assistant")

    kinds = [event["type"] for event in events if event["type"] not in ("reply.thinking", "reply.delta")]
    assert kinds == ["message.saved", "context.built", "reply.started", "reply.completed"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["reply"] for event in events} == {str(reply.id)}
    assert all(set(event) == {"type", "reply", "seq", "at", "data"} for event in events)
    said = "".join(event["data"]["text"] for event in events if event["type"] == "reply.delta")
    assert said == answer.text == "Good evening"

    exchange = (await api.get(f"threads/{reply.thread_id}/messages/")).body["results"]
    opening = exchange[0]["reply"] | {"status": "running"} | NO_REQUEST_YET
    assert events[0]["data"] == {
        "thread": str(reply.thread_id),
        "title": "Hello",
        "message": exchange[0] | {"reply": opening},
    }
    assert events[-1]["data"] == {
        "message": exchange[1],
        "thread": str(reply.thread_id),
        "user_message": exchange[0]["id"],
        "user_message_status": "complete",
        "reply": exchange[1]["reply"],
        "usage": usage_answer(reply.usage),
        "stop_reason": "end_turn",
        "request": exchange[1]["reply"]["request"],
    }


async def test_a_failure_ends_the_stream_with_its_error(user: User, api: Api, model: ModelServer) -> None:
    model.script(scripts.error(401))
    ending = parsed((await send_message(api))[-1])
    reply = await Reply.objects.aget()
    assert (ending["type"], ending["data"]["error"], ending["data"]["message"]) == ("reply.failed", reply.error, None)


async def test_what_is_refused_before_the_stream_is_an_ordinary_error(user: User, api: Api) -> None:
    assert (await api.post("threads/new/messages/stream/", {"content": ""})).code[0] == 400


async def test_a_browsers_event_source_is_served(user: User, api: Api, model: ModelServer) -> None:
    """It accepts nothing but streams."""
    frames = await send_message(api)
    reply = await Reply.objects.aget()
    assert await resumed(api, reply.id, Accept="text/event-stream") == frames
    refused = await api.get("replies/unknown/events/", Accept="text/event-stream")
    assert refused.code == (404, "not_found", "reply_not_found")


async def test_a_stream_is_resumed_from_every_point_byte_for_byte(user: User, api: Api, model: ModelServer) -> None:
    frames = await send_message(api, "Say many words, so that there is something to resume")
    reply = await Reply.objects.aget()
    for after in range(len(frames) + 1):
        assert await resumed(api, reply.id, f"?after={after}") == frames[after:]
        assert await resumed(api, reply.id, **{"Last-Event-ID": str(after)}) == frames[after:]
    assert await resumed(api, reply.id) == frames


async def test_a_reconnecting_browser_goes_on_where_it_was_and_not_where_it_first_began(
    user: User, api: Api, model: ModelServer
) -> None:
    """It asks for the same address as before, and says in the header what it has got since."""
    frames = await send_message(api)
    reply = await Reply.objects.aget()
    assert await resumed(api, reply.id, "?after=1", **{"Last-Event-ID": "3"}) == frames[3:]


async def test_a_point_that_cannot_be_is_refused(user: User, api: Api) -> None:
    cases: list[str] = ["?after=-1", "?after=x", "?after=1.0", "?after=9999999999", "?after=٣"]
    for query in cases:
        reply = await in_database(lambda: make_reply(make_thread(user, ["Hello?"])))()
        answer = await api.get(f"replies/{reply.id}/events/{query}")
        assert answer.refusal[1]["message"] == "`after` must be the last `seq` that you have, 0 or greater.", query
        assert answer.status == 400, query


async def test_a_stream_that_is_joined_in_the_middle_has_what_came_before(
    user: User, api: Api, model: ModelServer
) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    first = asyncio.create_task(send_message(api))
    await asyncio.to_thread(gate.wait_until_reached)
    reply = await Reply.objects.aget()
    late: list[Event] = []
    async for event in api.events("GET", f"replies/{reply.id}/events/"):
        late.append(event)
        if event["type"] == "reply.delta":
            gate.open()
    assert late == [parsed(frame) for frame in await first]


async def test_a_reader_who_leaves_stops_nothing(user: User, api: Api, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    frames = api.frames("POST", "threads/new/messages/stream/", {"content": "Hello"})
    assert parsed(await anext(frames))["type"] == "message.saved"
    await frames.aclose()  # type: ignore[attr-defined]
    gate.open()
    reply = await Reply.objects.aget()
    assert parsed((await resumed(api, reply.id))[-1])["data"]["message"]["text"] == "before after"


async def test_after_the_events_are_purged_the_reply_is_told_in_one_delta(
    user: User, api: Api, model: ModelServer
) -> None:
    frames = await send_message(api)
    whole = parsed(frames[-1])
    reply = await Reply.objects.aget()
    await in_database(end_earlier)()
    ended = await Reply.objects.aget()
    assert ended.ended_at is not None
    purged, _ = await ReplyEvent.objects.all().adelete()
    assert purged == len(frames) - 1  # the first is told by the turn

    delta, ending = [parsed(frame) for frame in await resumed(api, reply.id, "?after=4")]
    text = whole["data"]["message"]["text"]
    created = whole["data"]["message"]["created_at"]
    expected = {
        "type": "reply.delta",
        "reply": str(reply.id),
        "seq": 1,
        "at": created,
        "data": {"text": text, "whole": True},
    }
    assert delta == expected
    assert ending == whole | {"seq": 2, "at": ended.ended_at.isoformat().replace("+00:00", "Z")}


async def test_a_silent_stream_is_kept_open_by_comments(
    user: User, api: Api, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.05)
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    frames: list[str] = []
    async for frame in api.frames("POST", "threads/new/messages/stream/", {"content": "Hello"}):
        frames.append(frame)
        if frames.count(": nothing new\n\n") == 3:
            gate.open()
    told = [parsed(frame) for frame in frames if not frame.startswith(":")]
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))
    assert told[-1]["data"]["message"]["text"] == "before after"
