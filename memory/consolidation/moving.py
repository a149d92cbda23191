"""What was remembered of a thread goes with it into a project, or out of one."""

import uuid

from django.db.models import QuerySet

from conversations.models import Thread
from conversations.runtime import clock
from memory.consolidation.fact_rows import add_telling, leave_to, told_elsewhere
from memory.consolidation.store import days_of, remake_days
from memory.models import Memory, ThreadSummary
from memory.services import preferences_of, zone_of
from memory.tags import project_tag, thread_tag, user_tag


def move_memory(thread: Thread, *, before: uuid.UUID | None, now: uuid.UUID | None) -> None:
    """Its notes have another place, and the days that it is told of are made anew on both sides. Turns, topics, summaries and
    files are found by the thread itself. What another thread told as well stays there, too. Whoever calls holds a transaction,
    in which the thread has moved."""
    old, new = (project_tag(project) if project else user_tag(thread.user_id) for project in (before, now))
    mine = Memory.objects.filter(user=thread.user_id)
    moving = list(mine.filter(tags__contains=[thread_tag(thread.id), old]))
    others = told_elsewhere(thread.user_id, moving, thread.id)
    texts = [memory.content for memory in moving]
    there = mine.filter(tags__contains=[new], content__in=texts, ended_at=None, origin=Memory.Origin.CONVERSATION)
    known = {memory.content: memory for memory in there}
    for memory in moving:
        same = None if memory.ended_at else known.get(memory.content)
        _move(memory, thread, (old, new), others.get(memory.id, []), same)
    zone = zone_of(preferences_of(thread.user))
    parts = ThreadSummary.objects.filter(user=thread.user_id, thread=thread).exclude(text="")
    remake_days(thread.user_id, days_of(parts, zone), zone, clock.now())


def _move(memory: Memory, thread: Thread, tags: tuple[str, str], others: list[uuid.UUID], same: Memory | None) -> None:
    """``others`` are turns of other threads that told it, ``same`` is what tells it where it comes to already."""
    old, new = tags
    mine = Memory.objects.filter(user=thread.user_id)
    own = [source for source in memory.sources if source not in others]
    if same:
        add_telling(same, own, thread.id)
    elif others:
        copy = {
            name: getattr(memory, name) for name in ("content", "origin", "created_at", "ended_at", "superseded_by_id")
        }
        valid = {name: getattr(memory, name) for name in ("said_at", "valid_from", "valid_until", "settled_at")}
        mine.create(user_id=thread.user_id, tags=[new, thread_tag(thread.id)], sources=own, **copy, **valid)
    if others:
        leave_to(memory, others, without=thread.id)
    elif same:
        mine.filter(superseded_by=memory.id).update(superseded_by=same.id)
        mine.filter(id=memory.id).delete()
    else:
        mine.filter(id=memory.id).update(tags=[new if tag == old else tag for tag in memory.tags])


def move_notes(notes: QuerySet[Memory]) -> None:
    """Notes of a project that belong to no thread, out of it: they hold everywhere outside of projects then."""
    for memory in notes:
        tags = [tag for tag in memory.tags if tag != memory.confined_to]
        Memory.objects.filter(user=memory.user_id, id=memory.id).update(tags=[user_tag(memory.user_id), *tags])
