"""Threads of a worker beside its tasks, each for one kind of work that one process at a time does in the whole installation."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import django.db

from conversations.runtime import interruption, leases
from conversations.runtime.leases import Lease, LeaseLost
from conversations.runtime.values import dataclass

LOOK_SECONDS = 1.0
"""Between two attempts to get a lease."""


@dataclass(frozen=True, kw_only=True)
class LeasedWork:
    """``run`` works until the event is set or ``Lease.check`` raises. ``waiting`` and ``failing`` are what the log says where
    the database is away, and where something unforeseen happens."""

    lease: str
    run: Callable[[Lease, threading.Event], None]
    log: logging.Logger
    waiting: str
    failing: str


@contextmanager
def leased_threads(works: Sequence[LeasedWork], *, end_seconds: float) -> Iterator[None]:
    """They run meanwhile. Whoever is told to end does not wait for what is under way: it is done again."""
    ended = threading.Event()
    threads = [threading.Thread(target=_run_until, args=(work, ended), name=work.lease, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join(0 if interruption.is_requested() else end_seconds)


def _run_until(work: LeasedWork, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            with leases.held(work.lease) as lease:
                if lease:
                    work.run(lease, ended)
        except (django.db.Error, LeaseLost) as error:
            work.log.warning(work.waiting, extra={"cause": type(error).__name__})
        except Exception:  # a thread that ended would do nothing until the worker does
            work.log.exception(work.failing, extra={"lease": work.lease})
        finally:
            django.db.connections.close_all()
        ended.wait(LOOK_SECONDS)
