"""What goes with a thread that is deleted, or with the turns of one that is cleared, though it lies elsewhere. Reads only."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q, QuerySet

from conversations.context.search_quotes import SEARCH_TOOL, quotes_in, source_of
from conversations.models import ContextBlock, ContextSnapshot, Message, Reply, Thread
from memory.forgetting.matcher import Needles
from memory.forgetting.normalization import read_json, texts_in
from memory.forgetting.recorded_texts import ITEMS_START, RemovedRows, RowKey, find_recorded
from memory.forgetting.result import Rows
from memory.forgetting.search import in_order, parts_with, resting_on
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from memory.tags import thread_tag

CALLED = [{"type": "tool_use", "name": SEARCH_TOOL}]


@dataclass(frozen=True, kw_only=True)
class Quotations:
    """The turns that hold a quote in what the tool answered, and the texts of requests that do."""

    turns: Sequence[Message] = ()
    blocks: Mapping[RowKey, int] = field(default_factory=dict)


NOWHERE = Quotations()


def left_by(thread: Thread) -> Rows:
    """Of a thread that is deleted: memories that rest on nothing else or are of this thread alone, the days that it is told of,
    and what was made of any of this elsewhere."""
    memories = Memory.objects.filter(user=thread.user_id)
    confined = memories.filter(confined_to=thread_tag(thread.id)).values_list("id", flat=True)
    return _elsewhere(
        thread,
        memories=_resting_on(memories, _turns(thread)) | {*confined},
        topics=frozenset(Topic.objects.filter(thread=thread).values_list("id", flat=True)),
    )


def cleared_from(thread: Thread) -> Rows:
    """Of a thread that is cleared, besides its turns, summaries and places in the index: memories and topics that rest on
    nothing else, the days that it is told of, what was made of any of this elsewhere, the replies there that quote it, the
    events of its own replies and the texts of its requests. The account of what each was given stays: it holds no text."""
    turns, user = _turns(thread), thread.user_id
    rows = _elsewhere(
        thread,
        memories=_resting_on(Memory.objects.filter(user=user), turns),
        topics=_resting_on(Topic.objects.filter(user=user), turns),
        quotes=_quoting(thread),
    )
    texts = ContextBlock.objects.filter(thread=thread, forgotten_at=None).exclude(text__startswith=ITEMS_START)
    requests = ContextSnapshot.objects.filter(thread=thread)
    if thread.cleared_at:
        requests = requests.filter(created_at__gt=thread.cleared_at)
    return replace(
        rows,
        replies=rows.replies | {*Reply.objects.filter(thread=thread).values_list("id", flat=True)},
        blocks=rows.blocks | {*texts.values_list("id", flat=True)},
        snapshots=rows.snapshots + requests.count(),
        touched=rows.touched | {thread.id},
    )


def _elsewhere(
    thread: Thread, *, memories: frozenset[uuid.UUID], topics: frozenset[uuid.UUID], quotes: Quotations = NOWHERE
) -> Rows:
    """These rows with what was made of them, of the thread's turns or of its summaries outside of it."""
    others = list(Thread.objects.filter(user=thread.user_id).exclude(id=thread.id).values_list("id", flat=True))
    turns = in_order(dict.fromkeys(quotes.turns, "mention"))
    replies = frozenset(turn.reply_id for turn in quotes.turns if turn.reply_id)
    retold = frozenset(part.id for part in parts_with(ThreadSummary.objects.filter(user=thread.user_id), turns))
    parts = frozenset(ThreadSummary.objects.filter(thread=thread).values_list("id", flat=True))
    days = list(DailySummary.objects.filter(user=thread.user_id, parts__overlap=list(parts | retold)))
    rows = memories | topics | parts | retold | {day.id for day in days}
    records = find_recorded(
        others, RemovedRows(turns=turns, rows=rows, replies=replies, thread=thread.id), Needles([]), quotes.blocks
    )
    return Rows(
        memories=memories,
        turns=turns,
        topics=topics,
        summaries=retold,
        days=frozenset(day.id for day in days),
        beside=frozenset(_told_of_besides(days, parts | retold)),
        replies=replies,
        blocks=records.blocks,
        snapshots=records.snapshots,
        touched=records.threads | {turn.thread for turn in turns},
    )


def _turns(thread: Thread) -> set[uuid.UUID]:
    return set(Message.objects.filter(thread=thread).values_list("id", flat=True))


def _resting_on(rows: QuerySet[Any], turns: set[uuid.UUID]) -> frozenset[uuid.UUID]:
    """Those that no other turn is a source of. A thread may have more turns than a database likes to be asked about."""
    return resting_on([row for row in rows.exclude(sources=[]) if not turns.isdisjoint(row.sources)], turns)


def _told_of_besides(days: Iterable[DailySummary], parts: frozenset[uuid.UUID]) -> list[uuid.UUID]:
    """The other parts of these days, which are told anew with them."""
    others = {part for day in days for part in day.parts} - parts
    return list(ThreadSummary.objects.filter(Q(id__in=others) & ~Q(text="")).values_list("id", flat=True))


def _quoting(thread: Thread) -> Quotations:
    """Where its turns are quoted word for word in other threads of the same person, because a model searched for them."""
    others = Thread.objects.filter(user=thread.user_id).exclude(id=thread.id)
    turns = Message.objects.filter(thread__in=others, content__contains=CALLED).exclude(status=Message.Status.FORGOTTEN)
    blocks = ContextBlock.objects.filter(thread__in=others, forgotten_at=None, text__contains=f'"{SEARCH_TOOL}"')
    if not (turns.exists() or blocks.exists()):
        return NOWHERE
    texts = _texts_by_source(thread)
    return Quotations(
        turns=[turn for turn in turns.iterator() if _quotes(turn.content, texts)],
        blocks={
            (block.thread_id, bytes(block.sha256).hex()): block.pk
            for block in blocks.iterator()
            if block.thread_id and _quotes(read_json(block.text), texts)
        },
    )


def _texts_by_source(thread: Thread) -> dict[str, list[str]]:
    """The texts of all turns, by what a quote of them begins with."""
    texts: dict[str, list[str]] = {}
    turns = Message.objects.filter(thread=thread).exclude(status=Message.Status.FORGOTTEN)
    for at, role, text in turns.values_list("created_at", "role", "text").iterator():
        texts.setdefault(source_of(at, role), []).append(text)
    return texts


def _quotes(value: Any, texts: Mapping[str, Sequence[str]]) -> bool:
    """Whether one of the texts in a JSON value quotes one of the turns."""
    return any(
        bool(words) and any(words in turn for turn in texts.get(source, ()))
        for text in texts_in(value)
        for source, words in quotes_in(text)
    )
