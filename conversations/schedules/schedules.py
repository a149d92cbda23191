"""A person's scheduled messages: made, changed, deleted. What isn't theirs is not found."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import threads
from conversations.accounts.group_access import access_of
from conversations.errors import InvalidSchedule, ScheduleNotFound, TooManySchedules
from conversations.holds import custody
from conversations.models import ApiToken, Reply, Schedule
from conversations.replies.user_content import user_blocks
from conversations.runtime import clock
from conversations.schedules import times
from memory.forgetting import ledger
from memory.services import preferences_of, zone_names, zone_of


@dataclass(frozen=True, kw_only=True)
class Times:
    """When messages are due: once, at ``at``, or on days of the week (1 is Monday) at a time."""

    at: datetime | None = None
    days: Sequence[int] = ()
    time_of_day: time | None = None

    def next_after(self, moment: datetime, zone: str) -> datetime | None:
        if self.at:
            return self.at
        assert self.time_of_day
        return times.next_after(moment, days=self.days, at=self.time_of_day, zone=ZoneInfo(zone))


def of(user: User) -> QuerySet[Schedule]:
    """Newest first."""
    return Schedule.objects.filter(user=user).order_by("-id")


def get(user: User, schedule_id: str | uuid.UUID) -> Schedule:
    """Raises ``ScheduleNotFound``."""
    return threads.row_with_id(of(user), schedule_id, ScheduleNotFound)


@transaction.atomic
def create(
    user: User,
    *,
    content: str,
    when: Times,
    thread: str | uuid.UUID | None = None,
    assistant: str | None = None,
    time_zone: str | None = None,
    token: ApiToken | None = None,
) -> Schedule:
    """``time_zone`` is the person's own by default. Raises ``InvalidSchedule``, ``InvalidMessage``, ``MessageTooLong``,
    ``ThreadNotFound``, ``TooManySchedules``."""
    zone = time_zone or str(zone_of(preferences_of(user)))
    _check(content=content, when=when, zone=zone)
    into = threads.get(user, thread) if thread else None
    if into and into.temporary:
        raise InvalidSchedule("This conversation is not kept, so nothing can be scheduled in it.", field="thread")
    if into is None:
        threads.assistant_named(assistant, access_of(user.pk))
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # two at once would both have room for the last one
    refuse_too_many(user, more=1)
    now = clock.now()
    return Schedule.objects.create(
        user=user,
        thread=into,
        token=token,
        assistant="" if into else assistant or "",
        content=content,
        at=when.at,
        days=list(when.days),
        time=when.time_of_day,
        time_zone=zone,
        next_at=when.next_after(now, zone),
        created_at=now,
        updated_at=now,
    )


def refuse_too_many(user: User, *, more: int = 0) -> None:
    """Raises ``TooManySchedules``."""
    if of(user).count() + more > settings.OPENBOOK_SCHEDULES:
        raise TooManySchedules(most=settings.OPENBOOK_SCHEDULES)


@transaction.atomic
def change(schedule: Schedule, *, when: Times | None = None, **values: Any) -> None:
    """Of ``content``, ``time_zone``, ``paused`` and when it is due. What was missed while it was paused is not sent, unless it
    is to be sent once. Raises ``InvalidSchedule``, ``InvalidMessage``, ``MessageTooLong``."""
    row = Schedule.objects.select_for_update().get(user=schedule.user_id, id=schedule.id)
    zone = values.get("time_zone") or row.time_zone
    times_now = when or times_of(row)
    _check(content=values.get("content"), when=when, zone=zone)
    if when:
        values |= {"at": when.at, "days": list(when.days), "time": when.time_of_day}
    is_resumed = row.paused and values.get("paused") is False
    if when or (row.next_at and (is_resumed or zone != row.time_zone)):
        values |= {"next_at": times_now.next_after(clock.now(), zone)}
    rows = Schedule.objects.filter(user=row.user_id, id=row.id)
    custody.keep(row.user_id, rows)
    rows.update(updated_at=clock.now(), rests_until=None, **values)


@transaction.atomic
def delete(schedule: Schedule) -> None:
    """It doesn't come back with a backup."""
    custody.keep(schedule.user_id, Schedule.objects.filter(user=schedule.user_id, id=schedule.id))
    ledger.note(ledger.Kind.SCHEDULE, schedule.id)
    schedule.delete()


def times_of(schedule: Schedule) -> Times:
    return Times(at=schedule.at, days=schedule.days, time_of_day=schedule.time)


def last_states(user: User, listed: Sequence[Schedule]) -> dict[uuid.UUID, str]:
    """How the newest replies of these are, by the ids of the replies: those that are still there."""
    ids = [each.last_reply for each in listed if each.last_reply]
    return dict(Reply.objects.filter(user=user, id__in=ids).values_list("id", "status"))


def _check(*, content: str | None, when: Times | None, zone: str) -> None:
    if content is not None:
        user_blocks(content)
    if zone not in zone_names():
        raise InvalidSchedule("It must be the name of a time zone, such as Europe/Lisbon.", field="time_zone")
    if when and when.at and when.at <= clock.now():
        raise InvalidSchedule("Choose a time that is still to come.", field="at")
