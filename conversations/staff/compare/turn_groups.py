"""Turns that only one of two model requests was given, in ranges of one fate. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.utils.translation import gettext

from conversations.context.explain.comparing import Comparison, TurnSpan
from conversations.context.reasons import Reason
from conversations.context.tokens.estimate import text_of
from conversations.context.turns.turn import Turn
from conversations.runtime.wording import filled
from conversations.staff.compare.sides import TAKEN, Side
from memory.models import ThreadSummary

EXCERPTS = 8
"""Turns of one range that are shown with what they say."""
EXCERPT_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    id: UUID | None
    position: int
    role: str
    text: str


@dataclass(frozen=True, kw_only=True)
class TurnRange:
    """Neighbouring turns with one fate, why they have it, and the summaries that stand in for some of them."""

    what: str
    thread: str
    after: int
    count: int
    why: str
    summaries: Sequence[ThreadSummary] = ()
    excerpts: Sequence[Excerpt] = ()
    hidden: int = 0


@dataclass(frozen=True, kw_only=True)
class TurnGroup:
    title: str
    mark: str
    count: int
    ranges: Sequence[TurnRange]
    is_masked: bool


def count_of(ranges: Iterable[TurnSpan]) -> int:
    return sum(span.last - span.first + 1 for span in ranges)


def turn_groups(comparison: Comparison, a: Side, b: Side, summaries: Sequence[ThreadSummary]) -> Iterator[TurnGroup]:
    groups = [
        (gettext("Turns that came in"), "+", comparison.added, b, a),
        (gettext("Turns that dropped out"), "−", comparison.removed, a, b),
        (gettext("Turns that became shorter"), "…", comparison.shortened, b, b),
        (gettext("Turns that are whole again"), "=", comparison.restored, b, a),
    ]
    for title, mark, ranges, side, other in groups:
        rows = [
            turn_range(part, why, side, summaries if mark == "−" else ())
            for span in ranges
            for part, why in by_reason(span, other)
        ]
        if rows:
            yield TurnGroup(title=title, mark=mark, count=count_of(ranges), ranges=rows, is_masked=not side.shown)


def by_reason(turns: TurnSpan, other: Side) -> Iterator[tuple[TurnSpan, str]]:
    """The turns as ranges that share what became of them in the other request."""
    if str(other.page.thread) != turns.thread:
        yield turns, gettext("of another thread")
        return
    fates = ((place, fate_in(other, place)) for place in range(turns.first, turns.last + 1))
    for why, group in groupby(fates, key=lambda fate: fate[1]):
        places = [place for place, _ in group]
        yield TurnSpan(thread=turns.thread, first=places[0], last=places[-1]), why


def fate_in(other: Side, place: int) -> str:
    if place == other.taken.position:
        return gettext(TAKEN)
    runs = other.page.runs
    run = next((run for run in runs if run.first <= place <= run.last), None)
    if run is None:
        return gettext("not said yet") if not runs or place > runs[-1].last else gettext("not counted")
    return gettext(Reason(run.reason).label)


def turn_range(turns: TurnSpan, why: str, side: Side, summaries: Sequence[ThreadSummary]) -> TurnRange:
    places = range(turns.first, turns.last + 1)
    turns_shown = [side.turns[place] for place in places if place in side.turns][:EXCERPTS]
    one = turns.first == turns.last
    return TurnRange(
        what=filled("turn {first}", first=turns.first)
        if one
        else filled("turns {first} to {last}", first=turns.first, last=turns.last),
        thread=turns.thread,
        after=turns.last + 1,
        count=len(places),
        why=why,
        summaries=[
            part for part in summaries if part.first_position <= turns.last and part.last_position >= turns.first
        ],
        excerpts=[
            Excerpt(id=turn.id, position=turn.position, role=turn.role, text=excerpt(turn)) for turn in turns_shown
        ],
        hidden=len(places) - len(turns_shown) if turns_shown else 0,
    )


def excerpt(turn: Turn) -> str:
    text = text_of(turn.content)
    return text if len(text) <= EXCERPT_CHARS else f"{text[:EXCERPT_CHARS]}…"
