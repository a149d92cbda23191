"""The turns of one thread of a document: its active path, and those beside it, each with the position of its parent."""

import uuid
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn

from conversations.errors import ImportTooLarge
from conversations.import_export.blocks import blocks_of
from conversations.import_export.many_ids import ManyIds
from conversations.import_export.records import BranchRecord, LeftOut, TurnRecord
from conversations.import_export.thread_files import ThreadFiles
from conversations.import_export.turn_feedback import feedback_in
from conversations.import_export.values import MOST_CHARS, Fields, TextTooLong
from conversations.models import Message, text_blocks
from conversations.models.data_map import FORGOTTEN
from conversations.runtime.text import shortened
from conversations.runtime.wording import worded

WRITER_CHARS = 200
"""Of the name of the model that wrote a turn. A longer one is cut: for a name no message is left out."""
MOST_TURNS = 1_000_000
"""Of all threads of an upload together."""


@dataclass
class TurnIds:
    """The ids of all turns of an upload, each with its number: the how many-th turn it is."""

    stored: ManyIds
    id_of: Callable[[Fields, int], uuid.UUID]
    """The id that a turn of this number is stored by."""
    count: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    """The numbers of those that are not taken, by id."""
    left_out: list[LeftOut] = field(default_factory=list)

    def next(self) -> int:
        self.count += 1
        if self.count > MOST_TURNS:
            raise ImportTooLarge(
                worded(
                    "The document has more than {most} messages. Nothing was imported: send it as several documents, each "
                    "with some of its threads.",
                    most=MOST_TURNS,
                ),
                limit=MOST_TURNS,
            )
        return self.count

    def number(self, id: uuid.UUID) -> int:
        """0 for a turn that did not come yet."""
        return self.skipped.get(str(id)) or self.stored.number(str(id))


class TurnReader:
    """``turns`` come first, then ``branches``. Then a place in `messages`, from 1 on, is known as a position."""

    def __init__(self, thread: Fields, start: datetime, files: ThreadFiles, ids: TurnIds) -> None:
        self._thread, self._start, self._files, self._ids = thread, start, files, ids
        self._first = ids.count
        """Of this thread."""
        self._given = 0
        """Messages of the path, with those that are left out."""
        self._skipped: list[int] = []
        """Places of messages that are left out."""
        self._after, self._positions = array("I"), array("I")
        """Of the turns beside the path: how many of the path come before each, and its position."""
        self._before = 0
        """How many of the path come before the next one at least."""
        self.is_whole = True
        """Nothing of it is left out."""

    def turns(self) -> Iterator[TurnRecord]:
        for turn, time in self._timed("messages"):
            self._given += 1
            record = self._read(turn, time, self._ids.next())
            if record:
                yield record
            else:
                self._skipped.append(self._given)

    def branches(self) -> Iterator[BranchRecord]:
        for turn, time in self._timed("branches"):
            number = self._ids.next()
            parent = self._parent(turn)
            self._before = after = self._count_before(turn, parent)
            record = self._read(turn, time, number)
            if record:
                self._after.append(after)
                self._positions.append(after + len(self._after))
                yield BranchRecord(turn=record, parent=self._position_of(parent), after=after)
            else:  # what follows it follows its parent
                self._positions.append(self._position_of(parent))

    def place(self, number: int) -> int:
        """The place of a message once those before it are left out; 0 for one that is."""
        return 0 if number in self._skipped else self._count_to(number)

    def count_to(self, number: int) -> int:
        """How many of the first so many messages are taken."""
        return self._count_to(min(number, self._given))

    def position(self, place: int) -> int:
        """Among all turns of the thread, of a place on the path; 0 is before the first."""
        return place + bisect_left(self._after, place)

    def _count_to(self, number: int) -> int:
        return number - sum(skipped <= number for skipped in self._skipped)

    def _timed(self, name: str) -> Iterator[tuple[Fields, datetime]]:
        def times() -> Iterator[datetime | None]:
            return (turn.moment("created_at") for turn in self._thread.objects(name))

        return zip(self._thread.objects(name), filled(times, self._start), strict=True)

    def _parent(self, turn: Fields) -> int:
        """The number within the thread of the turn that this one follows; 0 for none."""
        id = turn.identifier("parent")
        number = self._ids.number(id) - self._first if id else 0
        if id and number <= 0:
            self._refuse_parent(turn)
        return number

    def _refuse_parent(self, turn: Fields) -> NoReturn:
        turn.refuse(
            "parent",
            "must be the `id` of one of the `messages` of this thread, or of one of its `branches` that stands before it; "
            "leave it out for another first message.",
        )

    def _count_before(self, turn: Fields, parent: int) -> int:
        """How many of the path were there before it."""
        least = max(self._before, self._count_to(parent) if parent <= self._given else 0)
        given = turn.count("after_position")
        after = least if given is None else self.count_to(given)
        if after < least:
            turn.refuse(
                "after_position",
                f"must be at least {least}: `branches` stand in the order in which they were said, each behind its parent.",
            )
        return after

    def _position_of(self, number: int) -> int:
        """The position of the turn of this number, or of the one before it where it is left out."""
        if number > self._given:
            return self._positions[number - self._given - 1]
        return self.position(self._count_to(number))

    def _read(self, turn: Fields, time: datetime, number: int) -> TurnRecord | None:
        try:
            return self._record(turn, time, number)
        except TextTooLong as error:
            self.is_whole = False
            self._ids.left_out.append(LeftOut(place=turn.place, what=f"a message: {error.message}"))
            if id := turn.identifier("id"):
                self._ids.skipped[str(id)] = number
            return None

    def _record(self, turn: Fields, time: datetime, number: int) -> TurnRecord:
        """Of a turn that was forgotten nothing is taken but its place, whatever the document says in it."""
        status = turn.choice("status", Message.Status.values, default=Message.Status.COMPLETE)
        is_forgotten, place = status == Message.Status.FORGOTTEN, turn.at("content")
        given = turn.get("content") if is_forgotten else self._files.in_turn(turn.get("content"), place, time)
        content = blocks_of(given, place)
        role = turn.choice("role", Message.Role.values)
        is_written = role == Message.Role.ASSISTANT and not is_forgotten
        return TurnRecord(
            id=self._ids.id_of(turn, number),
            role=role,
            content=text_blocks(FORGOTTEN) if is_forgotten else content,
            created_at=time,
            status=status,
            offline=turn.switch("offline", default=False),
            model=shortened(turn.line("model", most=MOST_CHARS), WRITER_CHARS) if is_written else "",
            files=tuple(self._files.given(turn, content)) if role == Message.Role.USER and not is_forgotten else (),
            citations=() if is_forgotten else tuple(self._files.cited(turn)),
            feedback=feedback_in(turn, time) if is_written else None,
        )


def filled(times: Callable[[], Iterable[datetime | None]], start: datetime) -> Iterator[datetime]:
    """Times where some are missing: that of the turn before, and for the first ones ``start``, or what comes next if that is
    earlier. Times that are given stay, even where they go back."""
    last = min(start, next(filter(None, times()), start))
    for time in times():
        last = time or last
        yield last
