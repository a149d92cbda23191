"""Which day to come a text names first, in six languages: ``coming_days.toml``. Pure."""

import re
from datetime import date, timedelta

from conversations.runtime.word_tables import pattern_for_later, read_tables

TABLES = read_tables(__file__)
MOST_DAYS = 366


def _any_of(table: str) -> dict[int, re.Pattern[str]]:
    return {int(number): pattern_for_later(f"(?:{words})") for number, words in TABLES[table].items()}


def _joined(table: str) -> str:
    return "|".join(words.replace("\n", "") for words in TABLES[table].values())


NEAR, WEEKDAYS, MONTHS, NUMBERS, UNITS = map(_any_of, ("near", "weekdays", "months", "numbers", "units"))
NOT_COMING, NEXT = (pattern_for_later(TABLES["patterns"][name]) for name in ("NOT_COMING", "NEXT"))
NEAR_WORD = pattern_for_later(rf"(?<!\w)(?:{_joined('near')})\b|明天|后天|明早|明晚")
WEEKDAY = pattern_for_later(rf"(?:\b(?:{_joined('weekdays')})\b|[周星期礼拜]+[一二三四五六日天末])")
DATE = pattern_for_later(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?P<month>{_joined('months')})\b"
    rf"|\b(?P<month_before>{_joined('months')})\s(?P<day_after>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|(?P<month_number>\d{1,2})月(?P<day_of_it>\d{1,2})[日号]"
)
SPAN = pattern_for_later(
    rf"\b{TABLES['patterns']['IN']}\s(?P<count>\d{{1,3}}|{_joined('numbers')})\s(?P<unit>{_joined('units')})\b"
    rf"|(?P<count_before>\d{{1,3}}|[一二两三四五六七八九十几])(?P<unit_after>天|周|个?星期|个月)(?:后|之后|以后)"
)


def coming_day(text: str, today: date) -> date | None:
    """The last day that it may mean: of a weekend the Sunday, of "next Friday" the later of two."""
    for match in DATE.finditer(text):
        parts = match.groupdict()
        day = int(parts["day"] or parts["day_after"] or parts["day_of_it"])
        month = int(parts["month_number"] or _number(parts["month"] or parts["month_before"] or "", MONTHS))
        for year in (today.year, today.year + 1):
            if (named := _date(year, month, day)) and named >= today:
                return named if named - today < timedelta(days=MOST_DAYS) else None
    for match in SPAN.finditer(text):
        count, unit = match["count"] or match["count_before"], match["unit"] or match["unit_after"]
        days = (int(count) if count.isdecimal() else _number(count, NUMBERS)) * _number(unit, UNITS)
        return today + timedelta(days=days + days // 7) if days <= MOST_DAYS else None
    for match in WEEKDAY.finditer(text):
        before = text[: match.start()]
        if not NOT_COMING.search(before):
            wanted = _number(match[0], WEEKDAYS)
            ahead = (wanted - today.weekday()) % 7 or 7
            is_next = NEXT.search(before) or re.match(r"\s(?:prochaine?|que viene)", text[match.end() :])
            return today + timedelta(days=ahead + 7 if is_next and today.weekday() + ahead < 7 else ahead)
    near = NEAR_WORD.search(text)
    return today + timedelta(days=_number(near[0], NEAR)) if near else None


def _number(word: str, table: dict[int, re.Pattern[str]]) -> int:
    """The last that fits, for one word may begin another."""
    return max((number for number, words in table.items() if words.fullmatch(word)), default=0)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
