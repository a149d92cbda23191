"""Keeps another memory service up with PostgreSQL: what is new or changed is sent to it, what is gone is deleted there.

What is to do is found by the rows alone, so it may be broken off anywhere and run as often as one likes. The attempt is stored
before the call: a fact that may have arrived is deleted there for certain, however it was forgotten here.
"""

import logging
import uuid
from collections.abc import Sequence
from itertools import batched

from conversations.runtime import leases
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.backends import get_backend
from memory.backends.base import Backend, BackendError, BackendRefused, MirroredFact
from memory.backends.calling import started
from memory.models import MirroredMemory
from memory.tags import user_tag

logger = logging.getLogger(__name__)

MOST_SENT = 500
"""In one go; the rest comes with the next."""
MOST_DELETED = 100

SQL = read_statements(__file__)


def mirror_due(*, most: int = 100) -> list[int]:
    """Ids of users for whom there is something to do, also of users who were deleted."""
    if get_backend().is_local:
        return []
    return [user_id for (user_id,) in run(SQL["due"], most=most)]


def mirror(user_id: int) -> int:
    """Bring the service up to date on one user; how many facts it was told of. Raises ``BackendError`` where it fails.

    What was done until then stays done. Nothing is done where somebody else is at it. Never within a transaction.
    """
    backend = get_backend()
    if backend.is_local:
        return 0
    # Two at once could send again what the other has just deleted.
    with leases.held(f"mirroring of {user_id}") as lease:
        if not lease:
            return 0
        deleted, left = _delete(backend, user_id)
        sent = _send(backend, user_id)
    if left:
        raise BackendError(f"{left} of the facts could not be deleted yet.")
    return deleted + sent


def _delete(backend: Backend, user_id: int) -> tuple[int, int]:
    """How many are gone, and how many are not yet. First, because a person waits for it."""
    gone = [id for (id,) in run(SQL["gone"], user=user_id)]
    deleted = 0
    for some in batched(gone, MOST_DELETED):
        certain = started(backend.forget(user_id, some)).result()
        deleted += MirroredMemory.objects.filter(user_id=user_id, memory_id__in=certain).delete()[0]
    return deleted, len(gone) - deleted


def _send(backend: Backend, user_id: int) -> int:
    rows: Sequence[tuple[uuid.UUID, str, str, int, bool]] = run(SQL["to_send"], user=user_id, most=MOST_SENT)
    for id, text, confined_to, version, again in rows:
        fact = MirroredFact(id=id, text=text, container=confined_to or user_tag(user_id))
        if not again:
            MirroredMemory.objects.create(memory_id=id, user_id=user_id)
        try:
            started(backend.remember(user_id, fact, again=again)).result()
        except BackendRefused as error:
            logger.warning("a fact is not mirrored", extra={"memory": str(id), "cause": str(error)})
        MirroredMemory.objects.filter(user_id=user_id, memory_id=id).update(version=version)
    return len(rows)
