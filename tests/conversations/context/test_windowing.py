"""Which turns fit, and where the window begins: pure rules over random threads (requirements W1–W4, F6, S3, C1)."""

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from conversations.context.reasons import Reason
from conversations.context.record.turn_account import TurnRun, account
from conversations.context.rules.windowing import needs_older, window, without_orphans
from conversations.context.tokens.budget import Budget
from conversations.context.turns.turn import Turn
from tests.conversations.context.turns import COMPANION, call, result, talk, turn


def window_positions(turns: list[Turn], budget: Budget = COMPANION, *, begin_at: int | None = None) -> list[int]:
    """The positions of the window."""
    return [one.position for one in window(turns, budget, begin_at=begin_at)[0]]


def newest(turns: list[Turn], count: int) -> list[int]:
    return [one.position for one in turns[-count:]]


def test_all_that_fits_below_the_low_mark_is_kept() -> None:
    for turns in ([], talk(5), talk(5, 6), talk(*[40] * 30), talk(*[15] * 80)):
        assert window_positions(turns) == newest(turns, 80)


def test_a_cold_window_begins_at_the_low_mark() -> None:
    turns = talk(*[40] * 200)
    assert window_positions(turns) == newest(turns, 38)  # 1,520 tokens


def test_the_low_mark_holds_30_turns_while_those_fit() -> None:
    turns = talk(*[60] * 200)
    assert window_positions(turns) == newest(turns, 30)  # 1,800 tokens
    turns = talk(*[100] * 200)
    assert window_positions(turns) == newest(turns, 30)  # 3,000 tokens
    turns = talk(*[120] * 200)
    assert window_positions(turns) == newest(turns, 14)  # 1,680 tokens: 30 turns take 3,600


def test_where_80_turns_do_not_hold_the_low_mark_the_window_drops_half_way() -> None:
    turns = talk(*[10] * 200)
    assert window(turns, COMPANION, begin_at=None) == (turns[-56:], Reason.TURN_LIMIT)  # 55, and the question before it
    turns = talk(*[20] * 200)
    assert window_positions(turns) == newest(turns, 76)  # 1,520 tokens
    turns = talk(10, 2_900, *[10] * 80)
    assert window_positions(turns) == newest(turns, 56)
    assert window_positions(turns[:-10]) == newest(turns[:-10], 70)  # here it is the long turn that limits it


def test_a_warm_window_is_left_alone_until_it_passes_a_mark() -> None:
    begins = []
    begin_at: int | None = None
    turns: list[Turn] = []
    for _ in range(100):
        turns += [turn(len(turns) + 1, "user", 30), turn(len(turns) + 2, "assistant", 50)]
        begin_at = window_positions(turns, begin_at=begin_at)[0]
        begins.append(begin_at)
    # 74 turns of 40 tokens fit. Each drop is from the 76th back to 38, and between two drops nothing moves.
    moves = [(n, begin) for n, begin in enumerate(begins, 1) if n > 1 and begin != begins[n - 2]]
    assert moves == [(38, 39), (57, 77), (76, 115), (95, 153)]


def test_a_warm_window_drops_when_it_passes_the_largest_number_of_turns() -> None:
    turns = talk(*[25] * 200)
    assert window_positions(turns, begin_at=121) == newest(turns, 80)
    assert window_positions(turns, begin_at=119) == newest(turns, 60)  # 1,500 tokens
    assert window(turns, COMPANION, begin_at=121)[1] is Reason.TURN_LIMIT


def test_a_window_that_filtering_would_starve_begins_at_the_low_mark_again() -> None:
    turns = talk(*[60] * 200)
    assert window_positions(turns, begin_at=165) == newest(turns, 36)
    after_filtering = [one for one in turns if not 169 <= one.position <= 188]
    assert window_positions(after_filtering, begin_at=165) == newest(after_filtering, 30)
    assert window_positions(turns[:-34], begin_at=165) == newest(turns[:-34], 30)
    turns = talk(*[80] * 200)
    after_filtering = [one for one in turns if not 171 <= one.position <= 180]
    assert window_positions(after_filtering, begin_at=165) == newest(after_filtering, 30)  # 26 turns held 2,080 tokens


def test_new_turns_alone_never_move_the_window_back() -> None:
    """Thirty turns did not fit when it began, and fit now; a cold window would begin further back."""
    turns = talk(*[150] * 100, *[60] * 24)
    assert window_positions(turns) == newest(turns, 30)
    assert window_positions(turns, begin_at=99) == newest(turns, 26)


def test_older_turns_are_read_only_where_they_could_matter() -> None:
    def needed(turns: list[Turn], begin_at: int | None = None) -> bool:
        return needs_older(turns, COMPANION, begin_at=begin_at)

    turns = talk(*[40] * 200)
    assert needed([]) and needed(turns[-20:]) and needed(turns[-36:])
    assert needed(talk(*[15] * 200)[-80:]) and not needed(talk(*[15] * 200)[-82:])
    assert not needed(turns[-40:]) and not needed(turns[-81:], 1)
    assert needed(turns[-40:], 140) and not needed(turns[-40:], 161)
    unanswered = [turn(n, "user", 40) for n in range(1, 200)]
    assert needed(unanswered[-79:]) and not needed(unanswered[-80:])
    unasked = [turn(n, "assistant", 40) for n in range(1, 200)]  # the end of an exchange that began before
    assert needed(unasked[-120:], 1) and not needed(unasked[-121:], 1)


def test_another_branch_does_not_inherit_a_window_that_is_too_small() -> None:
    turns = [*talk(*[60] * 100), turn(300, "user", 60, depth=101), turn(301, "assistant", 60, depth=102)]
    assert window_positions(turns, begin_at=180) == newest(turns, 30)


def test_the_last_pair_survives_whatever_it_takes() -> None:
    turns = talk(10, 10, 4_000, 5_000)
    assert window_positions(turns) == [3, 4]
    stopped = [*turns, turn(5, "user", 9), turn(6, "user", 9)]
    assert window_positions(stopped) == [3, 4, 5, 6]
    tiny = replace(COMPANION, history_tokens=1, history_tokens_low=1, history_turns=2, history_turns_min=2)
    assert window_positions(stopped, tiny) == [3, 4, 5, 6]
    assert window_positions(talk(*[10] * 20), tiny) == [19, 20]


def test_the_last_pair_is_the_question_with_all_its_tool_calls_and_its_answer() -> None:
    answer = [
        turn(3, "user", 900),
        call(4, 900),
        result(5, 900),
        call(6, 900),
        result(7, 900),
        turn(8, "assistant", 900),
    ]
    turns = [*talk(10, 10), *answer]
    assert window_positions(turns) == [3, 4, 5, 6, 7, 8]
    broken_off = [*turns, turn(9, "user", 900), call(10, 900), result(11, 900)]
    assert window_positions(broken_off) == [3, 4, 5, 6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize("begin_at", [None, 3, 4])
@pytest.mark.parametrize("room", range(20, 130, 10))
def test_a_tool_call_and_its_result_stay_or_go_together(room: int, begin_at: int | None) -> None:
    turns = [turn(1, "user", 10), call(2, 40), result(3, 40), turn(4, "assistant", 10), *talk(10, 10, 10)]
    turns = [replace(one, position=n, depth=n) for n, one in enumerate(turns, 1)]
    budget = replace(COMPANION, history_tokens=room, history_tokens_low=room, history_turns_min=2)
    assert window_positions(turns, budget, begin_at=begin_at) in (
        [1, 2, 3, 4, 5, 6, 7],
        [2, 3, 4, 5, 6, 7],
        [4, 5, 6, 7],
        [5, 6, 7],
    )
    assert without_orphans(window(turns, budget, begin_at=begin_at)[0]) == window(turns, budget, begin_at=begin_at)[0]


def test_a_window_rather_begins_with_a_question() -> None:
    budget = replace(COMPANION, history_tokens=40, history_tokens_low=25, history_turns_min=2)
    turns = talk(*[10] * 10)
    assert window_positions(turns, budget) == [7, 8, 9, 10]
    assert window_positions(turns, replace(budget, history_tokens=30)) == [8, 9, 10]


def test_the_account_names_what_was_filtered_and_joins_neighbours() -> None:
    turns = talk(*[10] * 20)
    fulfilled = [turns[3], turns[4], turns[11], turns[12]]
    runs = account(
        [one for one in turns[9:] if one not in [*fulfilled, turns[15]]],
        turn(24, "user", 7, depth=21),
        Reason.OVER_BUDGET,
        {10: "one", 11: "another"},
        excluded=[*((one, Reason.FULFILLED_ARTIFACT) for one in fulfilled), (turns[15], Reason.ORPHAN_TOOL)],
    )
    rows = [(run.first, run.last, run.count, run.reason.value, run.tokens) for run in runs]
    assert rows == [
        (1, 3, 3, "over_budget", 0),
        (4, 5, 2, "fulfilled_artifact", 0),
        (6, 9, 4, "over_budget", 0),
        (10, 10, 1, "shortened", 10),
        (11, 11, 1, "shortened", 10),
        (12, 13, 2, "fulfilled_artifact", 0),
        (14, 15, 2, "recent", 20),
        (16, 16, 1, "orphan_tool", 0),
        (17, 20, 4, "recent", 40),
        (21, 23, 3, "other_branch", 0),
        (24, 24, 1, "newest", 7),
    ]
    assert [run.first for run in runs if run.included] == [10, 11, 14, 17, 24]
    assert [(run.first, run.sha256) for run in runs if run.sha256] == [(10, "one"), (11, "another")]


def test_the_account_of_a_long_thread_is_one_run_before_the_oldest_candidate() -> None:
    window_of = [turn(90_001, "user", 5, depth=80_001), turn(90_002, "assistant", 5, depth=80_002)]
    runs = account(window_of, turn(90_003, "user", 5, depth=80_003), Reason.TURN_LIMIT, {})
    assert runs[0] == TurnRun(first=1, last=90_000, count=80_000, included=False, reason=Reason.TURN_LIMIT)
    assert len(runs) == 3


budgets = st.builds(
    lambda low, history, least, turns, extra, cap: Budget(
        history_tokens=low + history,
        history_tokens_low=low,
        history_turns=least + turns,
        history_turns_min=least,
        total_tokens=low + history + extra,
        hard_cap=low + history + extra + cap,
    ),
    st.integers(1, 200),
    st.integers(0, 200),
    st.integers(2, 8),
    st.integers(0, 10),
    st.integers(0, 200),
    st.integers(0, 200),
)
sizes = st.lists(st.integers(1, 120), min_size=1, max_size=30)
