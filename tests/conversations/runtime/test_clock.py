"""A machine whose clock is wrong, or set while the process runs, against a database whose clock is right."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from conversations.runtime import clock
from conversations.runtime.ids import time_of, uuid7

pytestmark = pytest.mark.django_db

TRUE_TIME = time.time
OFF = [timedelta(days=2), timedelta(days=-2)]


def set_by(monkeypatch: pytest.MonkeyPatch, off: timedelta) -> None:
    monkeypatch.setattr(time, "time", lambda: TRUE_TIME() + off.total_seconds())


def is_true(at: datetime) -> bool:
    return abs(at - datetime.fromtimestamp(TRUE_TIME(), UTC)) < timedelta(seconds=1)


@pytest.mark.parametrize("off", OFF, ids=["ahead", "behind"])
def test_a_clock_that_is_wrong_from_the_beginning_is_seen_and_told(
    off: timedelta, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    set_by(monkeypatch, off)
    assert not is_true(clock.now())
    for _ in range(2):
        clock.look()
    assert is_true(clock.now())
    assert is_true(time_of(uuid7()))
    assert [record.message for record in caplog.records] == [
        "this machine's clock is wrong; that of the database is used"
    ]


@pytest.mark.parametrize("off", OFF, ids=["ahead", "back"])
def test_a_clock_that_is_set_changes_nothing_neither_before_the_next_look_nor_after_it(
    off: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.look()
    for to in (off, -off, timedelta(0)):
        set_by(monkeypatch, to)
        assert is_true(clock.now())
        clock.look()
        assert is_true(clock.now())


def test_a_clock_that_differs_by_little_is_this_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    set_by(monkeypatch, timedelta(seconds=5))
    clock.look()
    assert timedelta(seconds=4) < clock.now() - datetime.fromtimestamp(TRUE_TIME(), UTC) < timedelta(seconds=6)
