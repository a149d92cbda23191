"""Which threads were forked from which, as far as both are there."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from conversations.models import Thread


@dataclass(frozen=True, kw_only=True)
class Forks:
    """``source`` is the thread that one was forked from, with the turn up to which it was copied; ``forks`` are the threads
    that were forked from it, oldest first."""

    source: tuple[uuid.UUID, uuid.UUID | None] | None = None
    forks: Sequence[uuid.UUID] = ()


NONE = Forks()


def of_threads(page: Sequence[Thread]) -> dict[uuid.UUID, Forks]:
    """Of these threads those that have either."""
    users = {thread.user_id for thread in page}
    sources = {thread.forked_from_id for thread in page if thread.forked_from_id}
    related = Thread.objects.filter(
        Q(id__in=sources) | Q(forked_from__in=[thread.id for thread in page]), user__in=users
    )
    rows = list(related.order_by("created_at", "id").values_list("id", "forked_from_id"))
    there = {id for id, _ in rows}
    by_source: dict[uuid.UUID | None, list[uuid.UUID]] = {}
    for id, source in rows:
        by_source.setdefault(source, []).append(id)
    return {
        thread.id: Forks(
            source=(thread.forked_from_id, thread.forked_at) if thread.forked_from_id in there else None,
            forks=by_source.get(thread.id, ()),
        )
        for thread in page
        if thread.forked_from_id or thread.id in by_source
    }
