"""How fast a backup reads."""

from dataclasses import dataclass, field

from config.backups.streams import Pace


@dataclass
class Time:
    """Passes where somebody sleeps or is busy."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_it_rests_after_each_piece() -> None:
    time = Time()
    pace = Pace(1000, time.read, time.sleep)
    for _ in range(20):
        pace.add(50)
    assert [round(each, 3) for each in time.slept] == [0.05] * 20
    assert round(time.now, 3) == 1


def test_who_was_held_up_for_long_does_not_flood_afterwards() -> None:
    time = Time()
    pace = Pace(1000, time.read, time.sleep)
    time.now = 60.0
    for _ in range(20):
        pace.add(50)
    assert 60.8 < time.now < 61


def test_without_a_rate_nobody_waits() -> None:
    time = Time()
    Pace(0, time.read, time.sleep).add(10**12)
    assert time.slept == []
