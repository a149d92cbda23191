"""Who sends to webhooks, and scheduled messages: a thread of each worker for each; a lease lets one work in the whole
installation."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any

from config.worker.leased_threads import LeasedWork, leased_threads
from conversations.runtime.leases import Lease
from conversations.schedules import sending as scheduled
from conversations.webhooks import sending as webhooks

END_SECONDS = 5.0

type SendUntil = Callable[[threading.Event, Callable[[], None]], Coroutine[Any, Any, None]]


def webhook_sender() -> AbstractContextManager[None]:
    """It runs meanwhile. What is being sent when it is told to end is sent again by whoever comes next."""
    return _sender(webhooks.send_until, lease="webhooks", what="webhooks")


def schedule_sender() -> AbstractContextManager[None]:
    """It runs meanwhile. Replies that run when it is told to end are interrupted, as those of a server that ends are."""
    return _sender(scheduled.send_until, lease="schedules", what="scheduled messages")


def _sender(send_until: SendUntil, *, lease: str, what: str) -> AbstractContextManager[None]:
    def run(held: Lease, ended: threading.Event) -> None:
        asyncio.run(send_until(ended, held.check))

    work = LeasedWork(
        lease=lease,
        run=run,
        log=logging.getLogger(f"openbook.{lease}"),
        waiting=f"{what} wait for the database",
        failing=f"{what} can't be sent",
    )
    return leased_threads([work], end_seconds=END_SECONDS)
