"""Which turns fit, and what became of the others. Pure: the same turns and budget give the same window."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from operator import attrgetter

from conversations.context.reasons import Reason
from conversations.context.tokens.budget import Budget
from conversations.context.turns.groups import calls, is_question, last_pair, only_texts, whole_blocks
from conversations.context.turns.turn import Turn
from conversations.runtime.values import dataclass

LAST_PAIR = 2
FURTHEST_PAIR = 40
"""How many turns back the last pair is looked for at least: tool calls make an answer long, unanswered turns push it back."""


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """The turns that the window is cut from, oldest first, with its marks, and those that were taken out before."""

    turns: Sequence[Turn] = ()
    excluded: Sequence[tuple[Turn, Reason]] = ()
    loaded: int = 0
    marks: "WindowMarks | None" = None


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


def whole(turns: Sequence[Turn], newest: Turn | None = None) -> tuple[list[Turn], list[Turn]]:
    """The turns without those that are nothing but halves of tool calls, and these (W4). ``newest`` follows them, and may hold
    the other halves.

    Results that come first among the candidates are in neither where their call lies before what was read.
    """
    if only_texts(turns):
        return list(turns), []
    contents = whole_blocks([*turns, newest] if newest else turns)[: len(turns)]
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
