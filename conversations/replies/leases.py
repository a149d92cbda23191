"""Who runs a reply, and what becomes of those that a dead process left behind.

A running reply carries a lease that its process renews with every write and at least every two seconds. Any process that
finds a lease run out, and not renewed two seconds later, ends the reply as ``interrupted``: the text so far is kept, a retry is
offered. Where the database was away, or the clock was set, all leases are out at once, and whoever lives is to renew its own.
"""

import asyncio
import logging
import uuid
from collections import deque
from contextlib import suppress
from datetime import datetime

from django.db import DatabaseError
from django.db.models import Q
from django.db.models.functions import Now

from conversations.models import Reply
from conversations.providers import ProviderError, get_provider, provider_name
from conversations.replies.closing import interrupt
from conversations.replies.events import LONGEST_LEASE
from conversations.replies.journal import journal
from conversations.replies.outcomes import interruption
from conversations.runtime.db import in_database

log = logging.getLogger("openbook.replies")

SWEEP_SECONDS = 1.0
LOOKS = 2
"""Between the one that suspects a reply and the one that ends it: two seconds, in which whoever lives renews its lease."""
AGAIN_SECONDS = 0.5
"""Until the next look, where the database was away."""

Leases = set[tuple[int, uuid.UUID, datetime]]
"""Of replies, each with its person and the end of its lease."""


def sweep(suspected: Leases) -> Leases:
    """End what was left behind, of those that were suspected of it before. Returns those that are suspected now."""
    is_out = Q(lease_until__lte=Now()) | Q(lease_until__gt=Now() + LONGEST_LEASE)
    running = Reply.objects.filter(is_out, status=Reply.Status.RUNNING)
    left_behind = set(running.values_list("user", "id", "lease_until"))
    for user_id, reply_id, _ in left_behind & suspected:
        if interrupt(reply_id, user_id=user_id):
            log.warning("reply left behind by a dead process; interrupted", extra={"reply": str(reply_id)})
    return left_behind - suspected


async def startup() -> None:
    """Begin to look after left-behind replies for as long as this event loop runs."""
    journal().keeper = asyncio.create_task(_keep())
    # The first use of a provider imports its SDK, which takes seconds that no reply should spend.
    with suppress(ProviderError):  # a system check and /health/ say what is wrong
        await asyncio.to_thread(get_provider, provider_name())


def are_running() -> bool:
    """Whether this process runs any."""
    return bool(journal().tasks)


async def drain() -> None:
    """End the replies of this process as ``interrupted``, because it is about to stop. Takes no new ones."""
    book = journal()
    book.draining = True
    for reply in list(book.live.values()):
        reply.end(interruption())
    await asyncio.gather(*book.tasks, return_exceptions=True)
    await book.stop()


async def _keep() -> None:
    earlier: deque[Leases] = deque([set()] * LOOKS, maxlen=LOOKS)
    while True:
        try:
            earlier.append(await in_database(sweep)(earlier[0]))
            pause = SWEEP_SECONDS
        except DatabaseError as error:
            log.warning("can't look for replies left behind yet", extra={"cause": str(error)})
            pause = AGAIN_SECONDS
        await asyncio.sleep(pause)
