"""Rounds of tool calls within one reply: what was sent before stays the same, and the cap holds."""

import json
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from conversations.context.builder import Context, continued
from conversations.context.caching import CacheState
from conversations.context.invariants import check
from conversations.context.rendering import round_text
from conversations.context.tokens import text_of
from conversations.models import Assistant
from tests.conversations.factories import make_context, make_reply, make_thread

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 3, 9, tzinfo=UTC)


def round_of(number: int, length: int) -> str:
    call = {"type": "tool_use", "id": f"t{number}", "name": "save_artifact", "input": {"content": "word " * length}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "found " * length}
    return round_text([{"type": "text", "text": "I look."}, call, result])


def first_request(user: User, turns: int = 20) -> Context:
    thread = make_thread(user, ["How are the boats?", "They are well. " * 10] * turns + ["And the harbour?"])
    return make_context(make_reply(thread, status="running"))


def sound(context: Context) -> None:
    check(
        context.payload,
        newest=text_of(context.newest.content),
        total_tokens=context.total_tokens,
        hard_cap=context.budget.hard_cap,
    )


def test_a_round_that_fits_comes_after_all_that_was_sent_before(user: User) -> None:
    first = first_request(user)
    second = continued(first, [round_of(1, 20)], at=AT)
    messages = second.payload["messages"]
    assert messages[: len(first.payload["messages"])] == first.payload["messages"]
    assert [message["role"] for message in messages[-3:]] == ["user", "assistant", "user"]
    assert second.total_tokens == first.total_tokens + sum(part.tokens for part in second.parts.rounds)
    sound(second)


@pytest.mark.parametrize("cap", [1_200, 6_150])
@pytest.mark.parametrize("lengths", [[3_000], [100_000], [5_000] * 7])
def test_rounds_never_pass_the_cap_and_calls_keep_their_results(user: User, cap: int, lengths: list[int]) -> None:
    budgets = {"hard_cap_tokens": cap, "total_tokens": cap, "history_tokens_high": 900, "history_tokens_low": 300}
    Assistant.objects.filter(slug="companion").update(**budgets)
    first = first_request(user)
    context = continued(first, [round_of(*each) for each in enumerate(lengths)], at=AT)
    sound(context)
    rounds = [json.loads(part.text) for part in context.parts.rounds]
    assert [[block["type"] for block in blocks] for blocks in rounds] == [["text", "tool_use", "tool_result"]] * len(
        lengths
    )
    assert ("left out here" in str(rounds)) or " […] " in str(rounds)


def test_history_gives_way_before_what_the_reply_did(user: User) -> None:
    first = first_request(user)
    context = continued(first, [round_of(1, 1_500)], at=AT)
    assert "word word" in str(context.payload["messages"][-2])
    assert len(context.history) < len(first.history)
    assert context.runs[0].reason == "over_budget"
    assert sum(run.count for run in context.runs) == 41
    assert context.cache.state in (CacheState.NONE, CacheState.MOVED)
