"""What goes with a thread that is deleted, though it lies elsewhere. Reads only."""

import uuid

from django.db.models import Q

from conversations.forgetting.found import Rows
from conversations.forgetting.recorded import Gone, recorded
from conversations.forgetting.telling import Needles
from conversations.models import Message, Thread
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from memory.tags import thread_tag


def left_by(thread: Thread) -> Rows:
    """Memories that rest on nothing else or are of this thread alone, the days that it is told of, and the texts of other
    threads' requests that were made of any of this."""
    parts = frozenset(ThreadSummary.objects.filter(thread=thread).values_list("id", flat=True))
    days = list(DailySummary.objects.filter(user=thread.user_id, parts__overlap=list(parts)))
    memories = _memories(thread)
    topics = frozenset(Topic.objects.filter(thread=thread).values_list("id", flat=True))
    gone = Gone(rows=memories | topics | parts | {day.id for day in days}, thread=thread.id)
    others = Thread.objects.filter(user=thread.user_id).exclude(id=thread.id).values_list("id", flat=True)
    found = recorded(list(others), gone, Needles([]))
    return Rows(
        memories=memories,
        days=frozenset(day.id for day in days),
        beside=frozenset(_told_of_besides(days, parts)),
        blocks=found.blocks,
    )


def _memories(thread: Thread) -> frozenset[uuid.UUID]:
    turns = set(Message.objects.filter(thread=thread).values_list("id", flat=True))
    mine = Memory.objects.filter(user=thread.user_id)
    resting = [one for one in mine.exclude(sources=[]) if not turns.isdisjoint(one.sources)]
    elsewhere = {source for one in resting for source in one.sources} - turns
    left = set(Message.objects.filter(id__in=elsewhere).values_list("id", flat=True))
    confined = mine.filter(confined_to=thread_tag(thread.id)).values_list("id", flat=True)
    return frozenset(confined) | {one.id for one in resting if left.isdisjoint(one.sources)}


def _told_of_besides(days: list[DailySummary], parts: frozenset[uuid.UUID]) -> list[uuid.UUID]:
    """The other parts of these days, which are told anew with them."""
    others = {part for day in days for part in day.parts} - parts
    return list(ThreadSummary.objects.filter(Q(id__in=others) & ~Q(text="")).values_list("id", flat=True))
