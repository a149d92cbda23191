"""The replies that this process runs: what they say is written to PostgreSQL first and shown to readers then."""

import asyncio
import logging
import math
import uuid
import weakref
from dataclasses import dataclass, field
from typing import cast

from django.db import DatabaseError

from conversations.accounts.spending import NOTHING_SPENT, Spent
from conversations.context.files.citations import NO_CITABLE_FILES, CitableFiles
from conversations.providers.base import ModelCall, Reservation
from conversations.providers.prices import UNKNOWN
from conversations.replies import events as eventlog
from conversations.replies.closing import ReplyProgress, close
from conversations.replies.doorbell import Doorbell, owner_key, reply_key, rung, thread_key
from conversations.replies.events import OWNER, Event
from conversations.replies.exact_counts import ExactCounts
from conversations.replies.learning import Learning
from conversations.replies.model_titles import Titles
from conversations.replies.outcomes import Outcome, interruption, stopped
from conversations.replies.transcript import ReplyTranscript
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.runtime.telemetry import UNTOLD, ReplyStep
from conversations.wire.events import EventData, ReplyDeltaData, ReplyThinkingData

log = logging.getLogger("openbook.replies")

REST_SECONDS = 0.04
"""From one write to the next. What the model says meanwhile becomes one delta."""
RENEW_SECONDS = 2.0
"""Between two renewals of the leases, when there is nothing to write."""
CATCHING_UP = 2
"""Readers who are given what was written long ago at the same time. Whoever reads along comes in between."""
RETRY_SECONDS = 0.2
CLOSE_PAUSES = (0.2, 0.5, 1, 2, 2, 2, 5, 5, 5, 10, 10)
"""Between the attempts to store the end of a reply while the database is away."""


@dataclass(eq=False)
class LiveReply:
    """A reply that this process runs.

    ``events`` are stored and may be shown. ``unwritten`` ones are numbered; whether they are stored is not known yet, so
    they are written again as they are. ``pending`` is what comes after them; ``wake`` has the journal write it. ``held`` is
    what the model has written and nobody has checked yet, where it ``is_checked_first``. ``call`` is that of the model which
    is running or ran last; it must have ended by ``ends_at``. ``spent`` is what those before it used, ``thought_seconds``
    how long they thought. ``model_used`` are provider and model of its newest request. ``files`` are what its text can cite.
    ``telemetry`` is the step that its listeners see.
    """

    id: uuid.UUID
    thread_id: uuid.UUID
    user_id: int
    events: list[Event]
    wake: asyncio.Event
    unwritten: list[Event] = field(default_factory=list)
    pending: list[tuple[str, EventData]] = field(default_factory=list)
    held: list[tuple[str, EventData]] | None = None
    is_checked_first: bool = False
    transcript: ReplyTranscript = field(default_factory=ReplyTranscript)
    call: ModelCall = field(default_factory=ModelCall)
    spent: Spent = NOTHING_SPENT
    thought_seconds: float = 0.0
    ends_at: float = math.inf
    silent: bool = False
    model_used: tuple[str, str] | None = None
    files: CitableFiles = NO_CITABLE_FILES
    telemetry: ReplyStep = UNTOLD
    task: asyncio.Task[None] | None = None
    end_with: Outcome | None = None
    lost: bool = False
    closing: bool = False

    def begin_call(self, reservation: Reservation) -> ModelCall:
        self.call = ModelCall(reservation=reservation)
        return self.call

    def end_call(self) -> ModelCall:
        """The call is over and the reply goes on: what it used is spent."""
        ended, self.call = self.call, ModelCall()
        self.spent = self.spent.after(ended)
        self.thought_seconds += ended.thinking_seconds or 0.0
        return ended

    def end_help(self) -> ModelCall:
        """The same of a call that helped: it counts for the day alone."""
        ended, self.call = self.call, ModelCall()
        self.spent = self.spent.after(ended, is_help=True)
        return ended

    def append(self, type: str, data: EventData) -> None:
        self.pending.append((type, data))
        self.wake.set()

    def write(self, type: str, data: EventData) -> None:
        """What holds words of the model's: shown at once, or once they have been checked."""
        if self.held is None:
            self.append(type, data)
            return
        if not self.held:
            self.append("reply.checking", {})
        self.held.append((type, data))

    def hold(self) -> None:
        """A model is about to write: what it writes is shown once it has been checked, where that is to be."""
        self.held = [] if self.is_checked_first else None

    def release(self) -> None:
        """What was held back has been checked, and is shown."""
        held, self.held = self.held, None
        for type, data in held or ():
            self.append(type, data)

    def note(self, type: str, data: EventData) -> None:
        """The same for what nobody waits for: it is written with what comes next, or soon."""
        self.pending.append((type, data))
        asyncio.get_running_loop().call_later(REST_SECONDS, self.wake.set)

    def say(self, text: str) -> None:
        """The next piece of the reply; joined with what is not written yet."""
        last = self.pending if self.held is None else self.held
        if last and last[-1][0] == "reply.delta":
            cast("ReplyDeltaData", last[-1][1])["text"] += text
        else:
            self.write("reply.delta", {"text": text})

    def think(self, summary: str = "") -> None:
        """It goes on thinking, and shows this of it; joined with what is not written yet."""
        seconds = int(self.thought_seconds + (self.call.thinking_seconds or 0.0))
        if summary and self.held is not None:
            self.write("reply.thinking", {"seconds": seconds, "summary": summary})
            return
        if self.pending and self.pending[-1][0] == "reply.thinking":
            summary = cast("ReplyThinkingData", self.pending.pop()[1])["summary"] + summary
        self.append("reply.thinking", {"seconds": seconds, "summary": summary})

    def to_write(self) -> list[Event]:
        """Everything that is not known to be stored, numbered."""
        first = (self.unwritten or self.events)[-1].seq + 1
        now = clock.now()
        self.unwritten += [
            Event(reply=self.id, seq=first + offset, type=type, data=data, at=now)
            for offset, (type, data) in enumerate(self.pending)
        ]
        self.pending = []
        return self.unwritten

    def written(self) -> None:
        self.events += self.unwritten
        self.unwritten = []

    def end(self, outcome: Outcome) -> None:
        """End it from outside, with this outcome; the text so far is kept. The first one to ask decides."""
        if self.end_with is None and not self.closing and self.task is not None:
            self.end_with = outcome
            self.task.cancel()


class Journal:
    """Writes for all running replies of a process together, one statement a beat, and renews their leases with it.

    An event is shown only once it is stored, so that a reader who comes back to another process after a crash never knows
    more than the log.
    """

    def __init__(self) -> None:
        self.live: dict[uuid.UUID, LiveReply] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.doorbell = Doorbell()
        self.catching_up = asyncio.Semaphore(CATCHING_UP)
        self.wake = asyncio.Event()
        self._writing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.counts = ExactCounts()
        self.learning = Learning(self.counts)
        self.titles = Titles()
        self.draining = False
        self.keeper: asyncio.Task[None] | None = None

    def add(self, live: LiveReply) -> None:
        self.live[live.id] = live
        self.doorbell.ring(thread_key(live.thread_id))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def close(self, live: LiveReply, outcome: Outcome) -> None:
        """Write the end. While the database is away this waits for it, as long as the reply is still ours."""
        live.closing = True
        async with self._writing:
            events = live.to_write()
        live.events += await self._store_end(live, outcome, events)
        self.let_go(live)

    def let_go(self, live: LiveReply) -> None:
        """It runs here no longer. Readers who have not seen its end look for it in the database."""
        live.lost = not live.events[-1].is_last
        self.live.pop(live.id, None)
        self.doorbell.ring(reply_key(live.id))

    async def _store_end(self, live: LiveReply, outcome: Outcome, events: list[Event]) -> list[Event]:
        rates = live.call.reservation.rates if live.call.reservation else UNKNOWN
        progress = ReplyProgress(
            transcript=live.transcript, files=live.files, spent=live.spent, rates=rates, events=events
        )
        for pause in CLOSE_PAUSES:
            try:
                return await in_database(close)(
                    reply_id=live.id,
                    user_id=live.user_id,
                    owner=OWNER,
                    outcome=outcome,
                    progress=progress,
                )
            except DatabaseError as error:
                log.warning("can't store the end of a reply yet", extra={"reply": str(live.id), "cause": str(error)})
                await asyncio.sleep(pause)
        return []  # whichever process is up when the database is back finds it left behind

    async def stop(self) -> None:
        tasks = [task for task in (self._task, self.keeper) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.learning.stop()
        await self.counts.stop()
        await self.titles.stop()
        await self.doorbell.close()

    async def _run(self) -> None:
        with self.doorbell.listen(owner_key(OWNER), self.wake):
            while self.live:
                await rung(self.wake, RENEW_SECONDS)
                self.wake.clear()
                await asyncio.gather(self._beat(), asyncio.sleep(REST_SECONDS))

    async def _beat(self) -> None:
        async with self._writing:
            live = [reply for reply in self.live.values() if not reply.closing]
            if not live:
                return
            events = [event for reply in live for event in reply.to_write()]
            try:
                mine = await in_database(eventlog.beat)(
                    users={reply.user_id for reply in live}, replies=[reply.id for reply in live], events=events
                )
            except DatabaseError as error:
                log.warning("can't write events yet", extra={"replies": len(live), "cause": str(error)})
                self.wake.set()
                await asyncio.sleep(RETRY_SECONDS)
                return
        for reply in live:
            self._settle(reply, mine)

    def _settle(self, live: LiveReply, mine: dict[uuid.UUID, bool]) -> None:
        """``mine``: the replies that are still this process's, and whether they are asked to stop."""
        if live.id not in mine:
            live.end(interruption())
            return
        if live.unwritten:
            live.written()
            self.doorbell.ring(reply_key(live.id))
        if mine[live.id]:
            live.end(stopped())


_journals: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Journal] = weakref.WeakKeyDictionary()


def is_draining() -> bool:
    """Whether this process ends, so that no reply begins. From any thread."""
    return any(book.draining for loop, book in list(_journals.items()) if loop.is_running())


def running_here() -> int:
    """How many replies this process runs. From any thread."""
    return sum(len(book.live) for book in list(_journals.values()))


def journal() -> Journal:
    """This process's journal, of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _journals:
        _journals[loop] = Journal()
    return _journals[loop]
