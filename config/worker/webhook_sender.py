"""Who sends to webhooks: a thread of each worker; a lease lets one work in the whole installation."""

import asyncio
import logging
import threading
from contextlib import AbstractContextManager

from config.worker.leased_threads import LeasedWork, leased_threads
from conversations.runtime.leases import Lease
from conversations.webhooks import sending

log = logging.getLogger("openbook.webhooks")

LEASE = "webhooks"
END_SECONDS = 5.0


def webhook_sender() -> AbstractContextManager[None]:
    """It runs meanwhile. What is being sent when it is told to end is sent again by whoever comes next."""
    work = LeasedWork(
        lease=LEASE,
        run=_send,
        log=log,
        waiting="webhooks wait for the database",
        failing="webhooks can't be sent",
    )
    return leased_threads([work], end_seconds=END_SECONDS)


def _send(lease: Lease, ended: threading.Event) -> None:
    asyncio.run(sending.send_until(ended, lease.check))
