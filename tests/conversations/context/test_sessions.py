"""A session goes on until a pause of more than 30 minutes, in whatever threads: pure."""

from datetime import UTC, datetime, timedelta

import pytest

from conversations.context.sessions import Session, session_at

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
MORNING = Session(started_at=NOON - timedelta(hours=2), away_since=NOON - timedelta(days=1))


@pytest.mark.parametrize(
    ("pause", "expected"),
    [
        (timedelta(0), MORNING),
        (timedelta(minutes=30), MORNING),
        (timedelta(minutes=30, microseconds=1), "new"),
        (timedelta(days=40), "new"),
    ],
)
def test_a_session_ends_with_a_long_pause(pause: timedelta, expected: Session | str) -> None:
    now = NOON + pause
    new = Session(started_at=now, away_since=NOON)
    assert session_at(now, last_active=NOON, last_session=MORNING) == (new if expected == "new" else expected)


def test_the_first_visit_has_nothing_before_it() -> None:
    assert session_at(NOON, last_active=None, last_session=None) == Session(started_at=NOON)


def test_a_thread_of_which_no_session_is_known_begins_a_new_one() -> None:
    now = NOON + timedelta(minutes=1)
    assert session_at(now, last_active=NOON, last_session=None) == Session(started_at=now, away_since=NOON)


def test_turns_with_a_time_to_come_hold_no_session_open() -> None:
    tomorrow = NOON + timedelta(days=1)
    assert session_at(NOON, last_active=tomorrow, last_session=MORNING) == Session(started_at=NOON)
