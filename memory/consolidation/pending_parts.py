"""What of a user's threads is to be consolidated, found by the rows alone."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from itertools import groupby
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from artifacts.models import ArtifactVersion
from conversations.context.exclusion import exclusions
from conversations.context.filtering import FilterArtifact, identify_fulfilled_pairs
from conversations.context.reasons import Reason
from conversations.context.windowing import Turn
from conversations.models import Message, Reply, Thread
from memory.models import Preferences
from memory.parts import Part, TurnPlace, parts_of

LATE = timedelta(minutes=1)
"""A turn may be committed this much later than the time that it bears."""
BESIDE = 20
"""Positions on either side of a part that are read as well: an exchange may lie on both sides of its ends."""

# Turns behind the last part of each thread, with that part itself where there is one, which they may extend.
UNREAD = """
SELECT thread.id, coalesce(last.first_position, 1), coalesce(last.last_position, 0),
       turn.position, turn.created_at, char_length(turn.text), turn.role
FROM conversations_thread AS thread
LEFT JOIN LATERAL (
    SELECT first_position, last_position FROM memory_threadsummary
    WHERE thread_id = thread.id ORDER BY first_position DESC LIMIT 1
) AS last ON true
CROSS JOIN LATERAL (
    SELECT position, created_at, text, role FROM conversations_message
    WHERE thread_id = thread.id AND is_active AND status <> 'forgotten'
      AND position >= coalesce(last.first_position, 1)
    ORDER BY position
) AS turn
WHERE thread.user_id = %(user)s AND thread.remembers AND thread.last_position > coalesce(last.last_position, 0)
  AND NOT EXISTS (SELECT FROM conversations_reply WHERE thread_id = thread.id AND status = 'running')
  AND EXISTS (
    SELECT FROM conversations_message
    WHERE thread_id = thread.id AND is_active AND status <> 'forgotten' AND position > coalesce(last.last_position, 0)
  )
ORDER BY thread.id, turn.position
"""

# Only a thread that was written to since can have lost a turn; what is forgotten is marked by whoever forgets it. A CASE,
# because the planner would look at the turns of every part before it looks at its thread.
STALE = """
SELECT part.thread_id, part.first_position, part.last_position, part.started_at, part.ended_at
FROM memory_threadsummary AS part
JOIN conversations_thread AS thread ON thread.id = part.thread_id AND thread.remembers
WHERE part.user_id = %(user)s
  AND NOT EXISTS (SELECT FROM conversations_reply WHERE thread_id = thread.id AND status = 'running')
  AND CASE
    WHEN part.stale_since IS NOT NULL THEN true
    WHEN thread.updated_at < part.made_at - %(late)s THEN false
    ELSE EXISTS (
        SELECT FROM unnest(part.sources) AS source
        LEFT JOIN conversations_message AS turn
          ON turn.id = source AND turn.is_active AND turn.status NOT IN ('forgotten', 'refused')
        WHERE turn.id IS NULL
    )
  END
ORDER BY part.started_at, part.thread_id, part.first_position
"""


class PartChanged(Exception):
    """Since the part was read, it was written to, a reply began in its thread, or it shall not be remembered any more."""


@dataclass(frozen=True, kw_only=True)
class PendingPart:
    """A part of a thread that is to be made, for the first time or anew."""

    thread: uuid.UUID
    part: Part


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
    def identity(self) -> tuple[list[uuid.UUID], list[uuid.UUID], list[str]]:
        """The same as long as the same notes can be made."""
        return [turn.id for turn in self.turns], [turn.id for turn in self.confined], list(self.made)


def due_parts(user_id: int, zone: tzinfo) -> list[PendingPart]:
    """What is to be done, oldest first: found by the rows alone."""
    stale = [
        PendingPart(thread=thread, part=Part(first=first, last=last, started_at=started_at, ended_at=ended_at))
        for thread, first, last, started_at, ended_at in rows(STALE, user=user_id, late=LATE)
    ]
    due = {(pending.thread, pending.part.first): pending for pending in [*stale, *_unread(user_id, zone)]}
    return sorted(due.values(), key=lambda pending: (pending.part.started_at, pending.thread, pending.part.first))


def active(pending: PendingPart) -> QuerySet[Message]:
    """The turns that a part is made of, in order."""
    turns = Message.objects.filter(
        thread=pending.thread, is_active=True, position__range=(pending.part.first, pending.part.last)
    )
    return turns.exclude(status=Message.Status.FORGOTTEN).order_by("position")


def readable(pending: PendingPart) -> PartContent:
    """What a part is made of: by the rule that says which turns no model is given (F10, P6), asked with the turns around."""
    around = Message.objects.filter(
        thread=pending.thread, is_active=True, position__range=(pending.part.first - BESIDE, pending.part.last + BESIDE)
    )
    turns = [Turn.of(turn) for turn in around.exclude(status=Message.Status.FORGOTTEN).order_by("position")]
    made = _versions(pending.thread)
    there = [version for version in made if not version.is_deleted]
    reasons, here = exclusions(turns, made), exclusions(turns, there)
    inside = list(active(pending))
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


def _versions(thread_id: uuid.UUID) -> list[_Version]:
    """The versions of a thread's artifacts that were not written by hand, oldest first."""
    versions = ArtifactVersion.objects.filter(thread=thread_id).exclude(origin=ArtifactVersion.Origin.HAND)
    columns = ("created_at", "message_id", "reply_id", "artifact__title", "artifact__deleted_at")
    return [
        _Version(created_at=at, message=turn, reply=reply, title=title, is_deleted=deleted_at is not None)
        for at, turn, reply, title, deleted_at in versions.order_by("created_at", "id").values_list(*columns)
    ]


def hold(user_id: int, pending: PendingPart, turns: Sequence[uuid.UUID]) -> tuple[Thread, PartContent]:
    """Lock a part's thread until the transaction ends. Raises ``PartChanged`` where these turns are not the part any more."""
    # As every other writer does: whoever forgets or replaces a turn waits, or is seen here.
    thread = Thread.objects.select_for_update(no_key=True).filter(id=pending.thread, remembers=True).first()
    running = Reply.objects.filter(thread=pending.thread, status=Reply.Status.RUNNING)
    unwanted = Preferences.objects.filter(user=user_id, remembers=False)
    if thread is None or running.exists() or unwanted.exists():
        raise PartChanged
    content = readable(pending)
    if [turn.id for turn in content.turns] != list(turns):
        raise PartChanged
    return thread, content


def _unread(user_id: int, zone: tzinfo) -> Iterator[PendingPart]:
    unread = rows(UNREAD, user=user_id)
    for (thread, first, settled), turns in groupby(unread, key=lambda row: row[:3]):
        rows_of_thread = list(turns)
        places = [TurnPlace(position=row[3], at=row[4], characters=row[5]) for row in rows_of_thread]
        # What was answered late may not have counted before, or count no more: the part that holds it is made anew as well.
        next_role = next(row[6] for row in rows_of_thread if row[3] > settled)
        for part in parts_of(places, zone, first=first, settled=settled):
            if part.last > settled or (part.last == settled and next_role == Message.Role.ASSISTANT):
                yield PendingPart(thread=thread, part=part)


def rows(statement: str, **values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
