"""Turns that are copies of one another because a thread was forked. Reads only."""

import uuid
from collections.abc import Collection

from django.db.models import Q

from conversations.models import Message, Thread


def with_copies(user_id: int, turns: Collection[uuid.UUID]) -> frozenset[uuid.UUID]:
    """The turns, and those of threads that are forks or have some which say the same and were said at the same time."""
    forked = Thread.objects.filter(user=user_id, forked_from__isnull=False).values_list("id", "forked_from_id")
    threads = {id for link in forked for id in link}
    if not (threads and turns):
        return frozenset(turns)
    mine = Message.objects.filter(user=user_id)
    said = set(mine.filter(id__in=turns).values_list("created_at", "role", "text"))
    same_time = Q(thread__in=threads, created_at__in={at for at, _, _ in said})
    rows = mine.filter(same_time).values_list("id", "created_at", "role", "text")
    return frozenset(turns) | {id for id, *what in rows if tuple(what) in said}
