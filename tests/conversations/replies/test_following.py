"""Reading along: from any point, by any number of readers, to the same bytes."""

import asyncio
import uuid
from datetime import timedelta
from itertools import count
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from conversations import replies
from conversations.models import Message, Reply, ReplyEvent
from conversations.replies import closing, events, leases
from conversations.replies.follow import newest_reply
from conversations.replies.journal import journal
from conversations.runtime.db import connect, in_database
from tests import model_scripts as scripts
from tests.conversations.factories import make_reply, make_thread
from tests.model_server import ModelServer
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

NO_TIME = timedelta()
WORDS = [f"word{n} " for n in range(40)]


def error_of(reply: Reply) -> dict[str, Any]:
    assert reply.error is not None
    return dict(reply.error)


async def read_events(reply_id: uuid.UUID, after: int = 0) -> list[Any]:
    return [event.envelope() async for event in replies.follow(reply_id, after)]


async def test_readers_see_the_same_from_any_point(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text(*WORDS[:20], gate, *WORDS[20:]))
    opened = await replies.start(user=user, thread_id=None, content="Count")
    early = asyncio.create_task(read_events(opened.reply.id))
    await asyncio.to_thread(gate.wait_until_reached)
    midway = asyncio.create_task(read_events(opened.reply.id, 3))
    gate.open()
    whole = await early

    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    assert [event["type"] for event in whole[:3]] == ["message.saved", "context.built", "reply.started"]
    assert {event["type"] for event in whole[3:-1]} == {"reply.thinking", "reply.delta"}
    assert whole[-1]["type"] == "reply.completed"
    assert await midway == whole[3:]
    for after in range(len(whole)):
        assert await read_events(opened.reply.id, after) == whole[after:]
    assert await read_events(opened.reply.id, len(whole)) == []
    answer = await Message.objects.aget(reply=opened.reply)
    assert "".join(event["data"].get("text", "") for event in whole[3:-1]) == answer.text == "".join(WORDS)
    assert whole[-1]["data"]["message"]["text"] == answer.text


async def test_a_reader_who_takes_a_while_misses_nothing(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("One ", gate, "two."))
    opened = await replies.start(user=user, thread_id=None, content="Count")
    slow = replies.follow(opened.reply.id)
    seen = [(await anext(slow)).envelope()]
    gate.open()
    whole = await read_events(opened.reply.id)
    assert seen + [event.envelope() async for event in slow] == whole


async def test_words_that_come_fast_become_few_deltas(user: User, model: ModelServer) -> None:
    model.script(scripts.text(*(f"{n} " for n in range(2_000))))
    opened = await replies.start(user=user, thread_id=None, content="Fast")
    deltas = [event for event in await read_events(opened.reply.id) if event["type"] == "reply.delta"]
    assert "".join(event["data"]["text"] for event in deltas) == "".join(f"{n} " for n in range(2_000))
    assert len(deltas) < 200


async def test_once_purged_the_whole_text_comes_as_one_delta(user: User, model: ModelServer) -> None:
    model.script(scripts.text("all ", "of ", "it"))
    opened = await replies.start(user=user, thread_id=None, content="Say")
    before = await read_events(opened.reply.id)
    purged, _ = await ReplyEvent.objects.all().adelete()
    assert purged == len(before) - 1  # the first is told by the turn
    after = await read_events(opened.reply.id)
    assert [(event["seq"], event["type"]) for event in after] == [(1, "reply.delta"), (2, "reply.completed")]
    assert after[0]["data"] == {"text": "all of it", "whole": True}
    assert after[1]["data"] == before[-1]["data"]


@pytest.mark.parametrize("lease_in", [timedelta(seconds=-1), timedelta(days=2)], ids=["run out", "clock was set back"])
async def test_a_reply_left_behind_is_interrupted_with_its_text_kept(user: User, lease_in: timedelta) -> None:
    reply = await in_database(left_behind)(user, lease_in=lease_in)
    await in_database(leases.sweep)()
    await in_database(leases.sweep)()
    assert await Reply.objects.filter(id=reply.id, status="running", suspected_at__isnull=False).aexists()
    await in_database(leases.sweep)(NO_TIME)

    reply = await Reply.objects.aget(id=reply.id)
    assert (reply.status, error_of(reply)["code"], error_of(reply)["details"]) == (
        "interrupted",
        "interrupted",
        {"retryable": True},
    )
    answer = await Message.objects.aget(reply=reply)
    assert (answer.text, answer.status, answer.position) == ("half a sentence", "interrupted", 2)
    assert [event["type"] for event in await read_events(reply.id)] == [
        "message.saved",
        "reply.delta",
        "reply.delta",
        "reply.interrupted",
    ]
    before = await ReplyEvent.objects.acount()
    await in_database(leases.sweep)(NO_TIME)
    assert await ReplyEvent.objects.acount() == before


async def test_a_living_process_keeps_its_reply(user: User) -> None:
    reply = await in_database(left_behind)(user, lease_in=timedelta(seconds=30))
    for _ in range(2):
        await in_database(leases.sweep)(NO_TIME)
    assert (await Reply.objects.aget(id=reply.id)).status == "running"


async def test_a_lease_that_is_renewed_after_it_ran_out_is_respected(user: User) -> None:
    """All leases run out while the database is away, or when the clock is set."""
    reply = await in_database(left_behind)(user, lease_in=timedelta(seconds=-1))
    await in_database(leases.sweep)()
    await Reply.objects.filter(id=reply.id).aupdate(owner=events.OWNER)
    assert await in_database(events.beat)(users=[user.pk], replies=[reply.id], events=[]) == {reply.id: False}
    await Reply.objects.filter(id=reply.id).aupdate(lease_until=timezone.now())
    await in_database(leases.sweep)(NO_TIME)
    assert (await Reply.objects.aget(id=reply.id)).status == "running"


async def test_sending_again_does_not_wait_for_a_dead_process(user: User, model: ModelServer) -> None:
    dead = await in_database(left_behind)(user, lease_in=timedelta(seconds=-1))
    opened = await replies.start(user=user, thread_id=dead.thread_id, content="Still there?")
    assert (await read_events(opened.reply.id))[-1]["type"] == "reply.completed"
    assert [message["content"] for message in model.bodies[0]["messages"]] == [
        [{"type": "text", "text": "Hello?"}],
        [{"type": "text", "text": "half a sentence"}],
        [{"type": "text", "text": "Still there?"}],
    ]


async def test_a_reply_that_was_taken_away_is_not_written_any_more(user: User, model: ModelServer) -> None:
    """As after a long pause of the process: another one has ended the reply, and that end stands."""
    gate = scripts.Gate()
    model.script(scripts.text("before ", gate, "after"))
    opened = await replies.start(user=user, thread_id=None, content="Go")
    async for event in replies.follow(opened.reply.id):
        if event.type == "reply.delta":
            break
    reader = asyncio.create_task(read_events(opened.reply.id))

    def take() -> None:
        Reply.objects.filter(id=opened.reply.id).update(owner="another", lease_until=timezone.now())
        closing.interrupt(opened.reply.id, user_id=opened.reply.user_id)

    await in_database(take)()
    gate.open()
    seen = await reader
    assert (seen[-1]["type"], seen[-1]["data"]["message"]["text"]) == ("reply.interrupted", "before ")
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert (
        await ReplyEvent.objects.filter(reply=opened.reply).acount() == len(seen) - 1
    )  # the first is told by the turn
    assert (await Message.objects.aget(reply=opened.reply)).text == "before "


async def test_a_server_that_ends_interrupts_its_replies_at_once(user: User, model: ModelServer) -> None:
    gate = scripts.Gate()
    model.script(scripts.text("said ", gate, "unsaid"))
    opened = await replies.start(user=user, thread_id=None, content="Go")
    async for event in replies.follow(opened.reply.id):
        if event.type == "reply.delta":
            break
    await replies.drain()
    reply = await Reply.objects.aget(id=opened.reply.id)
    assert (reply.status, (await Message.objects.aget(reply=reply)).text) == ("interrupted", "said ")
    assert journal().live == {}


@pytest.fixture
def no_connection_of_the_test(user: User) -> None:
    connection.close()


@pytest.mark.wide
@pytest.mark.usefixtures("no_connection_of_the_test")
async def test_a_database_that_is_away_for_a_moment_loses_nothing(user: User, model: ModelServer) -> None:
    """The connections are really cut, by the server, while deltas are being written."""
    gate = scripts.Gate()
    model.script(scripts.text(*WORDS[:10], gate, *WORDS[10:]))
    opened = await replies.start(user=user, thread_id=None, content="Go")
    await asyncio.to_thread(gate.wait_until_reached)
    await in_database(cut_all_connections)()
    gate.open()
    seen = await read_events(opened.reply.id)
    assert seen[-1]["type"] == "reply.completed"
    assert "".join(event["data"]["text"] for event in seen if event["type"] == "reply.delta") == "".join(WORDS)
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))


async def test_a_reader_of_the_log_outlives_a_database_that_breaks_off(user: User) -> None:
    """The reader's connection is really cut, by the server, while it waits for rows."""
    reply = await in_database(left_behind)(user, lease_in=timedelta(seconds=-1))
    for _ in range(2):
        await in_database(leases.sweep)(NO_TIME)
    whole = await read_events(reply.id)
    with connect("of the test") as other:
        with other.transaction():
            other.execute("LOCK TABLE conversations_replyevent IN ACCESS EXCLUSIVE MODE")
            reading = asyncio.create_task(read_events(reply.id))
            await asyncio.to_thread(until, lambda: cut_who_waits(other))
        assert await reading == whole


def cut_who_waits(other: psycopg.Connection) -> list[Any]:
    return other.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).fetchall()


def cut_all_connections() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def left_behind(user: User, *, lease_in: timedelta) -> Reply:
    """A running reply of a process that is not this one."""
    thread = make_thread(user, ["Hello?"])
    reply = make_reply(thread, status="running", owner="another", lease_until=timezone.now() + lease_in)
    now = timezone.now()
    ReplyEvent.objects.bulk_create(
        [
            ReplyEvent(reply=reply, seq=2, type="reply.delta", data={"text": "half a "}, at=now),
            ReplyEvent(reply=reply, seq=3, type="reply.delta", data={"text": "sentence"}, at=now),
        ]
    )
    return reply


def test_a_reply_that_begins_while_it_is_looked_for_counts_as_running(user: User) -> None:
    thread = make_thread(user, ["One", "Answer", "Second"])
    begun: list[Reply] = []
    looks = count()

    def begin_after_the_first_look(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if next(looks) == 0:
            begun.append(make_reply(thread, status="running"))
        return found

    with connection.execute_wrapper(begin_after_the_first_look):
        assert newest_reply(thread.user_id, thread.id) == (begun[0].id, True)
