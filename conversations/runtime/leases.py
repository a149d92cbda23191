"""What one process at a time may do, in the whole installation: a row of the database says who does it, and until when.

No lock of a database session: behind a pooler such as PgBouncer the statements of one connection run in many. The process
renews its leases every second on a connection of its own; those of a process that was killed run out.
"""

import logging
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import django.db
import psycopg
from django.db import connection as django_connection
from psycopg.errors import ReadOnlySqlTransaction

from conversations.runtime import interruption
from conversations.runtime.db import connect, run
from conversations.runtime.sql_files import read_statements

log = logging.getLogger("openbook.leases")

LEASE = timedelta(seconds=8)
MARGIN = timedelta(seconds=2)
BEAT_SECONDS = 1.0
LOOK_SECONDS = 0.2

SQL = read_statements(__file__)


class LeaseLost(Exception):
    """Another process has taken over, because this one could not renew its lease in time."""


@dataclass(eq=False)
class Lease:
    """One that this process holds, until ``lost`` is set."""

    name: str
    lost: threading.Event = field(default_factory=threading.Event)
    lasts: timedelta = LEASE
    """How long, unless it is renewed; at most ``LEASE``."""
    holder: uuid.UUID = field(default_factory=uuid.uuid4)
    renewed_at: float = field(default_factory=time.monotonic)
    unbroken_since: float = field(default_factory=time.monotonic)
    """When it was taken, or taken again after it had run out or the database had lost it."""

    def others_live(self) -> bool:
        """Whether leases that ran out are of processes that ended. Else all may have, with the database away, and whoever
        lives is to renew its own."""
        return time.monotonic() - self.unbroken_since > 1.5 * BEAT_SECONDS

    def check(self) -> None:
        if self.lost.is_set():
            raise LeaseLost(self.name)

    def confirm(self) -> None:
        """Before something short that only the holder may do. Raises ``LeaseLost`` where it may not last until that is done."""
        if not run(SQL["confirm"], name=self.name, holder=self.holder, margin=MARGIN):
            self.lost.set()
            self.check()


class _Keeper:
    """The leases of this process, the connection that they are written on, and the thread that renews them."""

    def __init__(self) -> None:
        self._leases: set[Lease] = set()
        self._guard = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._thread: threading.Thread | None = None

    def take(self, lease: Lease) -> bool:
        with self._guard:
            try:
                if not self._taken(lease):
                    return False
                self._leases.add(lease)
                if not self._thread:
                    self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                    self._thread.start()
                return True
            finally:
                self._close_unless_needed()

    def give_back(self, lease: Lease) -> None:
        with self._guard:
            self._leases.discard(lease)
            try:
                with suppress(django.db.Error):  # it runs out
                    self._execute("give_back", lease)
            finally:
                self._close_unless_needed()

    def _keep(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self._guard:
                if not self._leases:
                    self._thread = None
                    return
                try:
                    for lease in list(self._leases):
                        self._renew(lease)
                except django.db.Error as error:
                    log.warning("leases can't be renewed yet", extra={"cause": type(error).__name__})

    def _renew(self, lease: Lease) -> None:
        """A crash of the database empties the table: what nobody has taken meanwhile is taken again."""
        now, renewed = time.monotonic(), bool(self._execute("renew", lease))
        if renewed or self._taken(lease):
            if not renewed or now - lease.renewed_at > lease.lasts.total_seconds():
                lease.unbroken_since = now
            lease.renewed_at = now
        else:
            log.warning("lease lost", extra={"lease": lease.name})
            self._leases.discard(lease)
            lease.lost.set()
            self._close_unless_needed()

    def _taken(self, lease: Lease) -> bool:
        self._execute("free", lease)
        return bool(self._execute("take", lease))

    def _execute(self, statement: str, lease: Lease) -> list[Any]:
        """Its rows; once more where the connection was lost since the last time. Raises Django's errors."""
        values = {"name": lease.name, "holder": lease.holder, "lasts": lease.lasts, "longest": LEASE}
        with django_connection.wrap_database_errors:
            if self._connection:
                try:
                    return self._rows(self._connection, statement, values)
                except (psycopg.OperationalError, ReadOnlySqlTransaction):  # or another server is the primary now
                    self._close()
                    if interruption.is_requested():
                        raise  # a worker that is to end waits for no new connection: its leases run out
            self._connection = connect("leases")
            return self._rows(self._connection, statement, values)

    def _rows(self, connection: psycopg.Connection[Any], statement: str, values: dict[str, Any]) -> list[Any]:
        cursor = connection.execute(SQL[statement], values)
        return cursor.fetchall() if cursor.description else []

    def _close_unless_needed(self) -> None:
        if not self._leases:
            self._close()

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


_keeper = _Keeper()


def take(name: str, *, lost: threading.Event | None = None, lasts: timedelta = LEASE) -> Lease | None:
    """Take what is free, or whose holder has died; ``None`` where somebody has it. It must be given back.

    ``lost`` is set when another process takes it over. Raises Django's errors of databases.
    """
    lease = Lease(name, lost or threading.Event(), lasts)
    return lease if _keeper.take(lease) else None


def give_back(lease: Lease) -> None:
    """Nothing is raised where the database is away: the lease runs out."""
    _keeper.give_back(lease)


@contextmanager
def held(name: str, *, waits: bool = False, lasts: timedelta = LEASE) -> Iterator[Lease | None]:
    """The lease for as long as the block runs, or ``None`` where somebody has it; ``waits`` until it is free."""
    while not (lease := take(name, lasts=lasts)) and waits:
        time.sleep(LOOK_SECONDS)
    try:
        yield lease
    finally:
        if lease:
            give_back(lease)
