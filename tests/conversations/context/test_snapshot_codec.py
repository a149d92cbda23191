"""What a snapshot writes down is read as it was, and nothing else is taken for it."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.reasons import Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.snapshot_codec import NamedText
from conversations.context.record.turn_account import TurnRun
from conversations.context.render.rendering import sha256
from conversations.context.rules.prompt_cache import CachePlan, CacheState, Lifetime

BASE = sha256("base").hex()
RUNS = [
    TurnRun(first=1, last=4, count=3, included=False, reason=Reason.TURN_LIMIT),
    TurnRun(first=5, last=84, count=80, included=True, reason=Reason.RECENT, tokens=1896),
    TurnRun(first=85, last=85, count=1, included=True, reason=Reason.SHORTENED, tokens=24, sha256=BASE),
]
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
numbers = st.integers(0, 2**40)


@st.composite
def runs(draw: st.DrawFn) -> TurnRun:
    first, length, included = draw(numbers), draw(st.integers(0, 2**20)), draw(st.booleans())
    return TurnRun(
        first=first,
        last=first + length,
        count=draw(st.just(length + 1) | numbers),
        included=included,
        reason=draw(st.sampled_from(Reason)),
        tokens=draw(numbers) if included else 0,
        sha256=draw(st.just("") | digests) if included else "",
    )


named = st.builds(NamedText, name=st.sampled_from(["base", "open_threads", "query"]), sha256=digests, tokens=numbers)
timings = st.dictionaries(
    st.sampled_from(["history", "total"]), st.integers(1, 2**40).map(lambda microseconds: microseconds / 1000)
)
plans = st.builds(
    CachePlan,
    state=st.sampled_from(CacheState),
    marks=st.lists(st.sampled_from(["system", "message"]), unique=True).map(tuple),
    expected=numbers,
    lifetime=st.builds(
        Lifetime,
        name=st.sampled_from(["5m", "1h"]),
        cost_five_minutes=st.integers(1, 2_000).map(lambda thousandths: thousandths / 1000),
        cost_hour=st.integers(1, 2_000).map(lambda thousandths: thousandths / 1000),
    )
    | st.just(Lifetime()),
    previous_message_id=st.text(),
)


@given(st.lists(runs()))
def test_runs_are_read_as_they_were_written(values: list[TurnRun]) -> None:
    assert snapshot_codec.unpack_runs(snapshot_codec.pack_runs(values)) == values


@given(st.lists(named))
def test_named_texts_are_read_as_they_were_written(values: list[NamedText]) -> None:
    assert snapshot_codec.unpack_texts(snapshot_codec.pack_texts(values)) == values


@given(timings)
def test_timings_are_read_as_they_were_written(values: dict[str, float]) -> None:
    assert snapshot_codec.unpack_timings(snapshot_codec.pack_timings(values)) == values


@given(st.dictionaries(numbers, numbers))
def test_counts_are_read_as_they_were_written(values: dict[int, int]) -> None:
    assert snapshot_codec.unpack_counts(snapshot_codec.pack_counts(values)) == values


@given(plans)
def test_what_is_told_of_the_cache_is_read_as_it_was_written(plan: CachePlan) -> None:
    assert snapshot_codec.unpack_cache(snapshot_codec.pack_cache(plan)) == plan


def test_what_is_stored_can_be_read_by_people() -> None:
    digest = "yuZiFy_UULsM1xCnaQecBb_F2ONe-mV27cfQN3r91KI"
    warm = CachePlan(state=CacheState.WARM, marks=("system", "message"), expected=2410, previous_message_id="msg_01")
    assert [
        snapshot_codec.pack_runs(RUNS),
        snapshot_codec.pack_texts([NamedText(name="base", sha256=BASE, tokens=312)]),
        snapshot_codec.pack_timings({"history": 1.204, "rewrite": 0, "total": 2.5}),
        snapshot_codec.pack_cache(warm),
        snapshot_codec.pack_cache(CachePlan(state=CacheState.FIRST)),
        snapshot_codec.pack_cache(CachePlan()),
    ] == [
        f"1-4/3 turn_limit;5-84 recent 1896;85 shortened 24 {digest}",
        f"base 312 {digest}",
        "history 1.204;total 2.5",
        "warm 2410 system,message msg_01",
        "first 0 -",
        "",
    ]


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (snapshot_codec.unpack_runs, "1-4"),
        (snapshot_codec.unpack_runs, "1-4 turn_limit;"),
        (snapshot_codec.unpack_runs, "1-4 because 3"),
        (snapshot_codec.unpack_runs, "1 - 4 recent 3"),
        (snapshot_codec.unpack_runs, "١ recent 3"),
        (snapshot_codec.unpack_runs, "1-4 recent 3 abc"),
        (snapshot_codec.unpack_runs, "1-4 recent 3\n"),
        (snapshot_codec.unpack_texts, "base 312"),
        (snapshot_codec.unpack_texts, f"base 312 {BASE}"),
        (snapshot_codec.unpack_counts, "1"),
        (snapshot_codec.unpack_counts, "1 2;"),
        (snapshot_codec.unpack_timings, "total"),
        (snapshot_codec.unpack_timings, "total nan"),
        (snapshot_codec.unpack_cache, "warm"),
        (snapshot_codec.unpack_cache, "lukewarm 1 -"),
    ],
)
def test_what_was_not_written_here_is_refused(read: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.compile("notation of snapshots|is not a valid")):
        read(text)
