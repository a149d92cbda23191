"""What of a user's threads is to be consolidated, found by the rows alone."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby

from artifacts.models import ArtifactVersion
from conversations.accounts.allowances import forgettings_of
from conversations.context.reasons import Reason
from conversations.context.turns.exclusion import exclusions
from conversations.context.turns.filtering import FilterArtifact, identify_fulfilled_pairs
from conversations.context.turns.turn import Turn
from conversations.models import Message, Reply, Thread
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from conversations.runtime.values import dataclass
from memory.models import Preferences
from memory.parts import Part, TurnPlace, parts_of

LATE = timedelta(minutes=1)
"""A turn may be committed this much later than the time that it bears."""
BESIDE = 20
"""Positions on either side of a part that are read as well: an exchange may lie on both sides of its ends."""

SQL = read_statements(__file__)


class PartChanged(Exception):
    """Since the part was read, it was written to, a reply began in its thread, something of its person's was forgotten, or it
    shall not be remembered any more."""


@dataclass(frozen=True, kw_only=True)
class PendingPart:
    """A part of a thread that is to be made, for the first time or anew. ``forgettings`` is how often something of the
    person's was forgotten when it was begun: what is read from then on, notes of other threads too, may be forgotten later.
    ``project`` is its thread's, whose notes alone are read with it."""

    user: int
    thread: uuid.UUID
    part: Part
    forgettings: int = 0
    project: uuid.UUID | None = None


@dataclass(frozen=True, kw_only=True)
class PartContent:
    """The turns of a part that notes may be made of, in order, those that none may be made of, with the reason, and the
    titles of the artifacts that the latter made.

    ``confined`` are those of them whose artifact was deleted: they count again in their own thread, and in no other (F5, F11).
    """

    turns: Sequence[Message]
    excluded: Sequence[tuple[Message, Reason]]
    confined: Sequence[Message]
    made: Sequence[str]

    @property
    def turn_ids(self) -> list[uuid.UUID]:
        return [turn.id for turn in self.turns]

    @property
    def excluded_ids(self) -> list[uuid.UUID]:
        return [turn.id for turn, _ in self.excluded]

    @property
    def confined_ids(self) -> list[uuid.UUID]:
        return [turn.id for turn in self.confined]

    def says_as_much_as(self, other: "PartContent") -> bool:
        """Whether the same notes can be made of both."""
        mine, others = ((part.turn_ids, part.confined_ids, part.made) for part in (self, other))
        return mine == others


def due_parts(user_id: int, zone: tzinfo) -> list[PendingPart]:
    """What is to be done, oldest first: found by the rows alone."""
    stale = [
        PendingPart(
            user=user_id,
            thread=thread,
            part=Part(first=first, last=last, started_at=started_at, ended_at=ended_at),
        )
        for thread, first, last, started_at, ended_at in run(SQL["stale"], user=user_id, late=LATE)
    ]
    due = {(pending.thread, pending.part.first): pending for pending in [*stale, *_unread(user_id, zone)]}
    return sorted(due.values(), key=lambda pending: (pending.part.started_at, pending.thread, pending.part.first))


def readable(pending: PendingPart) -> PartContent:
    """What a part is made of: by the rule that says which turns no model is given (F10, P6), asked with the turns around."""
    first, last = pending.part.first, pending.part.last
    places = Message.objects.filter(
        user=pending.user,
        thread=pending.thread,
        is_active=True,
        position__range=(first - BESIDE, last + BESIDE),
    )
    around = list(places.exclude(status=Message.Status.FORGOTTEN).order_by("position"))
    turns = [Turn.of(turn) for turn in around]
    made = _versions(pending.user, pending.thread)
    there = [version for version in made if not version.is_deleted]
    reasons, here = exclusions(turns, made), exclusions(turns, there)
    inside = [turn for turn in around if first <= turn.position <= last]
    excluded = [(turn, reasons[turn.id]) for turn in inside if turn.id in reasons]
    gone = {turn.id for turn, _ in excluded}
    makers = {turn.id for turn, _ in excluded if turn.role == Message.Role.ASSISTANT}
    titles = [version.title for version in there if not makers.isdisjoint(identify_fulfilled_pairs(turns, [version]))]
    return PartContent(
        turns=[turn for turn in inside if turn.id not in gone],
        excluded=excluded,
        confined=[turn for turn, _ in excluded if turn.id not in here],
        made=list(dict.fromkeys(titles)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Version(FilterArtifact):
    title: str
    is_deleted: bool


def _versions(user_id: int, thread_id: uuid.UUID) -> list[_Version]:
    """The versions of a thread's artifacts that were not written by hand, oldest first."""
    mine = ArtifactVersion.objects.filter(user=user_id, thread=thread_id, artifact__user=user_id)
    versions = mine.exclude(origin=ArtifactVersion.Origin.HAND)
    columns = ("created_at", "message_id", "reply_id", "artifact__title", "artifact__deleted_at")
    return [
        _Version(created_at=at, message=turn, reply=reply, title=title, is_deleted=deleted_at is not None)
        for at, turn, reply, title, deleted_at in versions.order_by("created_at", "id").values_list(*columns)
    ]


def hold(pending: PendingPart, turns: Sequence[uuid.UUID]) -> tuple[Thread, PartContent]:
    """Lock a part's thread until the transaction ends. Raises ``PartChanged`` where these turns are not the part any more, or
    something of the person's was forgotten since it was begun."""
    # As every other writer does: whoever forgets or replaces a turn waits, or is seen here.
    mine = Thread.objects.filter(user=pending.user, id=pending.thread, remembers=True, temporary=False)
    mine = mine.filter(project=pending.project)  # it may have moved meanwhile
    thread = mine.select_for_update(no_key=True).first()
    running = Reply.objects.filter(user=pending.user, thread=pending.thread, status=Reply.Status.RUNNING)
    unwanted = Preferences.objects.filter(user=pending.user, remembers=False)
    if thread is None or running.exists() or unwanted.exists() or forgettings_of(pending.user) != pending.forgettings:
        raise PartChanged
    content = readable(pending)
    if content.turn_ids != list(turns):
        raise PartChanged
    return thread, content


def _unread(user_id: int, zone: tzinfo) -> Iterator[PendingPart]:
    unread = run(SQL["unread"], user=user_id)
    for (thread, first, settled), turns in groupby(unread, key=lambda row: row[:3]):
        rows_of_thread = list(turns)
        places = [TurnPlace(position=row[3], at=row[4], characters=row[5]) for row in rows_of_thread]
        # What was answered late may not have counted before, or count no more: the part that holds it is made anew as well.
        next_role = next(row[6] for row in rows_of_thread if row[3] > settled)
        for part in parts_of(places, zone, first=first, settled=settled):
            if part.last > settled or (part.last == settled and next_role == Message.Role.ASSISTANT):
                yield PendingPart(user=user_id, thread=thread, part=part)


def days_off(user_id: int, zone: tzinfo, *, recent: datetime) -> list[date]:
    """Days whose summary is to be made anew; those of moved parts only where they ended after ``recent``."""
    return [day for (day,) in run(SQL["days_off"], user=user_id, zone=str(zone), recent=recent)]
