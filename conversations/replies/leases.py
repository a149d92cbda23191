"""Who runs a reply, and what becomes of those that a dead process left behind.

A running reply carries a lease that its process renews with every write and at least every two seconds. Any process that
finds a lease run out notes that with the reply, and any that finds it noted for two seconds ends the reply as ``interrupted``:
the text so far is kept, a retry is offered. Where the database was away, or the clock was set, all leases are out at once, and
whoever lives is to renew its own.
"""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from django.db import DatabaseError
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from conversations.models import Reply
from conversations.providers import ProviderError, get_provider, provider_name
from conversations.replies.closing import interrupt
from conversations.replies.events import LONGEST_LEASE
from conversations.replies.journal import journal
from conversations.replies.outcomes import interruption
from conversations.runtime import clock
from conversations.runtime.db import in_database

log = logging.getLogger("openbook.replies")

SWEEP_SECONDS = 1.0
AGAIN_SECONDS = 0.5
"""Until the next look, where the database was away."""
SUSPICION = timedelta(seconds=2)
"""In which whoever lives renews a lease that was found run out."""


def sweep(suspicion: timedelta = SUSPICION) -> None:
    """Note which replies may have been left behind, and end those of which that was noted so long ago."""
    is_out = Q(lease_until__lte=Now()) | Q(lease_until__gt=Now() + LONGEST_LEASE)
    running = Reply.objects.filter(is_out, status=Reply.Status.RUNNING)
    is_new = Q(suspected_at=None) | Q(suspected_at__gt=Now())  # or the clock was set back since
    is_left = ExpressionWrapper(Q(suspected_at__lte=Now() - suspicion), output_field=BooleanField())
    for user_id, reply_id, left in running.values_list("user", "id", is_left):
        if not left:
            running.filter(is_new, user=user_id, id=reply_id).update(suspected_at=Now())
        elif interrupt(reply_id, user_id=user_id):
            log.warning("reply left behind by a dead process; interrupted", extra={"reply": str(reply_id)})


async def startup() -> None:
    """Begin to look after left-behind replies, and at the clock, for as long as this event loop runs."""
    with suppress(DatabaseError):  # it is looked at again soon
        await in_database(clock.look)()
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
    while True:
        pause = SWEEP_SECONDS
        try:
            await in_database(clock.look)()
            await in_database(sweep)()
        except DatabaseError as error:
            log.warning("can't look for replies left behind yet", extra={"cause": str(error)})
            pause = AGAIN_SECONDS
        await asyncio.sleep(pause)
