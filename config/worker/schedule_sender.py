"""Who sends scheduled messages: a thread of each worker; a lease lets one work in the whole installation."""

import asyncio
import logging
import threading
from contextlib import AbstractContextManager

from config.worker.leased_threads import LeasedWork, leased_threads
from conversations.runtime.leases import Lease
from conversations.schedules import sending

log = logging.getLogger("openbook.schedules")

LEASE = "schedules"
END_SECONDS = 5.0


def schedule_sender() -> AbstractContextManager[None]:
    """It runs meanwhile. Replies that run when it is told to end are interrupted, as those of a server that ends are."""
    work = LeasedWork(
        lease=LEASE,
        run=_send,
        log=log,
        waiting="scheduled messages wait for the database",
        failing="scheduled messages can't be sent",
    )
    return leased_threads([work], end_seconds=END_SECONDS)


def _send(lease: Lease, ended: threading.Event) -> None:
    asyncio.run(sending.send_until(ended, lease.check))
