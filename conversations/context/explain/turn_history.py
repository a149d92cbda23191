"""What became of turns over all requests of a thread: which held one, which did not and why. Pure."""

import uuid
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from django.db import models

from conversations.context.reasons import OFF_PATH, Reason
from conversations.context.record.turn_account import TurnRun
from conversations.runtime.values import dataclass

type Parents = Mapping[int, int]
"""The turns of a thread by their positions, each with that of the turn before it on its path; 0: it is the first."""
MOST_APART = 100
"""Stretches of other branches within one run. With more of them it stays one: nobody could tell them on a page."""


class Fate(models.TextChoices):
    """What a request did with a turn, as coarse as a picture can show it."""

    NO_ROOM = "no_room", "left out: no room"
    SUMMARISED = "summarised", "left out: no room, a summary was made by then"
    REPLACED = "replaced", "left out: replaced by a later attempt"
    BRANCHED = "branched", "left out: on another branch"
    UNSENDABLE = "unsendable", "left out: nothing to send"
    SENT = "sent", "sent"
    MADE = "made", "left out: its artifact was made"
    DECLINED = "declined", "left out: a model declined it"
    UNSPOKEN = "unspoken", "left out: no model's words"
    SHORTENED = "shortened", "shortened"
    RECALLED = "recalled", "recalled beside the message"
    ASKED = "asked", "the message to answer"


FATES = {
    Reason.NEWEST: Fate.ASKED,
    Reason.RECENT: Fate.SENT,
    Reason.SHORTENED: Fate.SHORTENED,
    Reason.OVER_BUDGET: Fate.NO_ROOM,
    Reason.TURN_LIMIT: Fate.NO_ROOM,
    Reason.SUPERSEDED: Fate.REPLACED,
    Reason.OTHER_BRANCH: Fate.BRANCHED,
    Reason.FULFILLED_ARTIFACT: Fate.MADE,
    Reason.REFUSED: Fate.DECLINED,
    Reason.FAILED: Fate.UNSPOKEN,
    Reason.OFFLINE: Fate.UNSPOKEN,
    Reason.ORPHAN_TOOL: Fate.UNSENDABLE,
    Reason.RECALLED: Fate.RECALLED,
}
"""Of the reasons that a turn can have in a request that replies."""
HOLDING = frozenset({Reason.NEWEST, Reason.RECENT, Reason.SHORTENED, Reason.RECALLED})


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestOutcome:
    """What one request did with a turn. ``reason`` is ``None`` where the turn was not said yet, or comes after the message that
    the request answers. ``number`` counts the thread's requests that reply, from 1."""

    number: int
    id: uuid.UUID
    at: datetime
    reason: Reason | None

    @property
    def is_held(self) -> bool:
        return self.reason in HOLDING


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """Requests, one after the other, that did the same with a turn."""

    first: RequestOutcome
    last: RequestOutcome
    count: int

    @property
    def reason(self) -> Reason | None:
        return self.first.reason

    @property
    def is_held(self) -> bool:
        return self.first.is_held


@dataclass(frozen=True, kw_only=True)
class Return:
    """That a turn came back after it had been left out for ``gone``."""

    stretch: Stretch
    gone: Reason


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A turn through all requests of its thread, oldest first."""

    stretches: Sequence[Stretch]

    @property
    def concerned(self) -> Sequence[Stretch]:
        """Without the requests that the turn had no part in."""
        return [stretch for stretch in self.stretches if stretch.reason]

    @property
    def sent(self) -> int:
        return sum(
            stretch.count for stretch in self.stretches if stretch.is_held and stretch.reason is not Reason.RECALLED
        )

    @property
    def recalled(self) -> int:
        return sum(stretch.count for stretch in self.stretches if stretch.reason is Reason.RECALLED)

    @property
    def left_out(self) -> int:
        return sum(stretch.count for stretch in self.concerned if not stretch.is_held)

    @property
    def first_without(self) -> Stretch | None:
        """Where it was left out first after it had been held."""
        was_held = False
        for stretch in self.concerned:
            if was_held and not stretch.is_held:
                return stretch
            was_held = was_held or stretch.is_held
        return None

    @property
    def last_sent(self) -> Stretch | None:
        """Where it stood in its place last."""
        stretches = (
            stretch for stretch in self.concerned[::-1] if stretch.is_held and stretch.reason is not Reason.RECALLED
        )
        return next(stretches, None)

    @property
    def gone(self) -> Stretch | None:
        """The newest requests that left it out since it last stood in its place; ``None`` where none did."""
        for stretch in self.concerned[::-1]:
            if not stretch.is_held:
                return stretch
            if stretch.reason is not Reason.RECALLED:
                return None
        return None

    @property
    def last_recalled(self) -> Stretch | None:
        return next((stretch for stretch in self.concerned[::-1] if stretch.reason is Reason.RECALLED), None)

    @property
    def returns(self) -> list[Return]:
        returns: list[Return] = []
        gone: Reason | None = None
        was_held = False
        for stretch in self.concerned:
            if stretch.is_held:
                if gone and was_held:
                    returns.append(Return(stretch=stretch, gone=gone))
                gone, was_held = None, True
            else:
                gone = stretch.reason
        return returns


def traced(seen: Iterable[RequestOutcome]) -> Trace:
    return Trace(stretches=[_stretch(list(same)) for _, same in groupby(seen, key=lambda outcome: outcome.reason)])


def _stretch(same: Sequence[RequestOutcome]) -> Stretch:
    return Stretch(first=same[0], last=same[-1], count=len(same))


@dataclass(frozen=True, kw_only=True, slots=True)
class SummarizedRange:
    """A part of a thread that a summary was made of, and when: positions ``first`` to ``last``, both included."""

    first: int
    last: int
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class FateRange:
    """Neighbouring positions that have the same fate in one request."""

    first: int
    last: int
    fate: Fate


@dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """A bar that is the same in neighbouring requests: those from one place to another, both included."""

    begin: int
    end: int
    bar: FateRange


@dataclass(frozen=True, kw_only=True, slots=True)
class TreePath:
    """The turns of a path, and the stretches of other branches that lie between them: the first and the last of each."""

    turns: frozenset[int]
    beside: Sequence[tuple[int, int]]


def told_apart(requests: Sequence[Sequence[TurnRun]], parents: Parents) -> list[Sequence[TurnRun]]:
    """The runs of requests, oldest first; turns of other branches that lie within one of them are told as such."""
    paths: list[TreePath] = []
    told = [
        _told_apart(runs, parents, paths) for runs in requests[::-1]
    ]  # the path of a later one is that of most before
    return told[::-1]


def end_of(runs: Sequence[TurnRun]) -> int:
    """The last turn of the path that the request was built on."""
    return next((run.last for run in runs[::-1] if run.reason not in OFF_PATH), 0)


def _told_apart(runs: Sequence[TurnRun], parents: Parents, paths: list[TreePath]) -> Sequence[TurnRun]:
    end = end_of(runs)
    if end not in parents or not any(run.is_mixed for run in runs):  # it was cleared away since
        return runs
    path = next((path for path in paths if end in path.turns), None)
    if path is None:
        path = _path_to(end, parents)
        paths.append(path)
    return [piece for run in runs for piece in (_apart(run, path) if run.is_mixed else [run])]


def _path_to(end: int, parents: Parents) -> TreePath:
    turns, turn = [], end
    while turn in parents:
        turns.append(turn)
        turn = parents[turn]
    beside = sorted(place for place in parents.keys() - {*turns} if place < end)
    numbered = groupby(enumerate(beside), key=lambda each: each[1] - each[0])
    stretches = [[place for _, place in same] for _, same in numbered]
    return TreePath(turns=frozenset(turns), beside=[(stretch[0], stretch[-1]) for stretch in stretches])


def _apart(run: TurnRun, path: TreePath) -> Iterator[TurnRun]:
    begin = bisect_left(path.beside, run.first, key=lambda stretch: stretch[1])
    stretches = path.beside[begin : bisect_right(path.beside, run.last, key=lambda stretch: stretch[0])]
    if len(stretches) > MOST_APART:
        yield run
        return
    place = run.first
    for first, last in stretches:
        if place < first:
            yield replace(run, first=place, last=first - 1, count=first - place)
        yield replace(run, first=first, last=last, count=last - first + 1, reason=Reason.OTHER_BRANCH)
        place = last + 1
    if place <= run.last:
        yield replace(run, first=place, count=run.last - place + 1)


def after(position: int, parents: Parents) -> frozenset[int]:
    """The turn at this position and all that follow it, on whichever branch."""
    following = {position}
    for turn in sorted(parents):
        if parents[turn] in following:
            following.add(turn)
    return frozenset(following)


def bars(runs: Sequence[TurnRun], parts: Sequence[SummarizedRange], at: datetime) -> list[FateRange]:
    """The runs of a request that was made at this time. What had no room and was summarised by then is told apart."""
    earlier_parts = [part for part in parts if part.at <= at]
    pieces = [piece for run in runs for piece in _pieces(run, earlier_parts)]
    return [
        FateRange(first=group[0].first, last=group[-1].last, fate=fate)
        for fate, same in groupby(pieces, key=lambda piece: piece.fate)
        if (group := list(same))
    ]


def _pieces(run: TurnRun, parts: Sequence[SummarizedRange]) -> Iterator[FateRange]:
    fate, position = FATES[run.reason], run.first
    if fate is Fate.NO_ROOM:
        for part in parts:
            first, last = max(part.first, position), min(part.last, run.last)
            if first > last:
                continue
            if position < first:
                yield FateRange(first=position, last=first - 1, fate=fate)
            yield FateRange(first=first, last=last, fate=Fate.SUMMARISED)
            position = last + 1
    if position <= run.last:
        yield FateRange(first=position, last=run.last, fate=fate)


def areas(columns: Sequence[Sequence[FateRange]]) -> list[Area]:
    """The bars of requests side by side, those that are the same drawn as one."""
    areas: list[Area] = []
    begun: dict[FateRange, int] = {}
    for place, column in enumerate([*columns, []]):
        for bar in begun.keys() - set(column):
            areas.append(Area(begin=begun.pop(bar), end=place - 1, bar=bar))
        for bar in column:
            begun.setdefault(bar, place)
    return areas


def count_fates(runs: Sequence[TurnRun]) -> Counter[Fate]:
    """How many turns had each fate; what was summarised counts as left out."""
    counts: Counter[Fate] = Counter()
    for run in runs:
        counts[FATES[run.reason]] += run.count
    return counts
