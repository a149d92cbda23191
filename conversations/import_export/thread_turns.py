"""The turns of a thread that is read, to be found by what was made of them."""

import uuid
from array import array
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Self

from conversations.import_export.records import TurnRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadTurns:
    """The turns of one thread, to be found by id, by place – from 1 on – and by time."""

    all: Sequence[TurnRecord]
    places: Mapping[uuid.UUID, int]
    """Of those that made something."""
    earliest: Sequence[float]
    """For each turn, the earliest time of it and all that follow: times may go back."""

    @classmethod
    def of(cls, turns: Sequence[TurnRecord], makers: Collection[uuid.UUID | int]) -> Self:
        times = array("d", (turn.created_at.timestamp() for turn in turns))
        earliest = array("d", accumulate(reversed(times), min))
        earliest.reverse()
        places = {turn.id: place for place, turn in enumerate(turns, 1) if turn.id in makers or place in makers}
        return cls(all=turns, places=places, earliest=earliest)

    def place_of(self, maker: uuid.UUID | None, created_at: datetime) -> int:
        """The place of the turn that an artifact stands below: the one that made it, else the last that is not younger."""
        return self.places[maker] if maker else bisect_right(self.earliest, created_at.timestamp())
