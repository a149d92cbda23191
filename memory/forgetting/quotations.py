"""Where turns and parts of files are quoted word for word because a model searched for them. Reads only."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.context.search_quotes import (
    SEARCH_TOOL,
    former_source_of_part,
    quotes_in,
    source_of,
    source_of_part,
)
from conversations.models import ContextBlock, FilePart, Message, Thread
from memory.forgetting.normalization import read_json, texts_in
from memory.forgetting.recorded_texts import RowKey

CALLED = [{"type": "tool_use", "name": SEARCH_TOOL}]

type TextsBySource = Mapping[str, Sequence[str]]
"""All texts of turns and parts, by what a quote of them begins with."""


@dataclass(frozen=True, kw_only=True)
class Quotations:
    """The turns that hold a quote in what the tool answered, and the texts of requests that do."""

    turns: Sequence[Message] = ()
    blocks: Mapping[RowKey, int] = field(default_factory=dict)


NOWHERE = Quotations()


def quoting(user_id: int, threads: Collection[uuid.UUID], texts: TextsBySource) -> Quotations:
    """Where any of the texts is quoted in these threads."""
    turns = Message.objects.filter(user=user_id, thread__in=threads, content__contains=CALLED).exclude(
        status=Message.Status.FORGOTTEN
    )
    blocks = ContextBlock.objects.filter(
        user=user_id, thread__in=threads, forgotten_at=None, text__contains=f'"{SEARCH_TOOL}"'
    )
    if not texts:
        return NOWHERE
    return Quotations(
        turns=[turn for turn in turns.iterator() if _quotes(turn.content, texts)],
        blocks={
            (block.thread_id, bytes(block.sha256).hex()): block.pk
            for block in blocks.iterator()
            if block.thread_id and _quotes(read_json(block.text), texts)
        },
    )


def is_searched_in(user_id: int, threads: Collection[uuid.UUID]) -> bool:
    """Whether a model searched in any of these threads: else nothing is quoted there."""
    turns = Message.objects.filter(user=user_id, thread__in=threads, content__contains=CALLED)
    blocks = ContextBlock.objects.filter(
        user=user_id, thread__in=threads, forgotten_at=None, text__contains=f'"{SEARCH_TOOL}"'
    )
    return turns.exclude(status=Message.Status.FORGOTTEN).exists() or blocks.exists()


def texts_of_thread(thread: Thread) -> dict[str, list[str]]:
    """Of its turns."""
    texts: dict[str, list[str]] = {}
    turns = Message.objects.filter(user=thread.user_id, thread=thread).exclude(status=Message.Status.FORGOTTEN)
    for at, role, text in turns.values_list("created_at", "role", "text").iterator():
        texts.setdefault(source_of(at, role), []).append(text)
    return texts


def texts_of_files(user_id: int, files: Collection[uuid.UUID]) -> dict[str, list[str]]:
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
