"""What goes with a thread that is deleted, the turns of one that is cleared or a file, though it lies elsewhere. Reads only."""

import uuid
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from django.db.models import Q, QuerySet

from conversations.models import ContextBlock, ContextSnapshot, File, Message, Reply, Thread
from memory.forgetting import quotations
from memory.forgetting.matcher import Needles
from memory.forgetting.quotations import Quotations
from memory.forgetting.recorded_texts import ITEMS_START, RemovedRows, find_recorded
from memory.forgetting.result import Rows
from memory.forgetting.search import feedback_on, in_order, parts_with, resting_on
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from memory.tags import thread_tag


def left_by(thread: Thread) -> Rows:
    """Of a thread that is deleted: memories that rest on nothing else or are of this thread alone, the days that it is told of,
    what was made of any of this elsewhere, and the replies there that quote it."""
    memories = Memory.objects.filter(user=thread.user_id)
    confined = memories.filter(confined_to=thread_tag(thread.id)).values_list("id", flat=True)
    return _elsewhere(
        thread,
        memories=_resting_on(thread.user_id, memories, _turns(thread)) | {*confined},
        topics=frozenset(Topic.objects.filter(user=thread.user_id, thread=thread).values_list("id", flat=True)),
        quotes=_quoting(thread),
    )


def cleared_from(thread: Thread) -> Rows:
    """Of a thread that is cleared, besides its turns, summaries and places in the index: memories and topics that rest on
    nothing else, the days that it is told of, what was made of any of this elsewhere, the replies there that quote it, the
    events of its own replies and the texts of its requests. The account of what each was given stays: it holds no text."""
    turns, user = _turns(thread), thread.user_id
    rows = _elsewhere(
        thread,
        memories=_resting_on(user, Memory.objects.filter(user=user), turns),
        topics=_resting_on(user, Topic.objects.filter(user=user), turns),
        quotes=_quoting(thread),
    )
    texts = ContextBlock.objects.filter(user=user, thread=thread, forgotten_at=None).exclude(
        text__startswith=ITEMS_START
    )
    own = {*Reply.objects.filter(user=user, thread=thread).values_list("id", flat=True)}
    requests = ContextSnapshot.objects.filter(user=user, thread=thread)
    if thread.cleared_at:
        requests = requests.filter(created_at__gt=thread.cleared_at)
    return replace(
        rows,
        replies=rows.replies | own,
        errors=rows.errors | own,
        blocks=rows.blocks | {*texts.values_list("id", flat=True)},
        requests=rows.requests | {*requests.values_list("id", flat=True)},
        touched=rows.touched | {thread.id},
    )


def left_by_file(file: File) -> Rows:
    """Of a file that is deleted: the replies that quote it, and what was recalled of it in requests, in whichever thread."""
    threads = list(Thread.objects.filter(user=file.user_id).values_list("id", flat=True))
    quotes = quotations.quoting(file.user_id, threads, Message.objects.none(), [file.id])
    return _told(file.user_id, threads, rows=frozenset({file.id}), quotes=quotes)


def left_by_topic(topic: Topic) -> Rows:
    """Of a topic that is deleted: itself, and the texts of requests that it was given in."""
    threads = list(Thread.objects.filter(user=topic.user_id).values_list("id", flat=True))
    ids = frozenset({topic.id})
    return replace(_told(topic.user_id, threads, rows=ids, quotes=quotations.NOWHERE), topics=ids)


def left_by_notes(user_id: int, ids: frozenset[uuid.UUID]) -> Rows:
    """Of notes that go with a project: themselves, and the texts of requests that they were given in."""
    threads = list(Thread.objects.filter(user=user_id).values_list("id", flat=True))
    return replace(_told(user_id, threads, rows=ids, quotes=quotations.NOWHERE), memories=ids)


def _elsewhere(
    thread: Thread,
    *,
    memories: frozenset[uuid.UUID],
    topics: frozenset[uuid.UUID],
    quotes: Quotations,
) -> Rows:
    """These rows with what was made of them, of the thread's turns or of its summaries outside of it."""
    parts = frozenset(ThreadSummary.objects.filter(user=thread.user_id, thread=thread).values_list("id", flat=True))
    rows = _told(thread.user_id, _others(thread), rows=memories | topics, parts=parts, quotes=quotes, thread=thread.id)
    return replace(rows, memories=memories, topics=topics)


def _told(
    user_id: int,
    threads: Collection[uuid.UUID],
    *,
    rows: frozenset[uuid.UUID],
    quotes: Quotations,
    parts: frozenset[uuid.UUID] = frozenset(),
    thread: uuid.UUID | None = None,
) -> Rows:
    """What was made in these threads of rows, of parts of threads and of all of a ``thread``, and the replies that quote it."""
    turns = in_order(dict.fromkeys(quotes.turns, "mention"))
    retold = frozenset(part.id for part in parts_with(ThreadSummary.objects.filter(user=user_id), turns))
    days = list(DailySummary.objects.filter(user=user_id, parts__overlap=list(parts | retold)))
    removed = rows | parts | retold | {day.id for day in days}
    records = find_recorded(
        user_id,
        list(threads),
        RemovedRows(turns=turns, rows=removed, replies=quotes.replies, thread=thread),
        Needles([]),
        quotes.blocks,
    )
    return Rows(
        turns=turns,
        summaries=retold,
        days=frozenset(day.id for day in days),
        beside=frozenset(_told_of_besides(user_id, days, parts | retold)),
        replies=quotes.replies,
        errors=quotes.replies | records.replies,
        files=quotes.files,
        blocks=records.blocks,
        requests=records.requests,
        touched=records.threads | quotes.threads | {turn.thread for turn in turns},
        feedback=feedback_on(user_id, turns, quotes.replies),
    )


def _turns(thread: Thread) -> set[uuid.UUID]:
    return set(Message.objects.filter(user=thread.user_id, thread=thread).values_list("id", flat=True))


def _resting_on(user_id: int, rows: QuerySet[Any], turns: set[uuid.UUID]) -> frozenset[uuid.UUID]:
    """Those that no other turn is a source of. A thread may have more turns than a database likes to be asked about."""
    return resting_on(user_id, [row for row in rows.exclude(sources=[]) if not turns.isdisjoint(row.sources)], turns)


def _told_of_besides(user_id: int, days: Iterable[DailySummary], parts: frozenset[uuid.UUID]) -> list[uuid.UUID]:
    """The other parts of these days, which are told anew with them."""
    others = {part for day in days for part in day.parts} - parts
    return list(ThreadSummary.objects.filter(~Q(text=""), user=user_id, id__in=others).values_list("id", flat=True))


def _quoting(thread: Thread) -> Quotations:
    """Where its turns and files are quoted in other threads of the same person."""
    others, user = _others(thread), thread.user_id
    turns = Message.objects.filter(user=user, thread=thread)
    files = list(File.objects.filter(user=user, thread=thread).values_list("id", flat=True))
    return quotations.quoting(user, others, turns, files)


def _others(thread: Thread) -> list[uuid.UUID]:
    return list(Thread.objects.filter(user=thread.user_id).exclude(id=thread.id).values_list("id", flat=True))
