"""What became of turns over all requests of a thread."""

import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.context.explain.turn_history import (
    FATES,
    HOLDING,
    Fate,
    FateRange,
    RequestOutcome,
    SummarizedRange,
    Trace,
    after,
    areas,
    bars,
    count_fates,
    told_apart,
    traced,
)
from conversations.context.reasons import OFF_PATH, Reason
from conversations.context.record import snapshot_codec
from conversations.context.record.turn_account import TurnRun, account
from conversations.context.turns.turn import Turn

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
OVER, RECENT, MADE, NEWEST, RECALLED, LIMIT = (
    Reason.OVER_BUDGET,
    Reason.RECENT,
    Reason.FULFILLED_ARTIFACT,
    Reason.NEWEST,
    Reason.RECALLED,
    Reason.TURN_LIMIT,
)


@st.composite
def accounts(draw: st.DrawFn) -> list[TurnRun]:
    """Every position once, of any fate; the last one is the message to answer."""
    runs: list[TurnRun] = []
    for length, reason in draw(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(list(FATES))), max_size=8)):
        first = runs[-1].last + 1 if runs else 1
        included = reason in HOLDING - {Reason.RECALLED}
        last = first + length - 1
        runs.append(
            TurnRun(first=first, last=last, count=length, included=included, reason=reason, tokens=included * 7)
        )
    last = runs[-1].last + 1 if runs else 1
    return [*runs, TurnRun(first=last, last=last, count=1, included=True, reason=Reason.NEWEST, tokens=7)]


@st.composite
def parts(draw: st.DrawFn) -> list[SummarizedRange]:
    """Parts follow one another, made at any time."""
    ends = sorted(draw(st.sets(st.integers(1, 40), max_size=4)))
    made = [NOW + timedelta(minutes=draw(st.integers(-1, 1))) for _ in ends]
    return [
        SummarizedRange(first=first + 1, last=last, at=at)
        for first, last, at in zip([0, *ends], ends, made, strict=False)
    ]


histories = st.lists(accounts(), max_size=6)


def seen_at(position: int, history: list[list[TurnRun]]) -> list[RequestOutcome]:
    return [
        RequestOutcome(
            number=n,
            id=uuid.UUID(int=n),
            at=NOW,
            reason=snapshot_codec.reason_at(snapshot_codec.pack_runs(runs), position),
        )
        for n, runs in enumerate(history, start=1)
    ]


def trace_of(*reasons: Reason | None) -> Trace:
    return traced(
        [RequestOutcome(number=n, id=uuid.UUID(int=n), at=NOW, reason=one) for n, one in enumerate(reasons, start=1)]
    )


@given(accounts(), st.integers(1, 50))
def test_the_reason_at_a_position_is_that_of_its_run(runs: list[TurnRun], position: int) -> None:
    whole = {place: run.reason for run in runs for place in range(run.first, run.last + 1)}
    assert snapshot_codec.reason_at(snapshot_codec.pack_runs(runs), position) is whole.get(position)


@given(accounts(), parts())
def test_bars_tell_of_every_position_once_what_its_run_tells(runs: list[TurnRun], told: list[SummarizedRange]) -> None:
    summarised = {place for part in told if part.at <= NOW for place in range(part.first, part.last + 1)}
    expected = {
        place: Fate.SUMMARISED if place in summarised and FATES[run.reason] is Fate.NO_ROOM else FATES[run.reason]
        for run in runs
        for place in range(run.first, run.last + 1)
    }
    drawn = [(place, bar.fate) for bar in bars(runs, told, NOW) for place in range(bar.first, bar.last + 1)]
    assert drawn == list(expected.items())


@given(histories, parts())
def test_areas_are_the_bars_of_all_requests(history: list[list[TurnRun]], told: list[SummarizedRange]) -> None:
    columns = [bars(runs, told, NOW) for runs in history]
    drawn: list[set[FateRange]] = [set() for _ in columns]
    for area in areas(columns):
        for place in range(area.begin, area.end + 1):
            assert area.bar not in drawn[place]
            drawn[place].add(area.bar)
    assert drawn == [set(column) for column in columns]


@given(histories, st.integers(1, 50))
def test_a_trace_tells_of_every_request_once(history: list[list[TurnRun]], position: int) -> None:
    seen = seen_at(position, history)
    trace = traced(seen)
    assert [one.reason for stretch in trace.stretches for one in [stretch] * stretch.count] == [
        one.reason for one in seen
    ]
    in_question = [one for one in seen if one.reason]
    held = [one for one in in_question if one.reason in HOLDING]
    assert (trace.sent + trace.recalled, trace.left_out) == (len(held), len(in_question) - len(held))
    after = [one for one in in_question if held and one.number > held[0].number and one.reason not in HOLDING]
    assert (trace.first_without.first if trace.first_without else None) == (after[0] if after else None)


@given(histories)
def test_the_counts_of_a_request_are_those_of_its_runs(history: list[list[TurnRun]]) -> None:
    for runs in history:
        assert count_fates(runs).total() == sum(run.count for run in runs)


@given(st.data())
def test_turns_of_left_branches_are_told_apart_from_older_ones(data: st.DataObject) -> None:
    parents = {turn: data.draw(st.integers(max(0, turn - 4), turn - 1)) for turn in range(1, 25)}
    path = [data.draw(st.integers(1, 24))]
    while parents[path[-1]]:
        path.append(parents[path[-1]])
    turns = [
        Turn(position=place, depth=depth, role=("assistant", "user")[depth % 2], content=[], token_count=1)
        for depth, place in enumerate(path[::-1], start=1)
    ]
    sent = turns[data.draw(st.integers(0, len(turns) - 1)) :]
    earlier = account([], turns[0], OVER, {})
    first, told = told_apart([earlier, account(sent[:-1], sent[-1], OVER, {})], parents)
    assert first == earlier
    fates = [(place, run.reason) for run in told for place in range(run.first, run.last + 1)]
    assert [place for place, _ in fates] == list(range(1, path[0] + 1))
    assert {place for place, reason in fates if reason not in OFF_PATH} == {*path}
    assert sum(run.count for run in told if run.reason not in OFF_PATH) == len(path)
    assert {place for place, _ in fates if path[0] in after(place, parents)} == {*path}
    cleared = account(sent[:-1], sent[-1], OVER, {})
    assert told_apart([cleared], {}) == [cleared]


@pytest.mark.parametrize(
    ("reasons", "returns"),
    [
        ([NEWEST, RECENT, RECENT], []),
        ([NEWEST, RECENT, OVER, OVER], []),
        ([NEWEST, OVER, RECALLED, OVER, RECALLED], [(3, OVER), (5, OVER)]),
        ([NEWEST, MADE, MADE, RECENT], [(4, MADE)]),
        ([OVER, OVER, RECENT], []),  # it was never held before
        ([NEWEST, LIMIT, None, RECENT], [(4, LIMIT)]),
        ([NEWEST, RECENT, RECALLED, RECENT], []),
    ],
)
def test_a_turn_that_came_back_is_told_with_why_it_was_gone(
    reasons: list[Reason | None], returns: list[tuple[int, Reason]]
) -> None:
    trace = trace_of(*reasons)
    assert [(one.stretch.first.number, one.gone) for one in trace.returns] == returns


def test_a_request_that_the_turn_had_no_part_in_is_no_gap() -> None:
    assert trace_of(None, NEWEST, RECENT, None, RECENT).first_without is None


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_a_sentence_without_codes(reason: Reason) -> None:
    assert reason.rule[0].isupper() and reason.rule.endswith(".")
    assert not re.search(r"\b[CFNPQSTW]\d", reason.rule)


def test_every_reason_of_a_turn_has_a_fate() -> None:
    of_rows = {Reason.REMEMBERED, Reason.LISTED, Reason.EXPIRED, Reason.LIMIT, Reason.REPEATED}
    of_rows |= {Reason.INSTRUCTED, Reason.OTHER_PROJECT, Reason.TEMPORARY, Reason.OFFERED, Reason.CHANGED}
    of_files = {Reason.READ, Reason.UNREAD, Reason.UNSEEN, Reason.UNRELATED}
    of_files |= {Reason.HIDDEN, Reason.DAMAGED, Reason.NOT_READ, Reason.BROKEN_OFF}
    assert FATES.keys() == set(Reason) - of_rows - of_files - {Reason.OUTSIDE_PART}
