"""Reading along: from any point, for any number of readers, in whatever process the reply runs."""

import asyncio
import math
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext

from django.db import DatabaseError, InterfaceError
from django.db.models import Subquery

from conversations.models import Message, Reply
from conversations.replies import events
from conversations.replies.doorbell import reply_key, rung, thread_key
from conversations.replies.events import Event
from conversations.replies.journal import LiveReply, journal
from conversations.runtime.db import in_database, is_away

LOOK_AGAIN_SECONDS = 1.0
"""How long a reader of another process's reply trusts the doorbell."""
EVENTS_AT_ONCE = 4
"""That one reader of the log is given before all others have their turn."""
WATCH_AGAIN_SECONDS = 10.0
"""How long a reader of a thread trusts the doorbell, where several processes serve."""


async def follow(reply_id: uuid.UUID, after: int = 0) -> AsyncGenerator[Event]:
    """The events of a reply after ``after``, as they come, to the end: from memory where this process runs it, else from
    PostgreSQL. Works from any point, for any number of readers, also long after the end."""
    async with aclosing(follow_ticking(reply_id, after, seconds=math.inf)) as coming:
        async for event in coming:
            if event is not None:
                yield event


async def follow_ticking(reply_id: uuid.UUID, after: int = 0, *, seconds: float) -> AsyncGenerator[Event | None]:
    """The same, and ``None`` whenever none came for so many seconds."""
    book = journal()
    with book.doorbell.listen(reply_key(reply_id)) as bell:
        live = book.live.get(reply_id)
        if live is not None:
            async for event in _from_memory(live, after, bell, seconds):
                after = event.seq if event else after
                yield event
        if live is None or live.lost:
            async for event in _from_database(reply_id, after, bell, seconds):
                yield event


async def _from_memory(
    live: LiveReply, after: int, bell: asyncio.Event, seconds: float
) -> AsyncGenerator[Event | None]:
    """To the end, or to the point where it turns out that the end is written elsewhere."""
    loop = asyncio.get_running_loop()
    alarm: asyncio.TimerHandle | None = None  # for many events: one for each would cost as much as the event

    def wake() -> None:
        nonlocal alarm
        alarm = None
        bell.set()

    due = loop.time() + seconds
    try:
        while True:
            bell.clear()
            events = live.events[after:]
            for event in events:
                after = event.seq
                yield event
            if live.lost or (not events and live.events[-1].is_last):
                return
            if events:
                due = loop.time() + seconds
                continue
            if loop.time() >= due:
                yield None
                due = loop.time() + seconds
                continue
            alarm = alarm or loop.call_at(due, wake)
            await bell.wait()
    finally:
        if alarm:
            alarm.cancel()


async def _from_database(
    reply_id: uuid.UUID, after: int, bell: asyncio.Event, seconds: float
) -> AsyncGenerator[Event | None]:
    clock = asyncio.get_running_loop().time
    due = clock() + seconds
    user_id = await in_database(person_of)(reply_id)
    if user_id is None:
        return
    ended, events_read = False, list[Event]()
    while True:
        bell.clear()
        try:
            # Asked first: what is read next holds the end then.
            ended = ended or await in_database(has_ended)(user_id, reply_id)
            is_behind = ended or len(events_read) == events.READ_AT_ONCE
            async with journal().catching_up if is_behind else nullcontext():
                events_read = await in_database(events.read_after)(user_id, reply_id, after)
        except (DatabaseError, InterfaceError) as error:
            if not is_away(error):
                raise
            ended, events_read = False, []  # readers wait for it
        for number, event in enumerate(events_read, start=1):
            after = event.seq
            yield event
            if number % EVENTS_AT_ONCE == 0:
                await asyncio.sleep(0)
        if ended and (not events_read or events_read[-1].is_last):
            return
        if events_read:
            due = clock() + seconds
            continue
        await rung(bell, min(LOOK_AGAIN_SECONDS, max(0.0, due - clock())))
        if clock() >= due:
            due = clock() + seconds
            yield None


async def watch(user_id: int, thread_id: uuid.UUID) -> AsyncGenerator[uuid.UUID]:
    """The reply that runs in a thread now, if one does, then each that starts later, in whatever process."""
    book = journal()
    known: uuid.UUID | None = None
    first = True
    with book.doorbell.listen(thread_key(thread_id)) as bell:
        while True:
            bell.clear()
            newest = await in_database(newest_reply)(user_id, thread_id)
            if newest is not None and newest[0] != known:
                known, running = newest
                if running or not first:
                    yield known
            first = False
            await rung(bell, WATCH_AGAIN_SECONDS if book.doorbell.is_shared else None)


def person_of(reply_id: uuid.UUID) -> int | None:
    """Asked once: what is read of the reply from then on is asked of its person's rows alone."""
    return Reply.objects.filter(id=reply_id).values_list("user", flat=True).first()


def has_ended(user_id: int, reply_id: uuid.UUID) -> bool:
    return not Reply.objects.filter(user=user_id, id=reply_id, status=Reply.Status.RUNNING).exists()


def newest_reply(user_id: int, thread_id: uuid.UUID) -> tuple[uuid.UUID, bool] | None:
    """Id of the reply that runs in the thread, else of the newest one to its newest question, and whether it is running."""
    replies = Reply.objects.filter(user=user_id, thread_id=thread_id)
    if running := replies.filter(status=Reply.Status.RUNNING).values_list("id").first():
        return running[0], True
    turns = Message.objects.filter(user=user_id, thread_id=thread_id, is_active=True, role=Message.Role.USER)
    replies = replies.filter(user_message=Subquery(turns.order_by("-position").values("id")[:1]))
    found = replies.order_by("-created_at").values_list("id", "status").first()
    # It may have begun between the two questions.
    return (found[0], found[1] == Reply.Status.RUNNING) if found else None
