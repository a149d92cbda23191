"""Who sends to webhooks: a thread of each worker; a lease lets one work in the whole installation."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import django.db

from conversations.runtime import interruption, leases
from conversations.runtime.leases import LeaseLost
from conversations.webhooks import sending

log = logging.getLogger("openbook.webhooks")

LEASE = "webhooks"
LOOK_SECONDS, END_SECONDS = 1.0, 5.0


@contextmanager
def webhook_sender() -> Iterator[None]:
    """It runs meanwhile. What is being sent when it is told to end is sent again by whoever comes next."""
    ended = threading.Event()
    thread = threading.Thread(target=_send_until, args=(ended,), name=LEASE, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(0 if interruption.is_requested() else END_SECONDS)


def _send_until(ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            with leases.held(LEASE) as lease:
                if lease:
                    asyncio.run(sending.send_until(ended, lease.check))
        except (django.db.Error, LeaseLost) as error:
            log.warning("webhooks wait for the database", extra={"cause": type(error).__name__})
        except Exception:  # a thread that ended would send nothing until the worker does
            log.exception("webhooks can't be sent")
        finally:
            django.db.connections.close_all()
        ended.wait(LOOK_SECONDS)
