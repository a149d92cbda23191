"""The turns of threads as an export has them: those of the active path, and beside them those of all other branches."""

import uuid
from array import array
from bisect import bisect
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Func, IntegerField, Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce

from conversations.import_export import export_pages
from conversations.import_export.document_files import Given, given_in
from conversations.import_export.export_pages import json_lines, separators, step
from conversations.models import Message, Thread
from conversations.threads import every_message_of, messages_of
from conversations.wire import models_of
from conversations.wire.feedback import FeedbackAnswer, feedback_on

BRANCHES = '], "branches": ['


class OctetLength(Func):
    function = "octet_length"
    output_field = IntegerField()


# PostgreSQL knows how long a text is without reading it.
SIZE = OctetLength("text") + Coalesce(OctetLength(Cast("content", TextField())), 0)
"""Bytes of a turn."""
TURN_FIELDS = (
    "id",
    "thread_id",
    "user_id",
    "position",
    "role",
    "content",
    "text",
    "created_at",
    "status",
    "offline",
    "model",
    "reply_id",
    "citations",
    "parent_id",
    "is_active",
)


@dataclass(frozen=True)
class WrittenTurns:
    """Of one thread: its path, and the turns beside it."""

    path: list[dict[str, Any]] = field(default_factory=list)
    branches: list[dict[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        return json_lines(self.path) + (BRANCHES + json_lines(self.branches) if self.branches else "")


def count_turns(thread: Thread) -> int:
    """Of all branches."""
    return thread.last_position - thread.cleared_through


def turns_of(threads: Sequence[Thread]) -> Mapping[uuid.UUID, WrittenTurns] | None:
    """Those of each thread; ``None`` where they are too long to be in memory all at once."""
    turns = Message.objects.filter(user=threads[0].user_id, thread__in=threads).order_by("thread_id", "position")
    if (turns.aggregate(size=Sum(SIZE))["size"] or 0) > export_pages.AT_ONCE:
        return None
    rows = list(turns.only(*TURN_FIELDS))
    written: dict[uuid.UUID, WrittenTurns] = {}
    for turn, values in zip(rows, _turn_objects(rows), strict=True):
        of_thread = written.setdefault(turn.thread_id, WrittenTurns())
        if turn.is_active:
            of_thread.path.append(values)
        else:
            of_thread.branches.append(_beside(turn, values, len(of_thread.path)))
    return written


async def long_thread(thread: Thread) -> AsyncIterator[str]:
    """The turns of one thread, page by page. No piece is empty."""
    if count_turns(thread) <= thread.message_count:
        async for lines in _straight(thread):
            yield lines
        return
    # Looked up once: where the path moves meanwhile, no turn stands twice or is missing.
    path, beside = await step(_positions)(thread)
    async for lines in _at(thread, path):
        yield lines
    yield BRANCHES
    async for lines in _at(thread, beside, path=path):
        yield lines


async def _straight(thread: Thread) -> AsyncIterator[str]:
    between, position = separators(), 0
    while position < thread.last_position and (turns := await step(turns_behind)(thread, position)):
        yield next(between) + await step(_written)(turns)
        position = turns[-1].position


async def _at(thread: Thread, positions: Sequence[int], *, path: Sequence[int] | None = None) -> AsyncIterator[str]:
    """The turns at these positions; with ``path`` they stand beside that."""
    between, done = separators(), 0
    while turns := await step(_first)(thread, positions[done : done + export_pages.PAGE]):
        yield next(between) + await step(_written)(turns, path)
        done = bisect(positions, turns[-1].position)


def _first(thread: Thread, positions: Sequence[int]) -> list[Message]:
    return _together(every_message_of(thread).filter(position__in=list(positions))) if positions else []


def _positions(thread: Thread) -> tuple[Sequence[int], Sequence[int]]:
    """Of the turns on the path, and beside it."""
    path, beside = (ArrayAgg("position", filter=Q(is_active=active), order_by="position") for active in (True, False))
    found = every_message_of(thread).order_by().aggregate(path=path, beside=beside)
    return array("I", found["path"] or []), array("I", found["beside"] or [])


def _written(turns: Sequence[Message], path: Sequence[int] | None = None) -> str:
    objects = zip(turns, _turn_objects(turns), strict=True)
    if path is None:
        return json_lines(values for _, values in objects)
    return json_lines(_beside(turn, values, bisect(path, turn.position)) for turn, values in objects)


def _beside(turn: Message, values: dict[str, Any], before: int) -> dict[str, Any]:
    """A turn beside the path, of which so many are older."""
    return values | {"parent": turn.parent_id, "after_position": before}


def turns_behind(thread: Thread, position: int) -> list[Message]:
    """The turns of the path that follow, as many as may be in memory at once."""
    return _together(messages_of(thread).filter(position__gt=position))


def _together(turns: QuerySet[Message]) -> list[Message]:
    """The first of them, as many as may be in memory at once."""
    sizes = list(turns.values_list("position", SIZE)[: export_pages.PAGE])
    if not sizes:
        return []
    totals = accumulate(size for _, size in sizes)
    most = export_pages.AT_ONCE
    through = [position for (position, _), total in zip(sizes, totals, strict=True) if total <= most]
    last = through[-1] if through else sizes[0][0]  # one that is longer is read alone
    return list(turns.filter(position__lte=last).only(*TURN_FIELDS))


def _turn_objects(turns: Sequence[Message]) -> Iterator[dict[str, Any]]:
    given, models = given_in(turns), models_of([turn for turn in turns if turn.reply_id])
    said = feedback_on(turns)
    return (_turn_object(turn, given, turn.model or models.get(turn.reply_id), said.get(turn.id)) for turn in turns)


def _turn_object(turn: Message, given: Given, model: str | None, feedback: FeedbackAnswer | None) -> dict[str, Any]:
    values = {"id": turn.id, "role": turn.role, "content": turn.blocks, "created_at": turn.created_at}
    status = {} if turn.status == Message.Status.COMPLETE else {"status": turn.status}
    told = {
        "offline": turn.offline,
        "model": model if turn.status != Message.Status.FORGOTTEN else None,
        "files": given.get((turn.thread_id, turn.position)),
        "citations": turn.citations,
        "feedback": feedback,
    }
    return values | status | {name: value for name, value in told.items() if value}
