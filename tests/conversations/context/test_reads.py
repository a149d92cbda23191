"""What is read of a thread: no more than can matter, however long it is (N2)."""

import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from conversations.context.explain.model_switch import switch_before
from conversations.context.gather.history import HistoryQuery, history_statement, read_history
from conversations.context.tokens.budget import Budget
from conversations.models import Thread, TokenCount
from conversations.providers.anthropic import AnthropicProvider
from conversations.runtime.ids import LONGEST_REPLY, lowest_since, lowest_uuid7
from tests.conversations.factories import make_snapshot, make_thread

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
        "user": thread.user_id,
        "thread": thread.id,
        "project": None,
        "since": lowest_since(thread.id),
        "before": 1_001,
        "tokens": BUDGET.history_tokens,
        "turns": 81,
        "filtering": True,
        "longest_reply": LONGEST_REPLY,
        "provider": "local",
        "model": "small",
        "factor": 1.0,
    }
    TokenCount.objects.bulk_create(
        TokenCount(thread=thread, position=position, provider="local", model="small", tokens=9)
        for position in range(1, 1_001)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE conversations_message, conversations_tokencount")
        cursor.execute("SET LOCAL enable_seqscan = off")  # as contexts are read
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {history_statement()}", values)
        ((plan,),) = cursor.fetchall()
    assert max(rows_touched(plan[0]["Plan"])) <= 81


def test_what_was_counted_to_be_less_makes_room_for_more_in_the_same_statement() -> None:
    thread = make_thread(turns=["word " * 100] * 20)
    assert positions(thread, before=21) == [18, 19, 20]
    for position in (17, 19, 20):
        TokenCount.objects.create(thread=thread, position=position, provider="local", model="small", tokens=50)
    query = HistoryQuery(
        user_id=thread.user_id, thread_id=thread.id, before=21, budget=BUDGET, provider="local", model="small"
    )
    read = read_history(query).turns
    assert [(turn.position, turn.counted) for turn in read[-4:]] == [(17, 50), (18, 0), (19, 50), (20, 50)]
    assert [turn.token_count for turn in read if turn.counted] == [50, 50, 50]
    known = read_history(replace(query, counts={20: 7})).turns[-1]
    assert (known.counted, known.token_count) == (7, 7)


def test_three_turns_are_read_whatever_they_take() -> None:
    thread = make_thread(turns=["Hi.", "Hello.", "word " * 2_000, "And?", "word " * 2_000])
    short = make_thread(turns=["Hi.", "word " * 2_000])
    assert [positions(thread, before=before) for before in (6, 4, 1)] == [[3, 4, 5], [1, 2, 3], []]
    assert positions(short, before=3) == [1, 2]


@pytest.mark.parametrize("id", [uuid.uuid4(), lowest_uuid7(datetime(2099, 1, 1, tzinfo=UTC))], ids=["4", "2099"])
def test_the_request_before_is_read_of_threads_whose_id_tells_no_time_or_one_to_come(id: uuid.UUID) -> None:
    """Imported threads keep their ids, which other makers gave them."""
    thread = make_thread(id=id, turns=["Hi.", "Hello."])
    made = make_snapshot(thread)
    query = HistoryQuery(user_id=thread.user_id, thread_id=thread.id, before=9, budget=BUDGET)
    previous = read_history(query).previous
    assert previous
    assert previous.at == made.created_at
    switch = switch_before(make_snapshot(thread, provider=AnthropicProvider()))
    assert switch
    assert switch.request == made.id


def positions(thread: Thread, *, before: int) -> list[int]:
    return [
        turn.position
        for turn in read_history(
            HistoryQuery(user_id=thread.user_id, thread_id=thread.id, before=before, budget=BUDGET)
        ).turns
    ]


def rows_touched(plan: dict[str, Any]) -> Iterator[int]:
    yield int(plan["Actual Rows"] * plan["Actual Loops"] + plan.get("Rows Removed by Filter", 0))
    for part in plan.get("Plans", []):
        yield from rows_touched(part)
