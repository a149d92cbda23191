"""A worker: sweeps for what is due and runs one task after the other, of all queues or of one, until it is told to end."""

import logging
import os
import secrets
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import django.db
from django.tasks import DEFAULT_TASK_QUEUE_NAME
from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult

from config.backups import runs
from config.postgres.migrations import unapplied
from config.worker.audit_sender import senders
from config.worker.due_senders import schedule_sender, webhook_sender
from conversations import schedule
from conversations.audit import chain
from conversations.runtime import clock, interruption, leases
from conversations.runtime.leases import Lease, LeaseLost
from conversations.tasks import LONG_FILES

log = logging.getLogger("openbook.worker")

EVERY_QUEUE = "*"
QUEUES = {DEFAULT_TASK_QUEUE_NAME: [DEFAULT_TASK_QUEUE_NAME, LONG_FILES]}
"""What a worker takes that is started for one queue, where that is more."""
SWEEP_SECONDS = 3.0
LOOK_SECONDS = 1.0
RETRY_SECONDS = 1.0
RESTORE_SECONDS = 3.0
SCHEMA_SECONDS = 2.0
WHOLE_SWEEP_SECONDS = 3_600.0
GRACE_SECONDS = 1.0
"""What a task may take to end by itself once its worker is told to."""
PARENT_SECONDS = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EVER = datetime(1, 1, 1, tzinfo=UTC)


class OneTask(Worker):
    """Runs the next task, if there is one."""

    found = False

    def __init__(self, name: str, queue: str = EVERY_QUEUE) -> None:
        super().__init__(
            queue_names=QUEUES.get(queue, [queue]), excluded_queue_names=[], backend_name="default", worker_id=name,
            batch=True, max_tasks=1, interval=0, startup_delay=False,
        )  # fmt: skip

    def run_task(self, db_task_result: DBTaskResult[Any, Any]) -> None:
        self.found = True
        super().run_task(db_task_result)


@dataclass
class WorkerLife:
    """Of a worker, from one loss of the database to the next. Its name is new, so what it left behind is put back at once."""

    name: str
    lease: Lease
    queue: str = EVERY_QUEUE
    swept_at: float = -SWEEP_SECONDS
    whole_at: float = -WHOLE_SWEEP_SECONDS
    looked_at: float = -LOOK_SECONDS

    def step(self) -> bool:
        """Sweep if it is time to, and run the next task. False where there was none. Raises what the database raises, and
        ``LeaseLost`` where its task may be another's by now."""
        self.lease.check()
        now = time.monotonic()
        if now - self.looked_at >= LOOK_SECONDS:
            clock.look()
            if self.lease.others_live():
                schedule.put_back()
            self.looked_at = now
        if now - self.swept_at >= SWEEP_SECONDS:
            whole = now - self.whole_at >= WHOLE_SWEEP_SECONDS
            found = schedule.sweep(since=EVER if whole else None)
            chain.seal()
            self.swept_at = now
            if whole and found < schedule.MOST_AT_ONCE:
                self.whole_at = now
        worker = OneTask(self.name, self.queue)
        worker.run()
        return worker.found


@contextmanager
def life(queue: str = EVERY_QUEUE) -> Iterator[WorkerLife]:
    name = f"{socket.gethostname()[:40]}.{os.getpid()}.{secrets.token_hex(4)}"
    with leases.held(schedule.WORKER + name, waits=True, lasts=schedule.WORKER_LEASE) as lease:
        assert lease
        yield WorkerLife(name, lease, queue)


def work(queue: str = EVERY_QUEUE, *, waits_for_schema: bool = False) -> None:
    """Until a signal asks it to end. Outlives the database. ``waits_for_schema`` where nobody has run ``migrate`` before it for
    certain: until then its code and the tables don't fit."""
    with _signals_wake() as wait:
        while not interruption.is_requested():
            try:
                while waits_for_schema and (missing := unapplied()) and not interruption.is_requested():
                    log.warning("waits for `manage.py migrate`", extra={"missing": missing})
                    wait(SCHEMA_SECONDS)
                waits_for_schema = False
                _wait_for_restore(wait)
                with life(queue) as alive, senders(), webhook_sender(), schedule_sender():
                    while not (interruption.is_requested() or runs.is_being_restored()):
                        if not alive.step():
                            wait(LOOK_SECONDS)
            except (django.db.Error, LeaseLost) as error:
                log.warning("the database is away; trying again", extra={"cause": type(error).__name__})
                django.db.connections.close_all()
                wait(RETRY_SECONDS)


def _wait_for_restore(wait: Callable[[float], object]) -> None:
    """What was forgotten since the backup may be there again until a restore has come to its end."""
    if runs.is_being_restored():
        log.warning("a restore into this database has not come to its end: nothing is done until one has")
    while runs.is_being_restored() and not interruption.is_requested():
        wait(RESTORE_SECONDS)


def end_with_standard_input() -> None:
    """The other end is held by whoever started this process, so it ends however that one ends."""

    parent = os.getppid()

    def listen() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        # A killed process loses its pipes before its locks, and whoever holds the last lock ends the embedded PostgreSQL.
        until = time.monotonic() + PARENT_SECONDS
        while os.getppid() == parent and not interruption.is_requested() and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=listen, name="parent", daemon=True).start()


def _ask(number: int, frame: FrameType | None) -> None:
    if not interruption.is_requested():
        interruption.ask()
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS, GRACE_SECONDS)


@contextmanager
def _signals_wake() -> Iterator[Any]:
    """Signals ask to stop, and end a wait: gives the function that waits so many seconds."""
    for number in SIGNALS:
        signal.signal(number, _ask)
    signal.signal(signal.SIGALRM, lambda number, frame: interruption.interrupt())
    heard, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    yield lambda seconds: select.select([heard], [], [], seconds)
    signal.set_wakeup_fd(-1)
    signal.setitimer(signal.ITIMER_REAL, 0)
