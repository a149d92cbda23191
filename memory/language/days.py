"""Which days a text names. Pure. In English, and as ISO dates."""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple": 2, "few": 3}
UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
YEARS_BACK = 5
MOST_SPANS = 8

MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
PATTERNS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{YEAR}-(?P<number>\d\d)-(?P<day>\d\d)\b",
        rf"\b{DAY}\s+(?:of\s+)?{MONTH}(?:,?\s+{YEAR})?\b",
        rf"\b{MONTH}\s+{DAY}(?!\d)(?:,?\s+{YEAR}\b)?",
        rf"\b{MONTH},?\s+(?:of\s+)?{YEAR}\b",
        rf"\b(?:in|last|since|during|this|of)\s+{MONTH}\b",
        rf"\b(?:in|during)\s+{YEAR}\b",
    )
]
AGO = re.compile(
    rf"\b(?P<count>\d{{1,3}}|{'|'.join(NUMBERS)})\s+(?:of\s+)?(?P<unit>{'|'.join(UNITS)})s?\s+ago\b", re.IGNORECASE
)
LAST = re.compile(rf"\b(?:last|past|previous)\s+(?P<unit>{'|'.join(UNITS)}|weekend)\b", re.IGNORECASE)
NEAR = re.compile(r"\b(?P<near>today|tonight|yesterday|this (?:week|month|morning))\b", re.IGNORECASE)
ON_WEEKDAY = re.compile(rf"\b(?:on|last|this|since)\s+(?P<weekday>{'|'.join(WEEKDAYS)})\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """From one day to another, both included. ``text`` is what names it, ``narrow`` whether it is a matter of days."""

    first: date
    last: date
    text: str = ""

    @property
    def narrow(self) -> bool:
        return (self.last - self.first).days <= 10

    @property
    def days(self) -> list[date]:
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]


def spans(text: str, today: date) -> list[Span]:
    """The spans of days that a text names, seen from a day. What is no date, such as 31 June, names none."""
    named: list[Span] = []
    left = text
    for pattern in PATTERNS:  # the fullest first: what one has read is gone for the next
        for match in pattern.finditer(left):
            named += _calendar(match.groupdict(), today, match[0])
        left = pattern.sub(" ", left)
    named += _relative(left, today)
    return named[:MOST_SPANS]


def _calendar(parts: Mapping[str, str | None], today: date, text: str) -> Iterator[Span]:
    number, named_year, named_day = parts.get("number"), parts.get("year"), parts.get("day")
    month = int(number) if number else _month(parts.get("month"))
    years = [int(named_year)] if named_year else [today.year - back for back in range(YEARS_BACK)]
    for year in years:
        try:
            first = date(year, month or 1, int(named_day or 1))
        except ValueError:  # no such day
            continue
        if first <= today or named_year:
            yield Span(first=first, last=_end(first, month=bool(month), day=bool(named_day)), text=text)


def _end(first: date, *, month: bool, day: bool) -> date:
    """The last day of the day, else of the month, else of the year that begins there."""
    if day:
        return first
    if month:
        return first.replace(day=monthrange(first.year, first.month)[1])
    return date(first.year, 12, 31)


def _month(name: str | None) -> int | None:
    return next(
        (n for n, month in enumerate(MONTHS, 1) if name and month.startswith(name.lower().rstrip(".")[:3])), None
    )


def _relative(text: str, today: date) -> Iterator[Span]:
    for match in AGO.finditer(text):
        length = UNITS[match["unit"].lower()]
        count = NUMBERS.get(match["count"].lower()) or int(match["count"])
        middle, slack = today - timedelta(days=min(count * length, 36_500)), timedelta(days=length // 2)
        yield Span(first=middle - slack, last=middle + slack, text=match[0])
    for match in LAST.finditer(text):
        yield Span(first=_begin_of_last(match["unit"].lower(), today), last=today - timedelta(days=1), text=match[0])
    for match in NEAR.finditer(text):
        back = {"yesterday": 1, "this week": today.weekday(), "this month": today.day - 1}.get(match["near"].lower(), 0)
        last = today - timedelta(days=1) if back == 1 and match["near"].lower() == "yesterday" else today
        yield Span(first=today - timedelta(days=back), last=last, text=match[0])
    for match in ON_WEEKDAY.finditer(text):
        back = (today.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7 or 7
        day = today - timedelta(days=back)
        yield Span(first=day, last=day, text=match[0])


def _begin_of_last(unit: str, today: date) -> date:
    match unit:
        case "weekend" | "week":
            return today - timedelta(days=today.weekday() + 7)
        case "month":
            return (today.replace(day=1) - timedelta(days=1)).replace(day=1)
        case "year":
            return date(today.year - 1, 1, 1)
    return today - timedelta(days=1)
