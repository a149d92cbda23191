"""The active path through a thread's turns: which one it is, and how another becomes it.

Turns form a tree: each names its parent, and nothing of that ever changes. The active path is marked on its turns, so that
whoever reads it needs no walk; to move it changes these marks alone (requirement T3).
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import threads
from conversations.errors import ReplyInProgress
from conversations.models import Message, Reply, Thread
from conversations.runtime import clock
from conversations.runtime.db import run
from conversations.runtime.sql_files import read_statements
from memory.consolidation import invalidation
from memory.index.index_turns import catch_up_if_possible

SQL = read_statements(__file__)
NEAR_VERSIONS = 20
"""Versions before and after one that are named beside it, however many there are."""


@dataclass(frozen=True, kw_only=True)
class PlacedTurn:
    """Where a turn stands in the tree of its thread."""

    id: uuid.UUID
    parent: uuid.UUID | None


@dataclass(frozen=True, kw_only=True)
class Versions:
    """The versions of a turn: all that follow the same turn. It is the one of this ``number``, from 1, of so many.

    ``ids`` are its own, and those of the ones next to it, at most ``NEAR_VERSIONS`` before and after it, oldest first.
    """

    ids: Sequence[uuid.UUID]
    number: int
    count: int

    @property
    def first(self) -> int:
        """The number of the first of the ids."""
        return self.number - self.index

    @property
    def index(self) -> int:
        """Where its own id stands among them."""
        return min(self.number - 1, NEAR_VERSIONS)


@transaction.atomic
def activate(user: User, thread_id: str | uuid.UUID, message_id: str | uuid.UUID) -> None:
    """The path through a turn becomes the active one, to its newest end; the index catches up once that is committed. Raises
    ``ThreadNotFound``, ``MessageNotFound``, and ``ReplyInProgress`` while a reply runs in the thread."""
    thread = threads.locked(user, thread_id, moves_path=True)
    _refuse_while_running(thread)
    turn = threads.message_in(thread, message_id)
    end_at(thread, newest_end(turn.id, _since(turn)))
    transaction.on_commit(partial(catch_up_if_possible, user.pk))


def end_at(thread: Thread, turn_id: uuid.UUID | None) -> None:
    """The active path ends with this turn; ``None`` is before the first. What was learnt of turns that it leaves is known no
    more, and theirs that it comes to are read again.

    Must run in a transaction that holds the thread's lock.
    """
    place = {"user": thread.user_id, "thread": thread.id}
    joining = run(SQL["off_path"], **place, turn=turn_id)
    end = threads.message_in(thread, turn_id).depth if turn_id else 0
    common = joining[0][2] - 1 if joining else end
    left = run(SQL["leave"], **place, depth=common)
    if not (joining or left):
        return
    run(SQL["join"], **place, turns=[id for id, _, _ in joining])
    run(SQL["move"], **place, depth=end, now=clock.now())
    thread.message_count, thread.path_version = end, thread.path_version + 1
    invalidation.path_moved(
        thread.user_id,
        thread.id,
        left=[id for id, _, _ in left],
        positions=[position for _, position, _ in (*left, *joining)],
        depth=common,
    )


def _refuse_while_running(thread: Thread) -> None:
    running = Reply.objects.filter(user=thread.user_id, thread=thread, status=Reply.Status.RUNNING).first()
    if running:
        raise ReplyInProgress(reply=str(running.id))


def newest_end(turn_id: uuid.UUID, turns: Iterable[PlacedTurn]) -> uuid.UUID:
    """The newest turn of those that follow a turn, or the turn itself. ``turns``: it and all that were stored after it, oldest
    first. Pure."""
    below, newest = {turn_id}, turn_id
    for turn in turns:
        if turn.parent in below:
            below.add(turn.id)
            newest = turn.id
    return newest


def _since(turn: Message) -> list[PlacedTurn]:
    later = Message.objects.filter(user=turn.user_id, thread=turn.thread_id, position__gte=turn.position)
    rows = later.order_by("position").values_list("id", "parent_id")
    return [PlacedTurn(id=id, parent=parent) for id, parent in rows]


def ids_to(turn_id: uuid.UUID, *, thread_id: uuid.UUID, user_id: int) -> list[uuid.UUID]:
    """Of the path that ends with a turn, oldest first, whether it is the active one or not; none where the turn is gone."""
    return [id for (id,) in run(SQL["path"], user=user_id, thread=thread_id, turn=turn_id)]


def turns_to(thread: Thread, message_id: str | uuid.UUID) -> QuerySet[Message]:
    """The turns of the path that ends with one, oldest first. Raises ``MessageNotFound``."""
    turn = threads.message_in(thread, message_id)
    ids = ids_to(turn.id, thread_id=thread.id, user_id=thread.user_id)
    return Message.objects.filter(user=thread.user_id, thread=thread, id__in=ids).order_by("position")


def versions_of(turn: Message) -> Versions | None:
    """Of one turn; ``None`` where it is the only one."""
    return versions([turn])[turn.id] if may_have_versions(turn) else None


def may_have_versions(turn: Message) -> bool:
    """Not where no turn of its thread was left before it."""
    return turn.position > turn.depth


def versions(turns: Sequence[Message]) -> Mapping[uuid.UUID, Versions]:
    """Of each of these turns of one thread."""
    if not turns:
        return {}
    place = {"user": turns[0].user_id, "thread": turns[0].thread_id}
    rows = run(SQL["versions"], **place, turns=[turn.id for turn in turns], near=NEAR_VERSIONS)
    following: dict[uuid.UUID, dict[int, uuid.UUID]] = {}
    places: dict[uuid.UUID, tuple[int, int]] = {}
    for id, follows, number, count in rows:
        following.setdefault(follows, {})[number] = id
        places[id] = number, count
    found = {}
    for turn in turns:
        number, count = places.get(turn.id, (1, 1))
        numbered = following.get(turn.parent_id or turn.thread_id, {number: turn.id})
        near = range(max(1, number - NEAR_VERSIONS), min(count, number + NEAR_VERSIONS) + 1)
        found[turn.id] = Versions(ids=[numbered[each] for each in near], number=number, count=count)
    return found
