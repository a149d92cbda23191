"""Which turns fit, and what became of the others. Pure: the same turns and budget give the same window."""

import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from operator import attrgetter
from typing import Any

from conversations.context.budget import Budget
from conversations.context.file_excerpts import FileExcerpt
from conversations.context.file_results import NO_RESULTS, Results
from conversations.context.reasons import Reason
from conversations.context.token_factor import PLAIN, Factor
from conversations.context.turn_groups import Block, calls, is_question, last_pair, only_texts, whole_blocks
from conversations.models import Message
from conversations.runtime.values import dataclass

NOT_SENT = frozenset(
    {
        *(Reason.FULFILLED_ARTIFACT, Reason.REFUSED, Reason.FAILED, Reason.OFFLINE),
        *(Reason.ORPHAN_TOOL, Reason.RECALLED),
    }
)
LAST_PAIR = 2
FURTHEST_PAIR = 40
"""How many turns back the last pair is looked for at least: tool calls make an answer long, unanswered turns push it back."""


@dataclass(kw_only=True, slots=True)  # not frozen: that would make 80 of them three times as dear
class Turn:
    """A stored turn as the context needs it. ``shortened`` is the text that stands in for it where it could not fit.

    ``token_count`` are estimated tokens. Where the provider has counted the turn they stand for what it ``counted``, in tokens
    of the model; else that is 0. ``files`` are what stands of files in it, beside ``token_count``, ``file_blocks`` what is
    sent of them before the person's own words, and ``results`` in the place of results that name parts.
    """

    position: int
    depth: int
    role: str
    content: list[dict[str, Any]]
    token_count: int
    id: uuid.UUID | None = None
    created_at: datetime | None = None
    reply: uuid.UUID | None = None
    status: str = Message.Status.COMPLETE.value
    offline: bool = False
    shortened: str = ""
    counted: int = 0
    files: Sequence[FileExcerpt] = ()
    file_blocks: Sequence[Block] = ()
    results: Results = NO_RESULTS

    @property
    def file_tokens(self) -> int:
        return sum(excerpt.tokens for excerpt in self.files) if self.files else 0

    @classmethod
    def of(cls, message: Message) -> "Turn":
        return cls(
            id=message.id,
            position=message.position,
            depth=message.depth,
            role=message.role,
            content=message.blocks,
            token_count=message.token_count,
            created_at=message.created_at,
            reply=message.reply_id,
            status=message.status,
            offline=message.offline,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRun:
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


def window(
    turns: Sequence[Turn], budget: Budget, *, begin_at: int | None, marks: "WindowMarks | None" = None
) -> tuple[list[Turn], Reason]:
    """The newest turns that fit, in order, and why those before them do not (W1).

    While the provider's cache is warm the window begins at ``begin_at``, the position at which the request before began.
    When that would pass the high mark or the largest number of turns, when filtering has left too little of it, or when the
    cache is cold (``None``), it begins at the low mark. The last pair stays whatever it takes (W3).

    ``turns`` are the candidates on the path, oldest first, without those that were filtered out, ``marks`` theirs in this
    budget where they are known.
    """
    marks = marks or window_marks(turns, budget)
    kept = marks.low
    if begin_at is not None:
        before = _unsplit(turns, _since(turns, begin_at))
        if before <= marks.high and not _starved(turns, before, marks, budget):
            kept = before
    return list(turns[len(turns) - kept :]), marks.reason


def needs_older(
    turns: Sequence[Turn], budget: Budget, *, begin_at: int | None, marks: "WindowMarks | None" = None
) -> bool:
    """Whether turns older than these candidates could change the window. Ask again after reading on, up to the first turn."""
    if len(turns) > budget.history_turns + FURTHEST_PAIR:
        return False
    # What comes before the first question is the end of an exchange, which may have to be filtered out once it is read.
    sure = turns[next((index for index, turn in enumerate(turns) if is_question(turn)), len(turns)) :]
    if not sure or (len(turns) < _reach(budget) and not last_pair(sure)):
        return True
    marks = marks or window_marks(turns, budget)
    if len(sure) > budget.history_turns or marks.totals[len(sure)] > budget.history_tokens:
        return False
    began_before = begin_at is not None and begin_at < sure[0].position
    return began_before or marks.low >= len(sure)


def least_kept(turns: Sequence[Turn], budget: Budget) -> int:
    """How many of the newest turns stay whatever it takes: the last whole pair, and two turns where there are two (W3)."""
    return max(_unsplit(turns, min(LAST_PAIR, len(turns))), last_pair(turns[-_reach(budget) :]))


def whole(turns: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
    """The turns without those that are nothing but halves of tool calls, and these (W4).

    Results that come first among the candidates are in neither where their call lies before what was read.
    """
    if only_texts(turns):
        return list(turns), []
    contents = whole_blocks(turns)
    whole_turns = [turn for turn, content in zip(turns, contents, strict=True) if content]
    halves = [turn for turn, content in zip(turns, contents, strict=True) if not content]
    unread = halves[:1] == list(turns[:1]) and turns[0].role == "user" and turns[0].depth > 1
    return whole_turns, halves[1:] if unread else halves


def without_orphans(turns: Sequence[Turn]) -> list[Turn]:
    """The turns as they can be sent: without any half of a tool call, and without turns that were nothing else (W4)."""
    if only_texts(turns):
        return [turn for turn in turns if turn.content]
    contents = zip(turns, whole_blocks(turns), strict=True)
    return [
        turn if turn.content == content else replace(turn, content=list(content))
        for turn, content in contents
        if content
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowMarks:
    """How many of the newest turns a window has whatever it takes, how many after it dropped, and how many at most.

    ``reason`` tells what limits it; ``totals`` are the tokens of the newest 0, 1, 2 … turns.
    """

    least: int
    low: int
    high: int
    reason: Reason
    totals: Sequence[int]


def window_marks(turns: Sequence[Turn], budget: Budget) -> WindowMarks:
    totals = [0, *accumulate([turn.token_count for turn in reversed(turns)])]
    fitting = bisect_right(totals, budget.history_tokens) - 1
    by_turns = fitting >= budget.history_turns
    most = min(fitting, budget.history_turns)
    high = most - (_unsplit(turns, most) > most)
    least = least_kept(turns, budget)
    low = max(least, _low(turns, totals, high, budget, by_turns=by_turns))
    if low < high and not is_question(turns[-low]) and is_question(turns[-low - 1]):
        low += 1
    reason = Reason.TURN_LIMIT if by_turns else Reason.OVER_BUDGET
    return WindowMarks(least=least, low=low, high=high, reason=reason, totals=totals)


def _low(turns: Sequence[Turn], totals: Sequence[int], high: int, budget: Budget, *, by_turns: bool) -> int:
    """The fewest turns that hold the tokens of the low mark and the smallest number of turns, as far as both can be had."""
    enough_tokens = bisect_left(totals, budget.history_tokens_low)
    enough = _unsplit(turns, max(enough_tokens, budget.history_turns_min))
    if enough <= high:
        return enough
    if high == len(turns):
        return high
    if enough_tokens <= high:  # the smallest number of turns does not fit
        return _unsplit(turns, enough_tokens)
    return min(high, _unsplit(turns, _half_way(budget))) if by_turns else high


def _starved(turns: Sequence[Turn], kept: int, marks: WindowMarks, budget: Budget) -> bool:
    """Whether the newest ``kept`` turns are too little, while there are more.

    New turns alone never make it so. Whether the smallest number of turns fits can change with each of them; the window is
    not moved back for that, or it would move all the time.
    """
    if kept >= marks.low:
        return False
    if kept < marks.least or turns[-1].depth - turns[-kept].depth >= kept:  # the second: some were taken out of it
        return True
    return marks.totals[kept] < budget.history_tokens_low and kept < _half_way(budget)


def _since(turns: Sequence[Turn], position: int) -> int:
    return len(turns) - bisect_left(turns, position, key=attrgetter("position"))


def _unsplit(turns: Sequence[Turn], kept: int) -> int:
    """One turn more where the newest ``kept`` would begin between a tool call and its result (W4)."""
    if not 0 < kept < len(turns):
        return kept
    return kept + bool(calls(turns[-kept - 1 :][:2])[0])


def _half_way(budget: Budget) -> int:
    return (budget.history_turns_min + budget.history_turns) // 2


def _reach(budget: Budget) -> int:
    return max(budget.history_turns, FURTHEST_PAIR)


def account(
    history: Sequence[Turn],
    newest: Turn | None,
    left_out: Reason,
    digests: dict[int, str],
    *,
    excluded: Collection[tuple[Turn, Reason]] = (),
    recalled: Collection[Turn] = (),
    begins_after: int = 0,
    factor: Factor = PLAIN,
) -> list[TurnRun]:
    """Every position of the thread up to the newest message exactly once (S3). A preset's request has no such message.
    What was ``recalled`` stands beside the message and not in its place, so its run is of no turn that is sent.

    What is ``excluded`` was taken out before the window was cut.
    What lies before the oldest candidate is one run, however long the thread is. A position missing between turns of the
    path belongs to an attempt that a retry replaced. ``digests``: position to SHA-256 of a shortened turn's stand-in. Of a
    thread that was cleared nothing is told up to the position ``begins_after``: there are no such turns. ``factor``: the tokens
    of a run are the model's.
    """
    named = [
        *excluded,
        *((turn, Reason.RECALLED) for turn in recalled),
        *[(turn, Reason.SHORTENED if turn.position in digests else Reason.RECENT) for turn in history],
        *(((newest, Reason.SHORTENED if newest.position in digests else Reason.NEWEST),) if newest else ()),
    ]
    if excluded or recalled:
        named.sort(key=lambda turn_and_reason: turn_and_reason[0].position)
    return list(_runs(named, left_out, digests, begins_after, factor))


def _runs(
    named: Sequence[tuple[Turn, Reason]], left_out: Reason, digests: dict[int, str], position: int, factor: Factor
) -> Iterator[TurnRun]:
    depth = 0
    for turns, reason in _neighbours(named):
        first, last = turns[0], turns[-1]
        if between := first.position - position - 1:
            of_path = first.depth - depth - 1
            yield TurnRun(
                first=position + 1,
                last=first.position - 1,
                count=of_path or between,
                included=False,
                reason=left_out if of_path else Reason.SUPERSEDED,
            )
        included = reason not in NOT_SENT
        yield TurnRun(
            first=first.position,
            last=last.position,
            count=len(turns),
            included=included,
            reason=reason,
            tokens=factor.of_estimate(sum([turn.token_count for turn in turns])) if included else 0,
            sha256=digests.get(first.position, "") if reason is Reason.SHORTENED else "",
        )
        position, depth = last.position, last.depth


def _neighbours(named: Sequence[tuple[Turn, Reason]]) -> Iterator[tuple[list[Turn], Reason]]:
    """Turns that follow one another and share a reason. A shortened one stands alone: its run names its stand-in."""
    group: list[Turn] = []
    common, following = Reason.NEWEST, 0
    for turn, reason in named:
        if turn.position == following and reason is common and reason is not Reason.SHORTENED:
            group.append(turn)
        else:
            if group:
                yield group, common
            group, common = [turn], reason
        following = turn.position + 1
    yield group, common
