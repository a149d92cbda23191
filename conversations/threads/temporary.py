"""Temporary chats: stored until they are closed, and then deleted as any thread is. Nothing is learnt from them.

One is closed by its person, or a minute after the last page that shows it is gone, or an hour after its last turn.
"""

import logging
import uuid
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from conversations.errors import ReplyInProgress, ThreadNotFound
from conversations.models import Thread
from conversations.runtime import clock
from conversations.threads import deletion

IDLE = timedelta(hours=1)
GRACE = timedelta(minutes=1)
"""Until a page that is loaded anew, or another tab, says that it is there."""
STAY_SECONDS = 20.0
"""How often a page that shows one says so."""
AT_ONCE = 100

log = logging.getLogger("openbook.threads")


def stay(user_id: int, thread_id: uuid.UUID) -> None:
    """A page shows it."""
    _mine(user_id, thread_id).exclude(left_at=None).update(left_at=None)


def leave(user_id: int, thread_id: uuid.UUID) -> None:
    """A page that showed it is gone. If another one is there, it says so."""
    _mine(user_id, thread_id).update(left_at=clock.now())


def due(now: datetime) -> QuerySet[Thread]:
    return Thread.objects.filter(Q(updated_at__lt=now - IDLE) | Q(left_at__lt=now - GRACE), temporary=True)


def close_due(now: datetime) -> int:
    """Delete those that are due; one in which a reply runs waits for its end. Returns how many went."""
    closed = 0
    for thread in due(now).select_related("user").order_by("updated_at")[:AT_ONCE]:
        try:
            deletion.delete_thread(thread)
        except (ReplyInProgress, ThreadNotFound):
            continue
        closed += 1
    if closed:
        log.info("temporary chats closed", extra={"closed": closed})
    return closed


def _mine(user_id: int, thread_id: uuid.UUID) -> QuerySet[Thread]:
    return Thread.objects.filter(user=user_id, id=thread_id, temporary=True)
