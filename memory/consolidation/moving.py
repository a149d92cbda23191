"""What was remembered of a thread goes with it into a project, or out of one."""

import uuid

from django.db.models import QuerySet

from conversations.models import Thread
from conversations.runtime import clock
from memory.consolidation.store import days_of, remake_days
from memory.models import Memory, ThreadSummary
from memory.services import preferences_of, zone_of
from memory.tags import project_tag, thread_tag, user_tag


def move_memory(thread: Thread, *, before: uuid.UUID | None, now: uuid.UUID | None) -> None:
    """Its notes have another place, and the days that it is told of are made anew on both sides. Turns, topics, summaries and
    files are found by the thread itself. Whoever calls holds a transaction, in which the thread has moved."""
    old, new = (project_tag(project) if project else user_tag(thread.user_id) for project in (before, now))
    for memory in Memory.objects.filter(user=thread.user_id, tags__contains=[thread_tag(thread.id), old]):
        tags = [new if tag == old else tag for tag in memory.tags]
        Memory.objects.filter(user=thread.user_id, id=memory.id).update(tags=tags)
    zone = zone_of(preferences_of(thread.user))
    parts = ThreadSummary.objects.filter(user=thread.user_id, thread=thread).exclude(text="")
    remake_days(thread.user_id, days_of(parts, zone), zone, clock.now())


def move_notes(notes: QuerySet[Memory]) -> None:
    """Notes of a project that belong to no thread, out of it: they hold everywhere outside of projects then."""
    for memory in notes:
        tags = [tag for tag in memory.tags if tag != memory.confined_to]
        Memory.objects.filter(user=memory.user_id, id=memory.id).update(tags=[user_tag(memory.user_id), *tags])
