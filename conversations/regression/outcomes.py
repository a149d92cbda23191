"""What became of one request: what it held, and what it would hold. Pure."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from typing import Any

from conversations.context.built_context import Context
from conversations.context.explain.section_names import FILES, HISTORY, MESSAGE
from conversations.context.files.account import PackedFiles, given_parts
from conversations.context.reasons import Reason
from conversations.context.record import snapshots
from conversations.context.record.turn_account import TurnRun
from conversations.models import ContextSnapshot
from conversations.runtime.values import dataclass

KINDS = ("turns", "memories", "parts")
STANDING, IN_TURNS, BESIDE = "standing", "in its turn", "beside"
"""Where in a request something stands."""
NOT_CHOSEN = "not_chosen"
"""The reason of what is not in the account of a request at all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """What a request holds and where: turns in it or recalled, what is known of the person, parts of files, by names that are
    the same in each request of its thread. ``runs`` and ``reasons`` tell why others are not in it."""

    turns: Mapping[str, str]
    memories: Mapping[str, str]
    parts: Mapping[str, str]
    runs: Sequence[TurnRun] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)

    def why_not(self, kind: str, name: str) -> str:
        """The reason of one that it does not hold."""
        if kind == "turns" and name.isdecimal():
            runs = (run for run in self.runs if run.first <= int(name) <= run.last)
            return next((run.reason.value for run in runs), NOT_CHOSEN)
        return self.reasons.get(name, NOT_CHOSEN)


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A request as it was, or as it would be. ``tokens`` are the model's, ``sections`` those by section, ``cached`` those that
    the prompt cache was expected to hold; ``cost`` is USD of the request without a cache and ``None`` where no price is
    known."""

    digest: bytes
    held: Held
    tokens: int
    sections: Mapping[str, int]
    cached: int
    cost: Decimal | None
    is_over_budget: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """``cited`` are the parts of files that the reply to it cited."""

    request: uuid.UUID
    before: Side
    after: Side
    cited: frozenset[str] = frozenset()

    @property
    def is_identical(self) -> bool:
        return self.before.digest == self.after.digest

    @property
    def has_same_items(self) -> bool:
        """Whether it holds the same in the same places, however its texts are put."""
        return all(getattr(self.before.held, kind) == getattr(self.after.held, kind) for kind in KINDS)

    def lost(self, kind: str) -> frozenset[str]:
        return frozenset(getattr(self.before.held, kind).keys() - getattr(self.after.held, kind).keys())

    def gained(self, kind: str) -> frozenset[str]:
        return frozenset(getattr(self.after.held, kind).keys() - getattr(self.before.held, kind).keys())

    def moved(self, kind: str) -> frozenset[str]:
        """Those that it holds in another place."""
        before: Mapping[str, str] = getattr(self.before.held, kind)
        after: Mapping[str, str] = getattr(self.after.held, kind)
        return frozenset(name for name in before.keys() & after.keys() if before[name] != after[name])

    @property
    def lost_cited(self) -> frozenset[str]:
        return self.cited & self.lost("parts")


def held_by(context: Context) -> Held:
    """By a request that was built."""
    scope = context.material.request.scope if context.material else None
    in_turns = [turn.position for turn in context.parts.turns]
    return held(
        in_turns,
        context.runs,
        {STANDING: map(as_recorded, context.items), BESIDE: map(as_recorded, context.recalled)},
        context.files,
        thread=str(scope.thread_id) if scope else "",
    )


def held(
    in_turns: Iterable[int],
    runs: Sequence[TurnRun],
    items: Mapping[str, Iterable[Mapping[str, Any]]],
    files: PackedFiles | None,
    *,
    thread: str,
) -> Held:
    """``items`` as a snapshot has them, by their place. Turns of the thread by their position; those of others by their id."""
    every = [(place, item) for place, those in items.items() for item in those]
    included = [(place, item) for place, item in every if item["included"]]
    recalled = [run for run in runs if run.reason is Reason.RECALLED]
    turns = {id: BESIDE for _, item in included if (id := item["id"]) and item.get("thread", thread) != thread}
    turns |= {str(position): BESIDE for position in positions_of(recalled)}
    turns |= {str(position): IN_TURNS for position in in_turns}
    return Held(
        turns=turns,
        memories={_name(item): place for place, item in included if "thread" not in item},
        parts={f"{file} {number}": IN_TURNS for file, number in given_parts(files)},
        runs=runs,
        reasons={_name(item): str(item.get("reason", "")) for _, item in every if not item["included"]},
    )


def _name(item: Mapping[str, Any]) -> str:
    """A turn of another thread is called by its id alone, as ``turns`` have it."""
    return str(item["id"]) if "thread" in item else f"{item['kind']} {item['id']}"


def positions_of(runs: Iterable[TurnRun]) -> Iterator[int]:
    """In a run that others' paths lie between, those too: nothing tells them apart in a record."""
    for run in runs:
        yield from range(run.first, run.last + 1)


def as_recorded(item: Any) -> dict[str, Any]:
    """As a snapshot has it, as far as it is asked here."""
    names = ("kind", "id", "included", "reason", "thread")
    return {name: getattr(item, name) for name in names if hasattr(item, name)}


def sections_of(context: Context) -> dict[str, int]:
    """Tokens of the model by section, as a snapshot has them. What a reply did in its rounds is one."""
    of = context.factor.of_estimate
    sections: dict[str, int] = {}
    for part in (*context.sections, *context.parts.beside, *context.parts.rounds):
        sections[part.name] = sections.get(part.name, 0) + of(part.tokens)
    sections[HISTORY] = of(context.history_tokens)
    sections[MESSAGE] = 0 if context.parts.silent else of(context.newest.token_count)
    sections[FILES] = of(context.parts.file_tokens)
    return sections


def recorded_sections(sent: ContextSnapshot) -> dict[str, int]:
    """The same of a record."""
    sections: dict[str, int] = {}
    for part in (*snapshots.sections_of(sent), *snapshots.additions_of(sent)):
        sections[part.name] = sections.get(part.name, 0) + part.tokens
    sections[HISTORY] = sent.message_history_tokens
    silent = sent.purpose == ContextSnapshot.Purpose.ARTIFACT
    sections[MESSAGE] = 0 if silent else snapshots.runs_of(sent)[-1].tokens
    sections[FILES] = sent.files["tokens"] if sent.files else 0
    return sections
