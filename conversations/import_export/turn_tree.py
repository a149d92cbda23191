"""Turns of a record as the tree that they are in a thread: where each stands, and which of them a thread has already. Pure."""

import uuid
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from conversations.context.tokens.estimate import text_of
from conversations.import_export.records import BranchRecord, TurnRecord


class PlacedTurn(NamedTuple):
    """``parent`` is the position of the turn that it follows, 0 for none."""

    turn: TurnRecord
    position: int
    depth: int
    parent: int
    is_active: bool


class StoredTurn(NamedTuple):
    """A turn that is here. ``parent`` is its id."""

    id: uuid.UUID
    parent: uuid.UUID | None
    position: int
    depth: int
    token_total: int
    is_active: bool


def placed_turns(turns: Sequence[TurnRecord], branches: Sequence[BranchRecord] = ()) -> Iterator[PlacedTurn]:
    """All turns of a new thread in the order in which they were said."""
    depths = array("I", [0])
    for turn, parent, is_active in _in_order(turns, branches):
        depths.append(depths[parent] + 1)
        yield PlacedTurn(turn, len(depths) - 1, depths[-1], parent, is_active)


def _in_order(turns: Sequence[TurnRecord], branches: Sequence[BranchRecord]) -> Iterator[tuple[TurnRecord, int, bool]]:
    """Each turn with the position of the one that it follows, and whether it is on the path."""
    beside = iter(branches)
    branch = next(beside, None)
    position = before = 0
    for place, turn in enumerate(chain(turns, [None])):
        while branch and (turn is None or branch.after <= place):
            yield branch.turn, branch.parent, False
            branch, position = next(beside, None), position + 1
        if turn:
            yield turn, before, True
            before = position = position + 1


def branch_count(turns: Iterable[PlacedTurn]) -> int:
    """How many ends there are beside the path: turns that nothing follows."""
    ends: set[int] = set()
    for each in turns:
        ends.discard(each.parent)
        if not each.is_active:
            ends.add(each.position)
    return len(ends)


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """What an import brings to a thread that is here: the turns that are not, by their positions here. They are active where
    the path of the document becomes that of the thread; ``goes_on``: behind the end of the one that it has."""

    new: Sequence[PlacedTurn]
    goes_on: bool


type TurnKey = tuple[int, str, str]
"""The position of the turn before, the role and the text."""


def continuation(
    turns: Iterable[PlacedTurn], here: Sequence[StoredTurn], *, last: int, known: Mapping[TurnKey, int]
) -> Continuation:
    """``last`` is the last position of the thread. A turn is there by its id, or, where no id is, by what is ``known`` of it.

    The path is followed where it ends with something new and holds on to all that was done here: where the thread has gone on
    here by itself, its path stays.
    """
    by_id = {turn.id: turn.position for turn in here}
    depths = {0: 0, **{turn.position: turn.depth for turn in here}}
    places, new, end = array("I", [0]), list[PlacedTurn](), 0
    for each in turns:
        parent = places[each.parent]
        position = by_id.get(each.turn.id) or (
            known and known.get((parent, each.turn.role, text_of(each.turn.content)))
        )
        if not position:
            position, depth = last + len(new) + 1, depths[parent] + 1
            depths[position] = depth
            new.append(each._replace(position=position, depth=depth, parent=parent))
        places.append(position)
        end = position if each.is_active else end
    active = max((turn.position for turn in here if turn.is_active), default=0)
    if not (end > last and active in places):
        return Continuation(new=[turn._replace(is_active=False) for turn in new], goes_on=False)
    return Continuation(new=new, goes_on=next(turn.parent for turn in new if turn.is_active) == active)
