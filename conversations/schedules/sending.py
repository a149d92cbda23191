"""The sending: what is due goes the same way as from a page, many at once on an event loop, each message once.

The message's ``client_message_id`` is made of the schedule and the time that it is due. Whoever sends it again, as the process
before was killed before it could note that it had, is answered with what was stored then. Times that were missed while nothing
was sent make one message, sent late.
"""

import logging
import threading
import uuid
from collections.abc import Callable, Collection
from datetime import UTC, timedelta

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Exists, OuterRef, Q

from conversations import replies
from conversations.accounts import notices
from conversations.errors import (
    ModerationUnavailable,
    NoticeNotAccepted,
    OpenbookError,
    RateLimited,
    ReplyInProgress,
    Unavailable,
)
from conversations.models import AccountDeletion, Schedule
from conversations.replies.model_requests import OpenedReply
from conversations.runtime import clock
from conversations.runtime.db import in_database
from conversations.runtime.running_tasks import RunningTasks
from conversations.schedules import schedules

log = logging.getLogger("openbook.schedules")

MOST = 16
"""Replies to scheduled messages that run at the same time."""
LOOK_SECONDS = 1.0
"""Between two looks where nothing is being sent."""
REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=15)
"""Before a message is tried again that can't be sent now; at most, where a limit has room only much later."""
WAITING = (RateLimited, ReplyInProgress, Unavailable, ModerationUnavailable, NoticeNotAccepted)
"""What passes by itself, or by what its person does: the message is tried again. After any other refusal it is paused."""
FAILED = "internal_error"


async def send_until(ended: threading.Event, check: Callable[[], None]) -> None:
    """Send what is due until the event is set. ``check`` raises once another process has taken over."""
    running = RunningTasks[uuid.UUID](look_seconds=LOOK_SECONDS)
    await replies.startup()
    try:
        while not ended.is_set():
            check()
            for schedule in await in_database(due)(running.keys, most=MOST - len(running.keys)):
                running.begin(schedule.id, send(schedule))
            await running.settle()
    finally:
        await replies.drain()
        await running.cancel()


def due(busy: Collection[uuid.UUID], *, most: int) -> list[Schedule]:
    """What is to be sent now, longest due first, beside what is being sent. Nothing of accounts that are off or leave."""
    if most <= 0 or not settings.OPENBOOK_SCHEDULES:
        return []
    now = clock.now()
    rows = Schedule.objects.filter(paused=False, next_at__lte=now, user__is_active=True)
    rows = rows.filter(Q(rests_until=None) | Q(rests_until__lte=now)).exclude(id__in=[*busy])
    leaving = Exists(AccountDeletion.objects.filter(user=OuterRef("user")))
    return list(rows.exclude(leaving).select_related("user", "token").order_by("next_at", "id")[:most])


async def send(schedule: Schedule) -> None:
    """Send one that is due, and follow its reply to the end."""
    opened = await in_database(begin)(schedule)
    if opened:
        async for _ in replies.follow(opened.reply.id):
            pass


def begin(schedule: Schedule) -> OpenedReply | None:
    """Let the message be answered and note that it is sent; or note why it is not, and ``None``."""
    due_at = schedule.next_at
    assert due_at
    try:
        notices.demand(schedule.user)
        opened = replies.begin(
            user=schedule.user,
            thread_id=schedule.thread_id,
            content=schedule.content,
            assistant=None if schedule.thread_id else schedule.assistant or None,
            client_message_id=f"schedule {schedule.id} {due_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}",
            token=schedule.token,
        )
    except OpenbookError as refusal:
        _refused(schedule, refusal)
        return None
    except DatabaseError:
        raise
    except Exception:  # whatever is wrong with one message, the others are sent
        log.exception("a scheduled message can't be sent", extra={"schedule": str(schedule.id)})
        _note(schedule, last_error=FAILED, rests_until=clock.now() + LONGEST_REST)
        return None
    now = clock.now()
    following = None if schedule.at else schedules.times_of(schedule).next_after(now, schedule.time_zone)
    _note(
        schedule,
        thread=opened.thread.id,
        next_at=following,
        rests_until=None,
        last_sent_at=now,
        last_reply=opened.reply.id,
        last_error="",
    )
    return opened


def _refused(schedule: Schedule, refusal: OpenbookError) -> None:
    if isinstance(refusal, WAITING):
        rest = timedelta(seconds=float(refusal.details.get("retry_after") or 0))
        rests_until = clock.now() + min(max(rest, REST), LONGEST_REST)
        _note(schedule, last_error=refusal.code, rests_until=rests_until)
    else:
        _note(schedule, last_error=refusal.code, paused=True)
    log.info("a scheduled message waits", extra={"schedule": str(schedule.id), "error_code": refusal.code})


def _note(schedule: Schedule, **values: object) -> None:
    """What became of the message that is due. Of one that was changed meanwhile, when it is due next stays as it is."""
    row = Schedule.objects.filter(user=schedule.user_id, id=schedule.id)
    told = {"last_due_at": schedule.next_at, **values}
    if not row.filter(next_at=schedule.next_at).update(**told):
        row.update(**{name: value for name, value in told.items() if name.startswith("last_")})
