"""The whole within its budget and its hard cap, whatever the parts are: pure (W2, W3, W5, W6)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from conversations.context.render.rendering import api_messages
from conversations.context.rules.fitting import (
    SMALLEST_SHARE,
    Parts,
    Section,
    fit,
    history_room,
    tiers_room,
)
from conversations.context.rules.standing import Tier, cut_tiers
from conversations.context.rules.windowing import window
from conversations.context.tokens.budget import Budget, shorten
from conversations.context.tokens.estimate import estimate_tokens, turn_tokens
from conversations.context.turns.turn import Turn
from conversations.models import Assistant, text_blocks
from tests.memory.profiles import OpenTopic, Profile, Summary, build_tiers

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BASE = Section(name="base", text="Be kind.", tokens=20)
COMPANION = Assistant()
COMPANION_BUDGET = Budget.of(COMPANION)


def thread_of(sizes: Sequence[int]) -> list[Turn]:
    """Turns of about so many words, the user's and the assistant's in turn."""
    contents = [text_blocks("word " * size) for size in sizes]
    return [
        Turn(
            position=n,
            depth=n,
            role=["assistant", "user"][n % 2],
            content=content,
            token_count=turn_tokens(content),
        )
        for n, content in enumerate(contents, 1)
    ]


def tiers_of(words: int) -> list[Tier]:
    """Today, open threads and the last conversation, each with this many words to say."""
    said = "plans " * words
    standing = Profile(
        began_at=NOON,
        today=Summary(id="1", text=said),
        topics=[OpenTopic(id=str(n), title=f"{n} {said[:150]}", opened_at=NOON - timedelta(days=n)) for n in range(6)],
        last_conversation=Summary(id="2", text="more " + said, ended_on=NOON.date()),
    )
    return build_tiers(standing, COMPANION)


def names(tiers: Sequence[Tier]) -> list[str]:
    return [tier.name for tier in tiers if tier.text]


threads = st.lists(st.integers(1, 900), min_size=1, max_size=40).map(thread_of)
words = st.integers(0, 900)


def fitted(thread: list[Turn], tiers: Sequence[Tier], budget: Budget = COMPANION_BUDGET) -> Parts:
    """As the builder does it."""
    kept = cut_tiers(tiers, tiers_room(BASE.tokens, budget))
    parts = Parts(base=BASE, tiers=kept, newest=thread[-1])
    history, _ = window(thread[:-1], history_room(parts.prefix_tokens, budget), begin_at=None)
    return fit(replace(parts, history=history, additions=[Section.of("query", "[query] what?")]), budget)


@given(threads, words)
def test_the_hard_cap_holds_for_every_input(thread: list[Turn], said: int) -> None:
    parts = fitted(thread, tiers_of(said))
    smallest = SMALLEST_SHARE * (len(parts.history) + 1)
    assert parts.total_tokens <= max(COMPANION_BUDGET.hard_cap, parts.prefix_tokens + smallest)
    assert parts.newest.position == thread[-1].position
    assert parts == fitted(thread, tiers_of(said))


@given(threads, words)
def test_nothing_is_shortened_below_the_cap_and_the_last_pair_stays(thread: list[Turn], said: int) -> None:
    parts = fitted(thread, tiers_of(said))
    assert [turn.position for turn in parts.history] == [
        turn.position for turn in thread[:-1][len(thread) - 1 - len(parts.history) :]
    ]
    assert len(parts.history) >= min(2, len(thread) - 1)
    if any(turn.shortened for turn in parts.turns):
        whole = sum(turn.token_count for turn in thread[-len(parts.turns) :])
        assert parts.prefix_tokens + whole > COMPANION_BUDGET.hard_cap


@given(threads, words)
def test_over_budget_the_last_conversation_goes_first_and_history_last(thread: list[Turn], said: int) -> None:
    """W5: what is cut harder comes earlier in the order; history loses turns only once the tiers are gone."""
    tiers = cut_tiers(tiers_of(said), tiers_room(BASE.tokens, COMPANION_BUDGET))
    parts = fitted(thread, tiers_of(said))
    history, _ = window(
        thread[:-1], history_room(BASE.tokens + sum(tier.tokens for tier in tiers), COMPANION_BUDGET), begin_at=None
    )
    lost = [
        next((1 - after.tokens / before.tokens for after in parts.tiers if after.name == before.name), 1.0)
        for name in ("last_conversation", "open_threads", "today")
        for before in tiers
        if before.name == name and before.tokens
    ]
    assert all(first == 1.0 or second == 0 for first, second in pairwise(lost)), lost
    if len(parts.history) < len(history):
        assert all(share == 1.0 for share in lost)


@given(st.lists(st.integers(5, 120), min_size=60, max_size=120).map(thread_of), words)
def test_a_long_thread_has_its_history_beside_full_tiers(thread: list[Turn], said: int) -> None:
    """W2: at least 1,500 tokens and 30 turns where both fit, and 4,100 tokens in all."""
    parts = fitted(thread, tiers_of(said))
    assert parts.total_tokens <= COMPANION_BUDGET.total_tokens
    assert 1_500 <= parts.history_tokens <= 3_000 or len(parts.history) >= 55
    assert len(parts.history) <= 80


@given(words, st.integers(1, 40), st.integers(1, 40))
def test_the_tiers_do_not_depend_on_what_is_said_now(said: int, few: int, more: int) -> None:
    """C3: the prompt cache holds while messages of usual length come and go."""
    first, second = (fitted(thread_of([9] * 40 + [size]), tiers_of(said)) for size in (few, more))
    assert first.prefix == second.prefix


def test_a_large_message_takes_the_place_of_the_tiers_in_their_order() -> None:
    tiers = tiers_of(60)
    assert names(tiers) == ["today", "open_threads", "last_conversation"]
    seen = [names(fitted(thread_of([30] * 60 + [size]), tiers).tiers) for size in (50, 2_000, 2_300)]
    assert seen == [["today", "open_threads", "last_conversation"], ["today", "open_threads"], []]


@given(st.text(max_size=3_000), st.integers(30, 400))
def test_a_shortened_text_fits_and_says_so(text: str, tokens: int) -> None:
    short = shorten(text, tokens)
    assert estimate_tokens(short) <= tokens
    assert short == text or "characters left out here to fit the context" in short


@given(st.lists(st.sampled_from(["user", "assistant"]), max_size=12), st.lists(st.text(min_size=1), max_size=2))
def test_roles_alternate_and_the_user_begins(roles: list[str], additions: list[str]) -> None:
    turns = [
        Turn(position=n, depth=n, role=role, content=text_blocks(str(n)), token_count=1)
        for n, role in enumerate([*roles, "user"], 1)
    ]
    messages = api_messages(turns, additions)
    assert [message["role"] for message in messages] == ["user", "assistant"][: len(messages)] * (
        len(messages) // 2
    ) + ["user"] * (len(messages) % 2)
    sent = [block["text"] for message in messages for block in message["content"]]
    assert [text for text in sent if text.isdigit()][: len(turns)] == [str(turn.position) for turn in turns]
    assert sent[len(sent) - len(additions) :] == additions
