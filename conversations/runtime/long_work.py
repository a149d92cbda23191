"""Long work of one person – imports, downloads, forgetting – apart from what replies, leases and health need.

It has threads of its own. One work of a person runs at a time, and a few in the whole installation: leases count them over
all processes. Whoever comes on top waits a little and is then told to come again. A work ends when whoever asked for it
leaves, and when the process is to end.
"""

import asyncio
import enum
import logging
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any

import django.db
import psycopg
from django.db import close_old_connections, connection

from conversations.errors import OpenbookError, Unavailable
from conversations.runtime import leases
from conversations.runtime.leases import Lease

log = logging.getLogger("openbook.work")

WAIT_SECONDS = 10.0
"""How long a request waits for its turn before it is refused."""
LOOK_SECONDS = 0.2
UNREAD_SECONDS = 60.0
"""A download of which nothing is read for so long ends."""
END_SECONDS = 4.0
"""What the works of a process may take to end once it is told to."""
COMPUTE_SECONDS, REST_SECONDS = 0.004, 0.004
"""A work that computes rests in between, so that replies come to their turn: Python runs one thread at a time."""
SWITCH_SECONDS = 0.0001
"""How long another thread waits for it meanwhile; Python's own 5 ms add up over the steps of one request."""
USUAL_SWITCH_SECONDS = sys.getswitchinterval()
IN_LINE = 16
"""Requests of a process that wait at most; further ones are refused at once."""
IN_LINE_OF_ONE = 4


class WorkKind(enum.Enum):
    """Each has so many places in an installation, whose numbers begin with the first value."""

    IMPORT = (0, 2)
    CHANGE = (10, 2)
    CONVERSION = (20, 2)
    HISTORY = (25, 1)
    DOWNLOAD = (30, 4)

    @property
    def places(self) -> range:
        first, count = self.value
        return range(first, first + count)


# Downloads take a thread for a page at a time, the others for as long as they run.
EXECUTOR = ThreadPoolExecutor(
    max_workers=1 + sum(len(kind.places) for kind in WorkKind if kind is not WorkKind.DOWNLOAD),
    thread_name_prefix="long-work",
)


class Cancelled(Exception):
    """Nobody waits for the work any more: it ends, and what it has not committed is undone."""


class OwnWorkRuns(OpenbookError):
    type, code, status = "rate_limited", "long_work_running", 429
    message = (
        "Another import, download or forgetting of yours is still running. Nothing was done: wait until it has ended, or "
        "cancel it, and try again."
    )


class NoPlace(OpenbookError):
    type, code, status = "unavailable", "no_place", 503
    message = "The server is busy with imports and downloads of others. Nothing was done; try again in a minute."


class Ending(OpenbookError):
    type, code, status = "unavailable", "ending", 503
    message = "The server is about to end. Nothing was done; try again in a moment."


@dataclass(eq=False)
class Work:
    """One that has its place."""

    user_id: int
    cancelled: threading.Event = field(default_factory=threading.Event)
    leases: tuple[Lease, ...] = ()
    ends: Callable[[], object] = lambda: None
    """What ends a process that the work waits for."""
    future: Future[Any] | None = None
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _database: psycopg.Connection[Any] | None = None
    _rested_at: float = 0.0

    def check(self) -> None:
        if self.cancelled.is_set():
            raise Cancelled

    def rest(self) -> None:
        """Let others compute, where it has done so for a while."""
        if time.monotonic() - self._rested_at > COMPUTE_SECONDS:
            self.cancelled.wait(REST_SECONDS)
            self._rested_at = time.monotonic()

    def cancel(self) -> None:
        """Safe in any thread, which waits until the work has ended, or for a few seconds.

        What it waits for in the database is cancelled there, more than once: a statement may begin just then.
        """
        self.cancelled.set()
        self.ends()
        until = time.monotonic() + END_SECONDS
        while self.future and not self.future.done() and time.monotonic() < until:
            with self._guard, suppress(psycopg.Error):
                if self._database:
                    self._database.cancel_safe(timeout=1)
            wait([self.future], LOOK_SECONDS)

    @contextmanager
    def in_database(self) -> Iterator[None]:
        """Every statement of this thread checks first. A connection that a statement was cancelled on is not used again."""
        try:
            with connection.execute_wrapper(self._checked):
                yield
        except Exception:
            self.check()  # what fails because it was cancelled did not fail
            raise
        finally:
            with self._guard:
                database, self._database = self._database, None
            if database and self.cancelled.is_set():
                database.close()

    def _checked(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        with self._guard:
            self._database = connection.connection
        self.check()
        return execute(sql, params, many, context)


_current: ContextVar[Work | None] = ContextVar("work", default=None)


def check() -> None:
    """Raise ``Cancelled`` where the work that this is a part of was cancelled. To be called between records."""
    if work := _current.get():
        work.rest()
        work.check()


def ended_by(end: Callable[[], object]) -> None:
    """Have the work that this is a part of call ``end`` when it is cancelled."""
    if work := _current.get():
        work.ends = end
        work.check()


class _Places:
    """The works of this process, and the leases that count those of all."""

    def __init__(self) -> None:
        self.running: dict[int, Work] = {}
        self.waiting: list[int] = []
        self.ending = False
        self._guard = threading.Lock()

    def take(self, user_id: int, kind: WorkKind) -> Work | OpenbookError:
        """A work, or why there is no place for it just now. Raises ``Ending`` and ``Unavailable``."""
        with self._guard:
            if self.ending:
                raise Ending(retry_after=5)
            if user_id in self.running:
                return OwnWorkRuns(retry_after=5)
            try:
                return self._begin(Work(user_id), kind)
            except django.db.Error:
                raise Unavailable from None

    def give_back(self, work: Work) -> None:
        with self._guard:
            if work.user_id not in self.running:
                return
            for lease in work.leases:
                leases.give_back(lease)
            del self.running[work.user_id]
            if not self.running:
                sys.setswitchinterval(USUAL_SWITCH_SECONDS)

    def _begin(self, work: Work, kind: WorkKind) -> Work | OpenbookError:
        own = leases.take(f"long work of {work.user_id}", lost=work.cancelled)
        if own is None:
            return OwnWorkRuns(retry_after=5)
        try:
            places = (leases.take(f"long work {place}", lost=work.cancelled) for place in kind.places)
            place = next(filter(None, places), None)
        except django.db.Error:
            leases.give_back(own)
            raise
        if place is None:
            leases.give_back(own)
            return NoPlace(retry_after=30)
        work.leases = (own, place)
        self.running[work.user_id] = work
        sys.setswitchinterval(SWITCH_SECONDS)
        return work


_places = _Places()


async def run[R](user_id: int, kind: WorkKind, function: Callable[[], R]) -> R:
    """The function's result, once it has run in a thread for long work. Whoever stops waiting cancels it.

    Raises ``OwnWorkRuns`` and ``NoPlace`` where it did not begin, ``Ending`` where the process ends before it does.
    """
    return await run_work(await acquire(user_id, kind), function)


async def run_work[R](work: Work, function: Callable[[], R]) -> R:
    """The same for a work that has its place, which is given back at its end."""

    def in_thread() -> R:
        _current.set(work)
        return _in_database(work, function)

    future: Future[R] = EXECUTOR.submit(copy_context().run, in_thread)
    work.future = future
    future.add_done_callback(lambda _: _places.give_back(work))
    try:
        return await asyncio.wrap_future(future)
    except Cancelled:
        raise Ending(retry_after=5) from None  # for somebody still waits
    except asyncio.CancelledError:
        await asyncio.to_thread(work.cancel)
        raise


async def acquire(user_id: int, kind: WorkKind) -> Work:
    """A work with a place of its own, which must be given back. Waits a little; raises as ``run`` does."""
    until = time.monotonic() + WAIT_SECONDS
    async with aclosing(places(user_id, kind)) as looks:
        async for look in looks:
            if isinstance(look, Work):
                return look
            if time.monotonic() >= until:
                raise look
    raise AssertionError


def places(user_id: int, kind: WorkKind) -> AsyncGenerator[Work | OpenbookError]:
    """Again and again why there is no place yet, and in the end the work. Raises where too many wait already."""
    if _places.waiting.count(user_id) >= IN_LINE_OF_ONE:
        raise OwnWorkRuns(retry_after=10)
    if len(_places.waiting) >= IN_LINE:
        raise NoPlace(retry_after=30)
    return _looks(user_id, kind)


async def _looks(user_id: int, kind: WorkKind) -> AsyncGenerator[Work | OpenbookError]:
    _places.waiting.append(user_id)
    try:
        while not isinstance(look := await _take(user_id, kind), Work):
            yield look
            await asyncio.sleep(LOOK_SECONDS)
        yield look
    finally:
        _places.waiting.remove(user_id)


async def _take(user_id: int, kind: WorkKind) -> Work | OpenbookError:
    """Nobody holds a place that nobody waits for."""
    taking = asyncio.ensure_future(asyncio.to_thread(_places.take, user_id, kind))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        taking.add_done_callback(_give_back)
        raise


def _give_back(taking: asyncio.Future[Work | OpenbookError]) -> None:
    if not taking.cancelled() and not taking.exception() and isinstance(work := taking.result(), Work):
        _places.give_back(work)


def step[**P, R](function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """A database step of a download, in a thread for long work."""

    async def stepped(*args: P.args, **kwargs: P.kwargs) -> R:
        work = _current.get()
        return await asyncio.wrap_future(
            EXECUTOR.submit(copy_context().run, _in_database, work, lambda: function(*args, **kwargs))
        )

    return stepped


def download(work: Work, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces, for as long as they are read. The work's place is given back at the end."""
    return _forward(work, pieces, _end_unread(work))  # from now on: a reader may leave before the first piece


def _end_unread(work: Work) -> asyncio.TimerHandle:
    """End a download that nobody reads, unless the timer is cancelled."""
    loop = asyncio.get_running_loop()

    def leave() -> None:
        log.info("download left unread", extra={"user_id": work.user_id})
        work.cancelled.set()
        loop.run_in_executor(None, _places.give_back, work)

    return loop.call_later(UNREAD_SECONDS, leave)


async def _forward(work: Work, pieces: AsyncIterator[bytes], timer: asyncio.TimerHandle) -> AsyncIterator[bytes]:
    try:
        while True:
            timer.cancel()
            work.check()
            token = _current.set(work)
            try:
                piece = await anext(pieces, None)
            finally:
                _current.reset(token)
            if piece is None:
                return
            timer = _end_unread(work)
            yield piece
    finally:
        timer.cancel()
        asyncio.get_running_loop().run_in_executor(None, _places.give_back, work)


def is_running() -> bool:
    """Whether this process is at any, or somebody waits for it."""
    return bool(_places.running or _places.waiting)


async def drain() -> None:
    """End the works of this process, because it is about to stop. Takes no new ones."""
    _places.ending = True
    running = list(_places.running.values())
    await asyncio.gather(*(asyncio.to_thread(work.cancel) for work in running))
    if running:
        await asyncio.sleep(LOOK_SECONDS)  # connections end next: those who wait are told before
        log.info("long work cancelled", extra={"works": len(running), "left": len(_places.running)})


def _in_database[R](work: Work | None, function: Callable[[], R]) -> R:
    close_old_connections()
    try:
        if work is None:
            return function()
        with work.in_database():
            work.check()
            return function()
    finally:
        close_old_connections()
