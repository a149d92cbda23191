"""What is read of a thread: no more than can matter, however long it is (N2)."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from conversations.context.budget import Budget
from conversations.context.reads import LONGEST_REPLY, HistoryQuery, history_statement, read_history
from conversations.models import Thread
from tests.conversations.factories import make_thread

pytestmark = [pytest.mark.django_db, pytest.mark.oldest_postgres]

BUDGET = Budget(
    history_tokens=300,
    history_tokens_low=150,
    history_turns=80,
    history_turns_min=0,
    total_tokens=4_100,
    hard_cap=6_150,
)


def test_a_history_whose_budget_ends_early_reads_no_turn_beyond_the_limit() -> None:
    """Long turns fill the budget before the turn limit does; the statement must not look for more among all older ones."""
    thread = make_thread(turns=[f"Turn {n}: the harbour lay quiet, and nobody had come." for n in range(1_000)])
    values: dict[str, Any] = {
        "thread": thread.id,
        "before": 1_001,
        "tokens": BUDGET.history_tokens,
        "turns": 81,
        "filtering": True,
        "longest_reply": LONGEST_REPLY,
        "provider": "local",
        "model": "small",
        "factor": 1.0,
    }
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {history_statement()}", values)
        ((plan,),) = cursor.fetchall()
    assert max(rows_touched(plan[0]["Plan"])) <= 81


def test_three_turns_are_read_whatever_they_take() -> None:
    thread = make_thread(turns=["Hi.", "Hello.", "word " * 2_000, "And?", "word " * 2_000])
    short = make_thread(turns=["Hi.", "word " * 2_000])
    assert [positions(thread, before=before) for before in (6, 4, 1)] == [[3, 4, 5], [1, 2, 3], []]
    assert positions(short, before=3) == [1, 2]


def positions(thread: Thread, *, before: int) -> list[int]:
    return [
        turn.position for turn in read_history(HistoryQuery(thread_id=thread.id, before=before, budget=BUDGET)).turns
    ]


def rows_touched(plan: dict[str, Any]) -> Iterator[int]:
    yield int(plan["Actual Rows"] * plan["Actual Loops"] + plan.get("Rows Removed by Filter", 0))
    for part in plan.get("Plans", []):
        yield from rows_touched(part)
