"""When a message that is sent again and again is due next. Pure."""

from collections.abc import Collection
from datetime import UTC, datetime, time, timedelta
from typing import TypedDict
from zoneinfo import ZoneInfo

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEK = 7


def next_after(moment: datetime, *, days: Collection[int], at: time, zone: ZoneInfo) -> datetime:
    """The first time after ``moment`` on one of the days (1 is Monday) when clocks of the zone show ``at``, in UTC.

    Where clocks skip that time, it is as long after midnight as on other days; where they show it twice, the first one counts.
    """
    today = moment.astimezone(zone).date()
    for days_on in range(-1, WEEK + 2):
        day = today + timedelta(days=days_on)
        if day.isoweekday() in days:
            due = datetime.combine(day, at, zone).astimezone(UTC)
            if due > moment:
                return due
    raise ValueError("no day of the week is given")


class Rule(TypedDict):
    """As the API and documents say it: names of days, and a time such as 08:00."""

    days: list[str]
    time: str


def rule_of(days: Collection[int], at: time | None) -> Rule | None:
    """``None`` of what is sent once."""
    return {"days": [DAYS[number - 1] for number in days], "time": f"{at:%H:%M}"} if at else None


def numbers_of(names: Collection[str]) -> list[int]:
    """The numbers of days by their names, in order, each once."""
    return sorted({DAYS.index(name) + 1 for name in names})
