"""What workers do for memory."""

import logging
import time

from django.tasks import task

from conversations.runtime import interruption
from conversations.tasks import unattended
from memory.backends import mirroring
from memory.backends.base import BackendError
from memory.consolidation.consolidate import consolidate
from memory.index.index_anew import index_anew
from memory.models import StaleIndex

log = logging.getLogger("openbook.worker")

SLICE_SECONDS = 60.0
"""Whoever has more to do than this goes to the end of the queue with the rest."""
MOST_STALE = 1_000


@task()
@unattended
def consolidate_user(user_id: int) -> None:
    until = time.monotonic() + SLICE_SECONDS
    consolidate(user_id, alive=lambda: not interruption.is_requested() and time.monotonic() < until)


@task()
@unattended
def index_stale() -> None:
    """Index anew what is indexed by the rules of an earlier release. The next task goes on where time was up."""
    until = time.monotonic() + SLICE_SECONDS
    for user_id in StaleIndex.objects.order_by("user").values_list("user_id", flat=True)[:MOST_STALE]:
        index_anew(user_id, alive=lambda: not interruption.is_requested() and time.monotonic() < until)
        if interruption.is_requested() or time.monotonic() >= until:
            return


@task()
@unattended
def mirror() -> None:
    """Bring another memory service up to date. Where it is down, the next task tries again."""
    for user_id in mirroring.mirror_due():
        if interruption.is_requested():
            return
        try:
            mirroring.mirror(user_id)
        except BackendError as error:
            log.warning("can't mirror yet", extra={"user_id": user_id, "cause": str(error)})
