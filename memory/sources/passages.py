"""What was found for a message as lines beside it: passages of turns and facts, by day and conversation. Pure."""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, tzinfo
from itertools import groupby
from typing import Any

from conversations.context.reasons import Reason
from conversations.context.render.excerpts import bullet
from conversations.context.sources import Fitted, PassageItem, ScoredItem, SourceItem, TurnItem
from conversations.context.tokens.budget import SMALLEST_MARK
from conversations.context.tokens.estimate import estimate_tokens
from conversations.context.turns.turn import Turn
from conversations.providers.markers import RECALLED
from conversations.providers.quoting import quotation, remembered_heading, said_heading
from conversations.runtime.text import clean
from conversations.runtime.values import dataclass
from memory.language.words import speaker

LEAST = 12
"""Tokens that no line is shorter than."""
NEAR = 8
"""Characters of white space that may lie between a passage and the next."""
HEAD = 80
"""Characters of a turn's beginning, before the passages of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A passage of a turn, or a fact, by how much it bears on the text. A fact is of no thread.

    ``text`` are the characters from ``start`` to before ``end`` of the turn, ``head`` its beginning where they are not that.
    ``times`` is how often the same was said, ``replaced_by`` the note that holds instead of what was noted from the turn,
    ``left_out`` why it may not be given.
    """

    kind: str
    id: uuid.UUID
    text: str
    at: datetime
    score: float
    role: str = ""
    thread: uuid.UUID | None = None
    depth: int = 0
    position: int = 0
    start: int = 0
    end: int = 0
    head: str = ""
    is_whole: bool = True
    is_last: bool = True
    times: int = 1
    replaced_by: uuid.UUID | None = None
    left_out: Reason | None = None

    @property
    def key(self) -> tuple[uuid.UUID, int]:
        return self.id, self.start


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """What is given of a turn, or a fact: its passages, best first, and the line that they make."""

    passages: Sequence[Candidate]
    text: str
    tokens: int

    @classmethod
    def of(cls, passages: Sequence[Candidate]) -> "_Line":
        text = line_of(passages)
        return cls(passages=passages, text=text, tokens=estimate_tokens(text) + 1)

    @property
    def first(self) -> Candidate:
        return self.passages[0]


def fitted(candidates: Iterable[Candidate], room: int, *, here: uuid.UUID | None, zone: tzinfo = UTC) -> Fitted:
    """As many of the candidates as fit so many tokens, best first; by day of the zone and conversation, in the order of
    their time, as what was said then."""
    chosen: dict[uuid.UUID, _Line] = {}
    tokens: dict[tuple[uuid.UUID, int], int] = {}
    considered: dict[uuid.UUID, list[Candidate]] = {}
    places: set[tuple[date, str]] = set()
    left, is_exact = room - estimate_tokens(RECALLED), True
    for candidate in candidates:
        considered.setdefault(candidate.id, []).append(candidate)
        if candidate.left_out:
            continue
        if left < LEAST and not is_exact:  # the lines together take less than one by one
            left, is_exact = room - estimate_tokens(_render(chosen.values(), here, zone)), True
        if left < LEAST:
            continue
        before, place = chosen.get(candidate.id), _place(candidate, zone)
        line = _Line.of([*before.passages, candidate] if before else [candidate])
        cost = line.tokens - (before.tokens if before else 0)
        heading = 0 if place in places else estimate_tokens(_heading(candidate, here, zone)) + 1
        if cost + heading <= left:
            left, is_exact = left - cost - heading, False
            places.add(place)
            chosen[candidate.id] = line
            tokens[candidate.key] = cost
    items = [
        _item(passages, tokens)
        for id, passages in considered.items()
        # What is left out of the thread itself is told by the account of its turns.
        if id in chosen or passages[0].thread is None or passages[0].thread != here
    ]
    items.sort(key=lambda item: not item.included)
    if not chosen:
        return Fitted(items=items)
    return Fitted(
        text=_render(chosen.values(), here, zone),
        items=items,
        turns=[_turn(line.first) for line in chosen.values() if line.first.thread and line.first.thread == here],
    )


def line_of(passages: Sequence[Candidate]) -> str:
    """The passages of one turn, in their order, with marks where it was cut; or the fact."""
    first = passages[0]
    if first.kind == "memory":
        return bullet(first.text)
    named, _ = speaker(first.head or first.text)
    text = first.text if first.is_whole else "".join(_pieces(sorted(passages, key=lambda passage: passage.start)))
    times = max(passage.times for passage in passages)
    return quotation(
        clean(text), role="" if named else first.role, times=times, is_replaced=first.replaced_by is not None
    )


def _pieces(passages: Sequence[Candidate]) -> Iterator[str]:
    first, last = passages[0], passages[-1]
    if first.head:
        yield first.head.rsplit(" ", 1)[0]
        yield SMALLEST_MARK
    end = first.start
    for passage in passages:
        yield " " if passage.start - end <= NEAR else SMALLEST_MARK
        yield passage.text
        end = passage.end
    if not last.is_last:
        yield SMALLEST_MARK


def _turn(candidate: Candidate) -> Turn:
    return Turn(
        id=candidate.id,
        position=candidate.position,
        depth=candidate.depth,
        role=candidate.role,
        content=[],
        token_count=0,
    )


def _render(chosen: Iterable[_Line], here: uuid.UUID | None, zone: tzinfo) -> str:
    in_time = sorted(
        chosen,
        key=lambda line: (*_place(line.first, zone), line.first.at, line.first.depth, str(line.first.id)),
    )
    lines = [RECALLED]
    for _, group in groupby(in_time, key=lambda line: _place(line.first, zone)):
        of_day = list(group)
        lines += [_heading(of_day[0].first, here, zone), *(line.text for line in of_day)]
    return "\n".join(lines)


def _place(candidate: Candidate, zone: tzinfo) -> tuple[date, str]:
    return candidate.at.astimezone(zone).date(), str(candidate.thread or "")


def _heading(candidate: Candidate, here: uuid.UUID | None, zone: tzinfo) -> str:
    at = candidate.at.astimezone(zone)
    return said_heading(at, here=candidate.thread == here) if candidate.thread else remembered_heading(at)


def _item(passages: Sequence[Candidate], tokens: dict[tuple[uuid.UUID, int], int]) -> SourceItem:
    """A turn with its passages, each with its own fate, or a fact."""
    first = passages[0]
    shown = [passage for passage in passages if passage.key in tokens]
    values: dict[str, Any] = {
        "kind": first.kind,
        "id": str(first.id),
        "included": bool(shown),
        "reason": Reason.RECALLED if shown else first.left_out or Reason.OVER_BUDGET,
        "tokens": sum(tokens[passage.key] for passage in shown),
        "score": round(first.score, 2),
    }
    if first.thread is None:
        return ScoredItem(**values)
    parts = [] if first.is_whole else [_part(passage, tokens) for passage in passages]
    parts.sort(key=lambda part: part.start)
    return TurnItem(
        **values,
        thread=str(first.thread),
        position=first.position,
        passages=parts,
        replaced_by=str(first.replaced_by) if first.replaced_by else None,
    )


def _part(passage: Candidate, tokens: dict[tuple[uuid.UUID, int], int]) -> PassageItem:
    return PassageItem(
        start=passage.start,
        end=passage.end,
        included=passage.key in tokens,
        reason=Reason.RECALLED if passage.key in tokens else passage.left_out or Reason.OVER_BUDGET,
        tokens=tokens.get(passage.key, 0),
    )
