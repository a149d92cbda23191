"""Where a thread is cut into parts: pure."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.parts import LONGEST_PAUSE, MOST_CHARACTERS, MOST_TURNS, Part, TurnPlace, parts_of

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Tokyo")


def places(*minutes: float, characters: int = 10) -> list[TurnPlace]:
    return [
        TurnPlace(position=n, at=NOON + timedelta(minutes=minute), characters=characters)
        for n, minute in enumerate(minutes, 1)
    ]


def cuts(parts: list[Part]) -> list[tuple[int, int]]:
    return [(part.first, part.last) for part in parts]


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([], []),
        ([0], [(1, 1)]),
        ([0, 12, 42], [(1, 3)]),  # the person came back after twelve minutes
        ([0, 30.1, 31], [(1, 1), (2, 3)]),
        ([170, 179, 181], [(1, 2), (3, 3)]),  # midnight in Tokyo is 15:00 in UTC
    ],
)
def test_a_part_ends_with_a_long_pause_and_with_the_day(minutes: list[float], expected: list[tuple[int, int]]) -> None:
    assert cuts(parts_of(places(*minutes), ZONE)) == expected


def test_a_part_has_a_bounded_size_even_where_nobody_pauses() -> None:
    assert cuts(parts_of(places(*[0] * 130), UTC)) == [(1, 60), (61, 120), (121, 130)]
    assert cuts(parts_of(places(0, 0, 0, characters=10_000), UTC)) == [(1, 2), (3, 3)]
    assert cuts(parts_of(places(0, 0, characters=90_000), UTC)) == [(1, 1), (2, 2)]


def test_what_follows_without_a_pause_extends_what_is_settled_and_nothing_else_does() -> None:
    turns = places(0, 40, 50, 100)
    assert cuts(parts_of(turns, UTC, settled=2)) == [
        (1, 3),
        (4, 4),
    ]  # settled across a pause, as another day's zone had it
    assert cuts(parts_of(places(0, 200), ZONE, settled=1)) == [(1, 1), (2, 2)]
    assert cuts(parts_of([turns[0], turns[3]], UTC, settled=3)) == [(1, 3), (4, 4)]  # two of the settled turns are gone


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 45), st.integers(0, 9_000)), min_size=1, max_size=150),
    st.integers(1, 5),
)
def test_parts_follow_one_another_without_a_hole(steps: list[tuple[int, int, int]], first: int) -> None:
    position, at, turns = first - 1, NOON, []
    for gap, minutes, characters in steps:
        position, at = position + gap, at + timedelta(minutes=minutes)
        turns.append(TurnPlace(position=position, at=at, characters=characters))
    parts = parts_of(turns, ZONE, first=first)
    assert [part.first for part in parts] == [first, *(part.last + 1 for part in parts[:-1])]
    assert parts[-1].last == turns[-1].position
    for part in parts:
        inside = [turn for turn in turns if part.first <= turn.position <= part.last]
        assert (part.started_at, part.ended_at) == (inside[0].at, inside[-1].at)
        assert len(inside) <= MOST_TURNS
        assert len(inside) == 1 or sum(turn.characters for turn in inside) <= MOST_CHARACTERS
        assert len({turn.at.astimezone(ZONE).date() for turn in inside}) == 1
        assert all(after.at - before.at <= LONGEST_PAUSE for before, after in pairwise(inside))
