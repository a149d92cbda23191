"""A budget in tokens or as a share of the model's window, and what a snapshot keeps of it."""

from copy import copy
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from conversations.context import replay
from conversations.context.record import snapshot_api, snapshots
from conversations.context.record.request_record import Settings, record_of
from conversations.context.tokens.budget import (
    TOKEN_FIELDS,
    Budget,
    BudgetOrigin,
    in_tokens,
    pack,
    shortage,
    unpack_marks,
    unpack_origin,
)
from conversations.models import Assistant, ContextSnapshot, Model
from conversations.providers import model_catalog
from conversations.runtime.db import read_only
from tests.conversations.factories import make_snapshot, make_thread

TALK = ["Who is Ada Lovelace?", "She wrote the first program."] * 30


def assistant(**values: Any) -> Assistant:
    return Assistant(name="Companion", **values)


def model(window: int, **values: Any) -> Model:
    return Model(name="m", label="Model", context_window=window, max_output=2_048, **values)


def test_all_figures_keep_their_proportion_to_the_hard_cap() -> None:
    there = in_tokens(assistant(budget_share=12), 200_000)
    assert {name: getattr(there, name) for name in TOKEN_FIELDS} == {
        "hard_cap_tokens": 24_000,
        "total_tokens": 16_000,
        "history_tokens_high": 11_707,
        "history_tokens_low": 5_853,
        "recall_tokens": 9_365,
        "file_tokens": 93_658,
        "memory_tokens": 1_951,
        "today_tokens": 1_951,
        "open_threads_tokens": 1_560,
        "last_conversation_tokens": 1_170,
    }


def test_every_figure_of_an_assistant_in_tokens_is_scaled() -> None:
    sources = {"memory_tokens", "today_tokens", "open_threads_tokens", "last_conversation_tokens", "recall_tokens"}
    assert set(TOKEN_FIELDS) >= sources
    written = {"max_output_tokens", "thinking_tokens"}
    named = {field.name for field in Assistant._meta.get_fields() if "tokens" in field.name}
    assert named - written == set(TOKEN_FIELDS)


def test_a_budget_in_tokens_is_the_same_for_every_window() -> None:
    one = assistant()
    assert [in_tokens(one, window) is one for window in (1, 1_000_000)] == [True, True]


@given(
    share=st.integers(1, 100),
    window=st.integers(0, 2_000_000),
    marks=st.lists(st.integers(0, 100_000), min_size=4, max_size=4).map(sorted),
)
def test_the_marks_stay_in_order_and_within_the_window(share: int, window: int, marks: list[int]) -> None:
    low, high, total, cap = marks
    one = assistant(
        budget_share=share, history_tokens_low=low, history_tokens_high=high, total_tokens=total, hard_cap_tokens=cap
    )
    budget = Budget.of(in_tokens(one, window))
    assert 0 <= budget.history_tokens_low <= budget.history_tokens <= budget.total_tokens <= budget.hard_cap <= window


@given(share=st.none() | st.integers(1, 100), figures=st.lists(st.integers(0, 4_000_000_000), min_size=9, max_size=9))
def test_what_a_snapshot_keeps_is_read_as_it_was(share: int | None, figures: list[int]) -> None:
    origin = BudgetOrigin(share=share, window=figures[0], wanted=figures[1], answer=figures[2])
    names = ("history_tokens", "history_tokens_low", "history_turns", "history_turns_min", "total_tokens", "hard_cap")
    budget = Budget(**dict(zip(names, figures[3:], strict=True)))
    text = pack(budget, origin)
    assert unpack_origin(text) == origin
    assert unpack_marks(text) == {name: getattr(budget, name) for name in names[:4]}
    assert len(text) <= 100


def test_what_was_recorded_before_tells_nothing() -> None:
    assert (unpack_origin(""), unpack_marks("")) == (None, {})


def test_where_a_budget_comes_from_is_said_with_its_figures() -> None:
    in_all = BudgetOrigin.with_model(assistant(budget_share=12, thinking_tokens=0), model(200_000))
    assert in_all.words == "12 % of 200,000 = 24,000 tokens"
    cut = BudgetOrigin.with_model(assistant(thinking_tokens=0), model(8_000))
    assert cut.words == ("6,150 tokens, cut to 5,952: a window of 8,000 with an answer of 2,048 leaves no more")


def test_a_person_is_told_where_the_window_is_too_small() -> None:
    said = [shortage(assistant(thinking_tokens=0), model(window)) for window in (8_198, 8_197)]
    assert said == ["", "Model takes in at most 6,149 tokens of a conversation, where Companion may use 6,150."]


@pytest.mark.django_db
def test_a_request_with_a_share_is_recorded_and_comes_out_again_whatever_staff_change(user: User) -> None:
    Assistant.objects.update(budget_share=2)
    row = Model.objects.get(provider="offline")
    Model.objects.filter(pk=row.pk).update(context_window=40_000)
    model_catalog.reread()
    snapshot = make_snapshot(make_thread(user, [*TALK, "And who is she?"]))
    assert (snapshot.hard_cap, snapshot.budget, snapshot.budget_origin) == (800, 533, "2 40000 800 2048 390 195 80 30")
    body = snapshot_api.body(snapshot)
    assert body["budget_origin"] == {
        "share": 2,
        "context_window": 40_000,
        "wanted": 800,
        "is_cut": False,
        "text": "2 % of 40,000 = 800 tokens",
    }
    assert snapshot.message_history_tokens <= 390
    Assistant.objects.filter(slug="companion").update(budget_share=None, history_tokens_high=2_900, history_turns_min=2)
    Model.objects.filter(pk=row.pk).update(context_window=5_000)
    model_catalog.reread()
    record = record_of(ContextSnapshot.objects.get(pk=snapshot.pk))
    with read_only():
        remade = replay.remake(record, record.settings)
    assert remade.is_exact
    assert remade.own.runs == snapshots.runs_of(snapshot)


@pytest.mark.django_db
def test_what_if_an_assistant_with_a_share_had_answered(user: User) -> None:
    snapshot = make_snapshot(make_thread(user, [*TALK, "And who is she?"]))
    record = record_of(snapshot)
    other = copy(record.settings.assistant)
    other.budget_share = 1
    with read_only():
        made = replay.remake(record, Settings(assistant=other)).other
    assert (made.origin.share, made.budget.hard_cap) == (1, made.origin.window // 100)
