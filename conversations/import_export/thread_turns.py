"""The turns of a thread that is read, to be found by what was made of them."""

import uuid
from array import array
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple, Self

from conversations.import_export.records import BranchRecord, TurnRecord
from conversations.import_export.turn_reader import TurnReader


class Maker(NamedTuple):
    turn: TurnRecord
    position: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadTurns:
    """The turns of one thread, to be found by id, by place on the path – from 1 on – and by time."""

    path: Sequence[TurnRecord]
    reader: TurnReader
    makers: Mapping[uuid.UUID, Maker]
    earliest: Sequence[float]
    """For each turn of the path, the earliest time of it and all that follow: times may go back."""

    @classmethod
    def of(
        cls,
        path: Sequence[TurnRecord],
        branches: Sequence[BranchRecord],
        named: Collection[uuid.UUID | int],
        reader: TurnReader,
    ) -> Self:
        """``named`` are those that made something, by id or by place on the path."""
        times = array("d", (turn.created_at.timestamp() for turn in path))
        earliest = array("d", accumulate(reversed(times), min))
        earliest.reverse()
        makers = {
            turn.id: Maker(turn, reader.position(place))
            for place, turn in enumerate(path, 1)
            if turn.id in named or place in named
        }
        for number, branch in enumerate(branches, 1):
            if branch.turn.id in named:
                makers[branch.turn.id] = Maker(branch.turn, branch.after + number)
        return cls(path=path, reader=reader, makers=makers, earliest=earliest)

    def at(self, place: int) -> Maker | None:
        """The turn at a place on the path."""
        return Maker(self.path[place - 1], self.reader.position(place)) if 1 <= place <= len(self.path) else None

    def position_at(self, time: datetime) -> int:
        """Of the last turn of the path that is not younger."""
        return self.reader.position(bisect_right(self.earliest, time.timestamp()))
