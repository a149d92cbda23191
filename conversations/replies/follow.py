"""Reading along: from any point, for any number of readers, in whatever process the reply runs."""

import uuid
from collections.abc import AsyncGenerator

from conversations.db import in_database
from conversations.replies import events, store
from conversations.replies.doorbell import reply_key, rung, thread_key
from conversations.replies.events import Event
from conversations.replies.journal import journal

LOOK_AGAIN_SECONDS = 1.0
"""How long a reader of another process's reply trusts the doorbell."""
WATCH_AGAIN_SECONDS = 10.0
"""How long a reader of a thread trusts the doorbell, where several processes serve."""


async def follow(reply_id: uuid.UUID, after: int = 0) -> AsyncGenerator[Event]:
    """The events of a reply after ``after``, as they come, to the end: from memory where this process runs it, else from
    PostgreSQL. Works from any point, for any number of readers, also long after the end."""
    seq = after
    book = journal()
    with book.doorbell.listen(reply_key(reply_id)) as bell:
        live = book.live.get(reply_id)
        while True:
            bell.clear()
            if live is not None and not live.lost:
                found = live.events[seq:]
            else:
                found = await in_database(events.read)(reply_id, seq)
            for event in found:
                seq = event.seq
                yield event
                if event.is_last:
                    return
            if live is None or live.lost:
                if not found and await in_database(store.has_ended)(reply_id):
                    # The end may have been written between the two looks.
                    if not await in_database(events.read)(reply_id, seq):
                        return
                    continue
                await rung(bell, LOOK_AGAIN_SECONDS)
            elif not found:
                await bell.wait()


async def watch(thread_id: uuid.UUID) -> AsyncGenerator[uuid.UUID]:
    """The reply that runs in a thread now, if one does, then each that starts later, in whatever process."""
    book = journal()
    known: uuid.UUID | None = None
    first = True
    with book.doorbell.listen(thread_key(thread_id)) as bell:
        while True:
            bell.clear()
            newest = await in_database(store.newest_reply)(thread_id)
            if newest is not None and newest[0] != known:
                known, running = newest
                if running or not first:
                    yield known
            first = False
            await rung(bell, WATCH_AGAIN_SECONDS if book.doorbell.is_shared else None)
