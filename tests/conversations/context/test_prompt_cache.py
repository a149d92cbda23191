"""What to expect of the provider's prompt cache, and where marks pay: pure."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from conversations.context.rules.prompt_cache import (
    FIVE_MINUTES,
    HOUR,
    CachePlan,
    CachePrices,
    CacheState,
    Lifetime,
    Previous,
    lifetime_for,
    marked,
    plan,
    state_before,
)
from conversations.models import text_blocks

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEFORE = Previous(
    at=NOON,
    provider="anthropic",
    model="claude-x",
    sections=("base", "memory"),
    positions=(3, 4, 5),
    marks=("system", "message"),
    provider_message_id="msg_1",
)


def state(
    previous: Previous | None, *, seconds: float = 60, model: str = "claude-x", memory: str = "memory"
) -> CacheState:
    at = NOON + timedelta(seconds=seconds)
    return state_before(previous, at=at, provider="anthropic", model=model, sections=["base", memory])


def planned(previous: Previous | None, turns: list[tuple[int, int]], *, system: int = 1_200) -> CachePlan:
    return plan(state(previous), previous, cacheable_from=1_024, system_tokens=system, turns=turns, lifetime=Lifetime())


def talk(*minutes: float) -> list[datetime]:
    """Times of messages with these pauses between them."""
    times = [NOON]
    for pause in minutes:
        times.append(times[-1] + timedelta(minutes=pause))
    return times


def lifetime(*minutes: float, prices: CachePrices = CachePrices()) -> Lifetime:  # noqa: B008 – frozen
    return lifetime_for(talk(*minutes), prefix_tokens=4_000, growth_tokens=100, prices=prices)


def test_the_cache_is_warm_for_five_minutes_after_the_same_model_was_given_the_same_system_text() -> None:
    assert state(BEFORE) is CacheState.WARM
    assert state(BEFORE, seconds=300) is CacheState.WARM
    assert state(BEFORE, seconds=300.001) is CacheState.COLD
    assert state(BEFORE, model="claude-y") is CacheState.OTHER_MODEL
    assert state(BEFORE, memory="another memory") is CacheState.OTHER_SYSTEM
    assert state(None) is CacheState.FIRST


def test_a_cache_that_does_not_expire_is_warm_after_any_pause() -> None:
    later = BEFORE.at + timedelta(days=3)
    states = [
        state_before(BEFORE, at=later, provider="anthropic", model=name, sections=BEFORE.sections, expires=False)
        for name in (BEFORE.model, "claude-y")
    ]
    assert states == [CacheState.WARM, CacheState.OTHER_MODEL]


def test_entries_of_an_hour_are_warm_for_an_hour() -> None:
    before = replace(BEFORE, lifetime=HOUR)
    assert state(before, seconds=3_600) is CacheState.WARM
    assert state(before, seconds=3_601) is CacheState.COLD


@pytest.mark.parametrize(
    ("pauses", "name"),
    [
        ([1, 1, 1, 1, 1, 1, 1, 1], FIVE_MINUTES),
        ([12, 20, 9, 31, 14], HOUR),
        ([1, 1, 1, 20, 1, 1, 1, 20], HOUR),
        ([120, 200, 90, 61, 400], FIVE_MINUTES),
        ([2, 300, 2, 300, 2, 300], FIVE_MINUTES),
        ([20, 20, 20], FIVE_MINUTES),  # too few to tell
        ([], FIVE_MINUTES),
    ],
)
def test_entries_live_an_hour_where_the_persons_pauses_make_that_pay(pauses: list[float], name: str) -> None:
    assert lifetime(*pauses).name == name


def test_the_costs_that_decide_are_those_of_the_prompts_after_the_pauses() -> None:
    found = lifetime(20, 20, 20, 20)
    assert found.cost_five_minutes == 1.25, "all is written anew each time"
    assert found.cost_hour == round((0.1 * 4_000 + 2.0 * 100) / 4_100, 3), "what is new is written, the rest read"
    assert lifetime(20, 20, 20, 20, prices=CachePrices(read=0.1, write=0.1, write_hour=9.0)).name == FIVE_MINUTES


def test_only_the_latest_pauses_count() -> None:
    assert lifetime(*[20] * 30, *[1] * 20).name == FIVE_MINUTES


def test_all_that_was_sent_before_is_expected_from_the_cache() -> None:
    found = planned(BEFORE, [(3, 10), (4, 20), (5, 30), (6, 40), (7, 50)])
    assert found == CachePlan(
        state=CacheState.WARM, marks=("system", "message"), expected=1_260, previous_message_id="msg_1"
    )


def test_after_a_drop_only_the_system_text_is_expected() -> None:
    found = planned(BEFORE, [(5, 30), (6, 40), (7, 50)])
    assert (found.state, found.expected) == (CacheState.MOVED, 1_200)


def test_a_turn_that_was_filtered_since_breaks_the_prefix() -> None:
    found = planned(BEFORE, [(3, 10), (5, 30), (6, 40)])
    assert (found.state, found.expected) == (CacheState.CHANGED, 1_200)


def test_marks_stand_only_where_the_prefix_is_large_enough() -> None:
    assert planned(None, [(1, 10)], system=1_024).marks == ("system", "message")
    assert planned(None, [(1, 10)], system=1_023).marks == ("message",)
    assert planned(None, [(1, 10)], system=1_013).marks == ()
    assert planned(BEFORE, [(3, 1), (4, 1), (5, 1), (6, 1)], system=100) == CachePlan(
        state=CacheState.TOO_SMALL, previous_message_id="msg_1"
    )


def test_nothing_is_expected_of_a_request_whose_mark_was_not_set_before() -> None:
    unmarked = replace(BEFORE, marks=())
    found = planned(unmarked, [(3, 10), (4, 20), (5, 30), (6, 40)])
    assert (found.state, found.expected) == (CacheState.TOO_SMALL, 0)


def test_a_provider_without_a_cache_gets_no_marks() -> None:
    found = plan(
        CacheState.WARM, BEFORE, cacheable_from=None, system_tokens=9_000, turns=[(3, 9_000)], lifetime=Lifetime()
    )
    assert found == CachePlan()


def test_a_mark_stands_at_the_last_block_and_the_blocks_stay_as_they_were() -> None:
    blocks = [*text_blocks("one"), *text_blocks("two")]
    five_minutes, hour = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
    first, second = blocks
    assert marked(blocks, FIVE_MINUTES) == [first, second | {"cache_control": five_minutes}]
    assert marked(blocks, HOUR) == [first, second | {"cache_control": hour}]
    assert blocks == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
