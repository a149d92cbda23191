"""Which turns fit, and what became of the others. Pure: the same turns and budget give the same window."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conversations.context.budget import Budget
from conversations.context.reasons import Reason
from conversations.models import Message

LAST_PAIR = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A stored turn as the context needs it. ``shortened`` is the text that stands in for it where it could not fit."""

    position: int
    depth: int
    role: str
    content: list[dict[str, Any]]
    token_count: int
    id: uuid.UUID | None = None
    created_at: datetime | None = None
    reply: uuid.UUID | None = None
    shortened: str = ""

    @classmethod
    def of(cls, message: Message) -> "Turn":
        return cls(
            id=message.id,
            position=message.position,
            depth=message.depth,
            role=message.role,
            content=message.content,
            token_count=message.token_count,
            created_at=message.created_at,
            reply=message.reply_id,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """Neighbouring turns that share their fate: positions ``first`` to ``last``, both included.

    ``sha256`` names the block that stands in for a shortened turn.
    """

    first: int
    last: int
    count: int
    included: bool
    reason: Reason
    tokens: int = 0
    sha256: str = ""


def window(turns: Sequence[Turn], budget: Budget) -> tuple[list[Turn], Reason]:
    """The newest turns that fit, in order, and why the one before them does not (W1).

    ``turns`` are neighbours on the path, oldest first. The last pair stays whatever it takes.
    """
    tokens = 0
    for kept, turn in enumerate(reversed(turns)):
        tokens += turn.token_count
        if kept < LAST_PAIR:
            continue
        if kept >= budget.history_turns:
            return list(turns[-kept:]), Reason.TURN_LIMIT
        if tokens > budget.history_tokens:
            return list(turns[-kept:]), Reason.OVER_BUDGET
    return list(turns), Reason.OVER_BUDGET


def account(history: Sequence[Turn], newest: Turn, left_out: Reason, digests: dict[int, str]) -> list[Run]:
    """Every position of the thread up to the newest message exactly once (S3).

    What lies before the window is one run, however long the thread is. A position missing between turns of the path
    belongs to an attempt that a retry replaced. ``digests``: position to SHA-256 of a shortened turn's stand-in.
    """
    return list(_joined(_runs(history, newest, left_out, digests)))


def _runs(history: Sequence[Turn], newest: Turn, left_out: Reason, digests: dict[int, str]) -> Iterator[Run]:
    expected = 1
    start = history[0] if history else newest
    if start.depth > 1:
        yield Run(first=1, last=start.position - 1, count=start.depth - 1, included=False, reason=left_out)
        expected = start.position
    for turn in [*history, newest]:
        if turn.position > expected:
            count = turn.position - expected
            yield Run(first=expected, last=turn.position - 1, count=count, included=False, reason=Reason.SUPERSEDED)
        reason = Reason.NEWEST if turn is newest else Reason.RECENT
        if turn.position in digests:
            reason = Reason.SHORTENED
        yield Run(
            first=turn.position,
            last=turn.position,
            count=1,
            included=True,
            reason=reason,
            tokens=turn.token_count,
            sha256=digests.get(turn.position, ""),
        )
        expected = turn.position + 1


def _joined(runs: Iterator[Run]) -> Iterator[Run]:
    """Neighbouring runs of recent turns as one."""
    last: Run | None = None
    for run in runs:
        if last is not None and last.reason == run.reason == Reason.RECENT:
            last = Run(
                first=last.first,
                last=run.last,
                count=last.count + run.count,
                included=True,
                reason=run.reason,
                tokens=last.tokens + run.tokens,
            )
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last
