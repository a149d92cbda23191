"""Where the turns of a thread are quoted word for word in other threads, because a model searched for them. Reads only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.context.search_quotes import SEARCH_TOOL, quotes_in, source_of
from conversations.models import ContextBlock, Message, Thread
from memory.forgetting.normalization import read_json, texts_in
from memory.forgetting.recorded_texts import RowKey

CALLED = [{"type": "tool_use", "name": SEARCH_TOOL}]


@dataclass(frozen=True, kw_only=True)
class Quotations:
    """The turns that hold a quote in what the tool answered, and the texts of requests that do."""

    turns: Sequence[Message] = ()
    blocks: Mapping[RowKey, int] = field(default_factory=dict)


NOWHERE = Quotations()


def quoting(thread: Thread) -> Quotations:
    """In the other threads of the same person."""
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
