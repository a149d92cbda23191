"""Which turns fit: pure rules over random threads (requirements W1, W3, S3, C1)."""

from hypothesis import given
from hypothesis import strategies as st

from conversations.context.budget import Budget, shorten
from conversations.context.builder import SMALLEST_SHARE, Section, api_messages, fit
from conversations.context.reasons import Reason
from conversations.context.tokens import estimate_tokens
from conversations.context.windowing import Turn, account, window
from conversations.models import text_blocks


def turns_of(sizes: list[int], gaps: list[int]) -> list[Turn]:
    """Turns of these token counts; gaps are positions of attempts that were replaced."""
    made: list[Turn] = []
    position = 0
    for index, size in enumerate(sizes):
        position += 1 + (gaps[index % len(gaps)] if gaps else 0)
        role = ["user", "assistant"][index % 2]
        text = "word " * size
        made.append(Turn(position=position, depth=index + 1, role=role, content=text_blocks(text), token_count=size))
    return made


budgets = st.builds(
    lambda history, turns, extra, cap: Budget(
        history_tokens=history, history_turns=turns, total_tokens=history + extra, hard_cap=history + extra + cap
    ),
    st.integers(1, 400),
    st.integers(2, 12),
    st.integers(0, 200),
    st.integers(0, 200),
)
threads = st.builds(
    turns_of, st.lists(st.integers(1, 120), min_size=1, max_size=30), st.lists(st.integers(0, 2), max_size=4)
)


@given(threads, budgets)
def test_the_window_is_the_newest_turns_that_fit(thread: list[Turn], budget: Budget) -> None:
    older = thread[:-1]
    kept, reason = window(older, budget)
    assert kept == older[len(older) - len(kept) :]
    assert len(kept) >= min(2, len(older))
    if len(kept) > 2:
        assert len(kept) <= budget.history_turns
        assert sum(turn.token_count for turn in kept) <= budget.history_tokens
    if len(kept) < len(older):
        one_more = older[len(older) - len(kept) - 1 :]
        too_many = len(one_more) > budget.history_turns
        too_large = sum(turn.token_count for turn in one_more) > budget.history_tokens
        assert (too_many, too_large) != (False, False)
        assert reason is (Reason.TURN_LIMIT if too_many else Reason.OVER_BUDGET)


@given(threads, budgets)
def test_every_position_is_accounted_for_exactly_once(thread: list[Turn], budget: Budget) -> None:
    *older, newest = thread
    kept, reason = window(older, budget)
    runs = account(kept, newest, reason, {})
    positions = [position for run in runs for position in range(run.first, run.last + 1)]
    assert positions == list(range(1, newest.position + 1))
    included = [position for run in runs if run.included for position in range(run.first, run.last + 1)]
    assert included == [turn.position for turn in [*kept, newest]]
    assert sum(run.tokens for run in runs) == sum(turn.token_count for turn in [*kept, newest])
    left_out = [run for run in runs if not run.included and run.reason is not Reason.SUPERSEDED]
    assert sum(run.count for run in left_out) == len(older) - len(kept)


@given(threads, budgets)
def test_nothing_exceeds_the_hard_cap(thread: list[Turn], budget: Budget) -> None:
    *older, newest = thread
    kept, _ = window(older, budget)
    sections = [Section(name="base", text="", tokens=20)]
    fitted, asked = fit(sections, kept, newest, budget)
    total = 20 + sum(turn.token_count for turn in fitted) + asked.token_count
    room_for_marks = 20 + SMALLEST_SHARE * (len(fitted) + 1)
    assert total <= max(budget.hard_cap, room_for_marks)
    assert (fitted, asked) == fit(sections, kept, newest, budget)
    assert asked.position == newest.position
    assert len(fitted) >= min(2, len(kept))
    if 20 + sum(turn.token_count for turn in kept[len(kept) - len(fitted) :]) + newest.token_count <= budget.hard_cap:
        assert not any(turn.shortened for turn in [*fitted, asked])


@given(st.text(max_size=3_000), st.integers(30, 400))
def test_a_shortened_text_fits_and_says_so(text: str, tokens: int) -> None:
    short = shorten(text, tokens)
    assert estimate_tokens(short) <= tokens
    assert short == text or "characters left out here to fit the context" in short


@given(st.lists(st.sampled_from(["user", "assistant"]), max_size=12))
def test_roles_alternate_and_the_user_begins(roles: list[str]) -> None:
    turns = [
        Turn(position=n, depth=n, role=role, content=text_blocks(str(n)), token_count=1)
        for n, role in enumerate(roles, 1)
    ]
    messages = api_messages(turns)
    assert [message["role"] for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"] * (
        len(messages) % 2
    )
    texts = [block["text"] for message in messages for block in message["content"]]
    assert texts[len(texts) - len(turns) :] == [str(turn.position) for turn in turns]
