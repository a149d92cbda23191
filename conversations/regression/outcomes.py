"""What became of one request: what it held, and what it would hold. Pure."""

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from conversations.context.built_context import Context
from conversations.context.files.account import PackedFiles, given_parts
from conversations.context.reasons import Reason
from conversations.context.record.turn_account import TurnRun
from conversations.context.sources import SourceItem
from conversations.runtime.values import dataclass

KINDS = ("turns", "memories", "parts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What a request holds, by names that are the same in each request of its thread: turns in it or recalled, what is known
    of the person, parts of files."""

    turns: frozenset[str]
    memories: frozenset[str]
    parts: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A request as it was, or as it would be. ``tokens`` are the model's, ``cost`` USD of the request without a cache and
    ``None`` where no price is known."""

    digest: bytes
    held: Held
    tokens: int
    cost: Decimal | None
    is_over_budget: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    request: uuid.UUID
    before: Side
    after: Side

    @property
    def is_identical(self) -> bool:
        return self.before.digest == self.after.digest

    def lost(self, kind: str) -> frozenset[str]:
        before: frozenset[str] = getattr(self.before.held, kind)
        after: frozenset[str] = getattr(self.after.held, kind)
        return before - after

    def gained(self, kind: str) -> frozenset[str]:
        before: frozenset[str] = getattr(self.before.held, kind)
        after: frozenset[str] = getattr(self.after.held, kind)
        return after - before


def held_by(context: Context) -> Held:
    """By a request that was built."""
    recalled = [run for run in context.runs if run.reason is Reason.RECALLED]
    positions = {turn.position for turn in context.parts.turns} | {*positions_of(recalled)}
    scope = context.material.request.scope if context.material else None
    items = [as_recorded(item) for item in (*context.items, *context.recalled)]
    return held(positions, items, context.files, thread=str(scope.thread_id) if scope else "")


def held(
    positions: Collection[int], items: Iterable[Mapping[str, Any]], files: PackedFiles | None, *, thread: str
) -> Held:
    """``items`` as a snapshot has them. Turns of the thread by their position, wherever in the request they stand; those of
    others by their id."""
    included = [item for item in items if item["included"]]
    elsewhere = {item["id"] for item in included if item.get("thread", thread) != thread}
    return Held(
        turns=frozenset({*map(str, positions), *elsewhere}),
        memories=frozenset(f"{item['kind']} {item['id']}" for item in included if "thread" not in item),
        parts=frozenset(f"{file} {number}" for file, number in given_parts(files)),
    )


def positions_of(runs: Iterable[TurnRun]) -> Iterator[int]:
    """In a run that others' paths lie between, those too: nothing tells them apart in a record."""
    for run in runs:
        yield from range(run.first, run.last + 1)


def as_recorded(item: SourceItem) -> dict[str, Any]:
    """As a snapshot has it, as far as it is asked here."""
    return {name: getattr(item, name) for name in ("kind", "id", "included", "thread") if hasattr(item, name)}
