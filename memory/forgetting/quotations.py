"""Where turns and files are quoted because a model searched for them: by what each reply noted that it quotes, and, of replies
that noted nothing yet, by the words. Reads only."""

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from django.db.models import Q, QuerySet

from conversations.context.files.thread_files import named_files
from conversations.context.render.search_quotes import (
    SEARCH_TOOL,
    former_source_of_part,
    quotes_in,
    source_of,
    source_of_part,
)
from conversations.models import ContextBlock, FilePart, Message, Quotation, Reply
from conversations.runtime.text import texts_in
from memory.forgetting.normalization import read_json
from memory.forgetting.recorded_texts import RowKey

AT_ONCE = 5_000
CALLED = [{"type": "tool_use", "name": SEARCH_TOOL}]

type TextsBySource = Mapping[str, Sequence[str]]
"""All texts of turns and parts, by what a quote of them begins with."""


@dataclass(frozen=True, kw_only=True)
class Quotations:
    """The turns that hold a quote in what the tool answered, and the texts of requests that do. ``replies`` were given one,
    whether or not they have left a turn yet, ``threads`` are theirs. ``files`` are those that the turns made of it."""

    turns: Sequence[Message] = ()
    blocks: Mapping[RowKey, int] = field(default_factory=dict)
    replies: frozenset[uuid.UUID] = frozenset()
    threads: frozenset[uuid.UUID] = frozenset()
    files: frozenset[uuid.UUID] = frozenset()


NOWHERE = Quotations()


def quoting(
    user_id: int, threads: Collection[uuid.UUID], said: QuerySet[Message], files: Collection[uuid.UUID]
) -> Quotations:
    """Where any of these turns and files is quoted in these threads, and what quotes such a quote."""
    worded = NOWHERE
    if _is_searched_in(user_id, threads):
        worded = _in_words(user_id, threads, _texts_of_turns(said) | _texts_of_files(user_id, files))
    turns = {turn.id: turn for turn in worded.turns}
    replies = whole_answers(user_id, [turn.reply_id for turn in worded.turns if turn.reply_id])
    fresh = {*said.values_list("id", flat=True), *files, *turns}
    while True:
        replies |= whole_answers(user_id, _noted(user_id, threads, fresh))
        written = Message.objects.filter(user=user_id, reply__in=replies).exclude(id__in=turns)
        new = {turn.id: turn for turn in written.exclude(status=Message.Status.FORGOTTEN)}
        if not new:
            break
        turns |= new
        fresh = {*new, *files_of(new.values())}
    of_replies = Reply.objects.filter(user=user_id, id__in=replies).values_list("thread_id", flat=True)
    return Quotations(
        turns=list(turns.values()),
        blocks=worded.blocks,
        replies=replies,
        threads=frozenset(of_replies.distinct()),
        files=files_of(turns.values()),
    )


def files_of(turns: Iterable[Message]) -> frozenset[uuid.UUID]:
    """The files that turns brought or made."""
    return frozenset(uuid.UUID(file) for turn in turns for file in named_files(turn.content or ()))


def _noted(user_id: int, threads: Collection[uuid.UUID], sources: Iterable[uuid.UUID]) -> Iterator[uuid.UUID]:
    """The replies that noted to quote one of the sources, of which a thread may have very many."""
    here = Quotation.objects.filter(user=user_id, reply__user=user_id, reply__thread__in=threads)
    for some in batched(sources, AT_ONCE):
        yield from here.filter(source__in=some).values_list("reply_id", flat=True)


def whole_answers(user_id: int, replies: Iterable[uuid.UUID]) -> frozenset[uuid.UUID]:
    """The replies, with those that go on with one of them and those that one of them goes on with."""
    whole = frozenset(replies)
    known = -1
    while len(whole) > known:
        known = len(whole)
        linked = Reply.objects.filter(Q(id__in=whole) | Q(continues__in=whole), user=user_id, continues__isnull=False)
        whole |= {reply for link in linked.values_list("id", "continues_id") for reply in link}
    return whole


def _in_words(user_id: int, threads: Collection[uuid.UUID], texts: TextsBySource) -> Quotations:
    """What quotes one of the texts word for word."""
    if not texts:
        return NOWHERE
    turns = Message.objects.filter(user=user_id, thread__in=threads, content__contains=CALLED).exclude(
        status=Message.Status.FORGOTTEN
    )
    blocks = ContextBlock.objects.filter(
        user=user_id, thread__in=threads, forgotten_at=None, text__contains=f'"{SEARCH_TOOL}"'
    )
    return Quotations(
        turns=[turn for turn in turns.iterator() if _quotes(turn.content, texts)],
        blocks={
            (block.thread_id, bytes(block.sha256).hex()): block.pk
            for block in blocks.iterator()
            if block.thread_id and _quotes(read_json(block.text), texts)
        },
    )


def _is_searched_in(user_id: int, threads: Collection[uuid.UUID]) -> bool:
    """Whether a model searched in any of these threads: else nothing is quoted there."""
    turns = Message.objects.filter(user=user_id, thread__in=threads, content__contains=CALLED)
    blocks = ContextBlock.objects.filter(
        user=user_id, thread__in=threads, forgotten_at=None, text__contains=f'"{SEARCH_TOOL}"'
    )
    return turns.exclude(status=Message.Status.FORGOTTEN).exists() or blocks.exists()


def _texts_of_turns(turns: QuerySet[Message]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    said = turns.exclude(status=Message.Status.FORGOTTEN).values_list("created_at", "role", "text")
    for at, role, text in said.iterator():
        texts.setdefault(source_of(at, role), []).append(text)
    return texts


def _texts_of_files(user_id: int, files: Collection[uuid.UUID]) -> dict[str, list[str]]:
    """Of all their parts, each on one line as it is quoted."""
    texts: dict[str, list[str]] = {}
    parts = FilePart.objects.filter(user=user_id, file__user=user_id, file__in=files)
    columns = ("file__created_at", "file__name", "label", "text")
    for at, name, label, text in parts.values_list(*columns).iterator():
        for source in {source_of_part(at, name, label), former_source_of_part(at, name, label)}:
            texts.setdefault(source, []).append(" ".join(text.split()))
    return texts


def _quotes(value: Any, texts: TextsBySource) -> bool:
    """Whether one of the texts in a JSON value quotes one of the turns or parts."""
    return any(
        bool(words) and any(words in quoted for quoted in texts.get(source, ()))
        for text in texts_in(value)
        for source, words in quotes_in(text)
    )
