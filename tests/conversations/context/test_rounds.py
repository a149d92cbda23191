"""Rounds of tool calls within one reply: what was sent before stays the same, and the cap holds."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User

from conversations.context.builder import continue_context
from conversations.context.built_context import Context
from conversations.context.render.invariants import check
from conversations.context.render.rendering import round_text
from conversations.context.rules.fitting import round_section
from conversations.context.rules.prompt_cache import CacheState
from conversations.context.tokens.estimate import text_of
from conversations.models import Assistant
from conversations.providers.thinking import ThinkingPlan
from tests.conversations.factories import make_context, make_reply, make_thread

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 3, 9, tzinfo=UTC)


def round_of(number: int, length: int) -> str:
    call = {"type": "tool_use", "id": f"t{number}", "name": "save_artifact", "input": {"content": "word " * length}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "found " * length}
    return round_text([{"type": "text", "text": "I look."}, call, result])


def with_thinking(text: str) -> str:
    """The same round after some thinking, of which only the signature is seen."""
    thought = {"type": "thinking", "thinking": "", "signature": "c2lnbmVk" * 2_000}
    return round_text([thought, *json.loads(text)])


def thoughts(context: Context) -> list[int]:
    """How much of the thinking of each round goes back."""
    return [part.text.count('"signature"') for part in context.parts.rounds]


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
    second = continue_context(first, [round_section(round_of(1, 20))], at=AT)
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
    context = first
    for number, length in enumerate(lengths):
        context = continue_context(context, [round_section(round_of(number, length))], at=AT)
    sound(context)
    rounds = [json.loads(part.text) for part in context.parts.rounds]
    assert [[block["type"] for block in blocks] for blocks in rounds] == [["text", "tool_use", "tool_result"]] * len(
        lengths
    )
    assert ("left out here" in str(rounds)) or " […] " in str(rounds)


def test_nothing_moves_within_a_reply_as_long_as_the_cap_allows_it(user: User) -> None:
    first = first_request(user)
    context = continue_context(first, [round_section(round_of(1, 1_200))], at=AT)
    assert first.budget.total_tokens < context.total_tokens <= first.budget.hard_cap
    assert context.payload["messages"][: len(first.payload["messages"])] == first.payload["messages"]
    sound(context)


def test_history_gives_way_before_what_the_reply_did(user: User) -> None:
    first = first_request(user)
    context = continue_context(first, [round_section(round_of(1, 2_500))], at=AT)
    assert "word word" in str(context.payload["messages"][-2])
    assert len(context.history) < len(first.history)
    assert context.runs[0].reason == "over_budget"
    assert sum(run.count for run in context.runs) == 41
    assert context.cache.state in (CacheState.NONE, CacheState.MOVED)


def test_thinking_goes_back_unchanged_and_takes_no_room_of_the_context(user: User) -> None:
    first = first_request(user)
    plain, second = (
        continue_context(first, [round_section(text)], at=AT)
        for text in (round_of(1, 20), with_thinking(round_of(1, 20)))
    )
    third = continue_context(second, [round_section(with_thinking(round_of(2, 20)))], at=AT)
    assert second.total_tokens == plain.total_tokens
    assert second.payload["messages"][-2]["content"] == json.loads(with_thinking(round_of(1, 20)))[:3]
    assert third.payload["messages"][: len(second.payload["messages"])] == second.payload["messages"]
    assert thoughts(third) == [1, 1]
    sound(third)


def with_mode(context: Context, mode: Any) -> Context:
    assert context.material
    facts = context.material.facts
    allowance = replace(facts.allowance, thinking=ThinkingPlan(mode=mode))
    return replace(context, material=replace(context.material, facts=replace(facts, allowance=allowance)))


@pytest.mark.parametrize(
    ("mode", "expected"), [("adaptive", [[1], [0, 0], [0, 0, 1]]), ("enabled", [[1], [1] * 2, [1] * 3])]
)
def test_thinking_is_left_out_once_what_stood_before_it_gives_way(
    user: User, mode: Any, expected: list[list[int]]
) -> None:
    """It is bound to that, and refused; of a model that thinks within a budget it is not."""
    context, seen = with_mode(first_request(user), mode), []
    for number, length in enumerate([20, 2_500, 20]):
        context = continue_context(context, [round_section(with_thinking(round_of(number, length)))], at=AT)
        seen.append(thoughts(context))
    assert seen == expected
    sound(context)
