"""What ended holds had kept is deleted, in small steps. A worker that is killed leaves the rest to the next."""

import logging
from collections.abc import Callable

from django.db import transaction
from django.db.models import QuerySet

from conversations.holds import coverage
from conversations.models import LegalHold
from conversations.runtime import clock
from conversations.runtime.db import run

log = logging.getLogger("openbook.holds")

AT_ONCE = 500
DELETE = """
WITH gone AS (
    SELECT held.id FROM conversations_heldrow AS held
    WHERE held.user_id = %(user)s AND NOT EXISTS (
        SELECT FROM conversations_legalhold AS hold
        WHERE hold.user_id = held.user_id AND hold.ended_at IS NULL
          AND (hold.project_id IS NULL OR hold.project_id = held.project_id)
    )
    ORDER BY held.id LIMIT %(most)s
)
DELETE FROM conversations_heldrow AS held USING gone WHERE held.id = gone.id RETURNING held.id
"""


def due() -> QuerySet[LegalHold]:
    """Holds that have ended, and may have left rows that none keeps any more."""
    return LegalHold.objects.filter(ended_at__isnull=False, released_at=None).order_by("id")


def release_due(is_stopped: Callable[[], bool] = lambda: False) -> int:
    """Delete what they alone had kept. Returns how many rows went. The bytes of files go as those of any deleted file do."""
    deleted = 0
    for hold in due():
        while rows := _step(hold):
            deleted += rows
            if is_stopped():
                return deleted
        log.info("legal hold released", extra={"hold_id": str(hold.id), "user_id": hold.user_id})
    return deleted


@transaction.atomic
def _step(hold: LegalHold) -> int:
    coverage.lock(hold.user_id)
    rows = len(run(DELETE, user=hold.user_id, most=AT_ONCE))
    if rows < AT_ONCE:
        LegalHold.objects.filter(id=hold.id).update(released_at=clock.now())
    return rows
