"""Who pushes audit events: a thread of each worker for each destination; a lease lets one work in the whole installation.

Threads of their own, as a destination that hangs may not keep a worker from its tasks, nor one destination from another.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import django.db

from conversations.audit import delivery
from conversations.audit.destinations import SECONDS, Destination
from conversations.runtime import interruption, leases
from conversations.runtime.leases import LeaseLost

log = logging.getLogger("openbook.audit")

LEASE = "audit push "
"""What the lease of a sender's begins with."""
LOOK_SECONDS = 1.0
END_SECONDS = 2 * SECONDS


@contextmanager
def senders() -> Iterator[None]:
    """They run meanwhile. Whoever is told to end does not wait for an attempt: it is made again."""
    ended = threading.Event()
    threads = [
        threading.Thread(target=_send_until, args=(each, ended), name=f"{LEASE}{each.name}", daemon=True)
        for each in delivery.destinations()
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(0 if interruption.is_requested() else END_SECONDS)


def _send_until(destination: Destination, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            with leases.held(f"{LEASE}{destination.name}") as lease:
                while lease and not ended.is_set():
                    lease.check()
                    if not delivery.step(destination):
                        ended.wait(LOOK_SECONDS)
        except (django.db.Error, LeaseLost) as error:
            log.warning("audit events wait for the database", extra={"cause": type(error).__name__})
        except Exception:  # a thread that ended would push nothing until the worker does
            log.exception("audit events can't be pushed", extra={"destination": destination.name})
        finally:
            django.db.connections.close_all()
        ended.wait(LOOK_SECONDS)
