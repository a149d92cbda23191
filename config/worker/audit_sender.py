"""Who pushes audit events: a thread of each worker for each destination; a lease lets one work in the whole installation.

Threads of their own, as a destination that hangs may not keep a worker from its tasks, nor one destination from another.
"""

import logging
import threading
from contextlib import AbstractContextManager
from functools import partial

from config.worker.leased_threads import LOOK_SECONDS, LeasedWork, leased_threads
from conversations.audit import delivery
from conversations.audit.destinations import SECONDS, Destination
from conversations.runtime.leases import Lease

log = logging.getLogger("openbook.audit")

LEASE = "audit push "
"""What the lease of a sender's begins with."""
END_SECONDS = 2 * SECONDS


def senders() -> AbstractContextManager[None]:
    """They run meanwhile."""
    works = [
        LeasedWork(
            lease=f"{LEASE}{each.name}",
            run=partial(_send, each),
            log=log,
            waiting="audit events wait for the database",
            failing="audit events can't be pushed",
        )
        for each in delivery.destinations()
    ]
    return leased_threads(works, end_seconds=END_SECONDS)


def _send(destination: Destination, lease: Lease, ended: threading.Event) -> None:
    while not ended.is_set():
        lease.check()
        if not delivery.step(destination):
            ended.wait(LOOK_SECONDS)
