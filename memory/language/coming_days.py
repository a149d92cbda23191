"""Which day to come a text names first: ``coming_days.toml`` and ``date_words.toml``. Pure."""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from conversations.runtime.word_tables import pattern_for_later, read_tables
from memory.language.date_words import LANGUAGES, Numbers, any_of, small

TABLES = read_tables(__file__)
MOST_DAYS = 366


def _merged(tables: Iterable[Numbers]) -> dict[str, int]:
    return {word: number for table in tables for word, number in table.items()}


NEAR = {int(number): pattern_for_later(f"(?:{words})") for number, words in TABLES["near"].items()}
MONTHS = _merged(words.months for words in LANGUAGES.values())
WEEKDAYS = _merged(table for words in LANGUAGES.values() for table in (words.weekdays, words.weekend))
NUMBERS = _merged(words.numbers for words in LANGUAGES.values())
UNITS = {
    unit: days for unit, days in _merged(words.units for words in LANGUAGES.values()).items() if days < MOST_DAYS // 2
}
CHINESE = LANGUAGES["zh"]
NOT_COMING, NEXT = (pattern_for_later(TABLES["patterns"][name]) for name in ("NOT_COMING", "NEXT"))
NEAR_WORD = pattern_for_later(rf"(?<!\w)(?:{'|'.join(TABLES['near'].values())})\b|明天|后天|明早|明晚")
WEEKDAY = pattern_for_later(
    rf"\b(?:{any_of(WEEKDAYS.keys() - CHINESE.weekdays.keys())})\b|(?:{any_of(CHINESE.weekdays, CHINESE.weekend)})",
    flags=0,
)
MONTH = any_of(MONTHS.keys() - CHINESE.months.keys())
DATE = pattern_for_later(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?P<month>{MONTH})\b"
    rf"|\b(?P<month_before>{MONTH})\s(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|(?P<month_number>\d{1,2})月(?P<day_of_it>\d{1,2})[日号]",
    flags=0,
)
SPAN = pattern_for_later(
    rf"\b{TABLES['patterns']['IN']}\s(?P<count>\d{{1,3}}|{any_of(NUMBERS)})\s(?P<unit>{any_of(UNITS)})\b"
    rf"|(?P<count_before>\d{{1,3}}|{any_of(CHINESE.numbers)})(?P<unit_after>{any_of(UNITS.keys() & CHINESE.units.keys())})"
    r"(?:后|之后|以后)",
    flags=0,
)


def coming_day(text: str, today: date) -> date | None:
    """The last day that it may mean: of a weekend the Sunday, of "next Friday" the later of two."""
    text = small(text)
    for match in DATE.finditer(text):
        parts = match.groupdict()
        day = int(parts["day"] or parts["day_after"] or parts["day_of_it"])
        month = int(parts["month_number"] or MONTHS[parts["month"] or parts["month_before"]])
        for year in (today.year, today.year + 1):
            if (named := _date(year, month, day)) and named >= today:
                return named if named - today < timedelta(days=MOST_DAYS) else None
    for match in SPAN.finditer(text):
        count, unit = match["count"] or match["count_before"], match["unit"] or match["unit_after"]
        days = (int(count) if count.isdecimal() else NUMBERS[count]) * UNITS[unit]
        return today + timedelta(days=days + days // 7) if days <= MOST_DAYS else None
    for match in WEEKDAY.finditer(text):
        before = text[: match.start()]
        if not NOT_COMING.search(before):
            wanted = WEEKDAYS[match[0]]
            ahead = (wanted - today.weekday()) % 7 or 7
            is_next = NEXT.search(before) or re.match(r"\s(?:prochaine?|que viene)", text[match.end() :])
            return today + timedelta(days=ahead + 7 if is_next and today.weekday() + ahead < 7 else ahead)
    near = NEAR_WORD.search(text)
    return today + timedelta(days=_days_ahead(near[0])) if near else None


def _days_ahead(near: str) -> int:
    """The last that fits, for one word may begin another."""
    return max((number for number, words in NEAR.items() if words.fullmatch(near)), default=0)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
