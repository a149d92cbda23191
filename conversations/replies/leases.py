"""Who runs a reply, and what becomes of those that a dead process left behind.

A running reply carries a lease that its process renews with every write and at least every two seconds. Any process that
finds a lease run out ends the reply as ``interrupted``: the text so far is kept, a retry is offered.
"""

import asyncio
import logging
from contextlib import suppress

from django.conf import settings
from django.db import DatabaseError

from conversations.db import in_database
from conversations.providers import ProviderError, get_provider
from conversations.replies import store
from conversations.replies.journal import journal

log = logging.getLogger("openbook.replies")

SWEEP_SECONDS = 2.0


def sweep() -> int:
    """End what was left behind. Returns how many replies that were."""
    ended = 0
    for reply_id in store.left_behind():
        if store.interrupt(reply_id):
            ended += 1
            log.warning("reply left behind by a dead process; interrupted", extra={"reply": str(reply_id)})
    return ended


async def startup() -> None:
    """Begin to look after left-behind replies for as long as this event loop runs."""
    journal().keeper = asyncio.create_task(_keep())
    # The first use of a provider imports its SDK, which takes seconds that no reply should spend.
    with suppress(ProviderError):  # a system check and /health/ say what is wrong
        await asyncio.to_thread(get_provider, settings.OPENBOOK_PROVIDER)


async def drain() -> None:
    """End the replies of this process as ``interrupted``, because it is about to stop. Takes no new ones."""
    book = journal()
    book.draining = True
    for reply in list(book.live.values()):
        reply.end(store.interruption())
    await asyncio.gather(*book.tasks, return_exceptions=True)
    await book.stop()


async def _keep() -> None:
    while True:
        try:
            await in_database(sweep)()
        except DatabaseError as error:
            log.warning("can't look for replies left behind yet", extra={"cause": str(error)})
        await asyncio.sleep(SWEEP_SECONDS)
