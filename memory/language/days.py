"""Which days a text names, in seven languages (``days.toml``) and as ISO dates. Pure.

Most texts name none, so the words of a text are looked up first: they say which patterns of which languages are tried.
"""

import re
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from operator import itemgetter
from typing import NamedTuple

from conversations.runtime.word_tables import pattern_for_later, read_tables
from memory.language.date_words import LANGUAGES, any_of, numbered, small

TABLES = read_tables(__file__)
YEARS_BACK = 5
MOST_SPANS = 8
MOST_DAYS_AGO = 36_500
BETWEEN_WORDS = """.,;:!?'"()[]<>-*_/~#&|`+="""
BETWEEN_WORDS_BESIDE_ASCII = re.compile(r"[«»¡¿،؛؟\u2010-\u2bff\u3000-\u303f\uff00-\uff1f\ufe0f\U0001f000-\U0001faff]")
YEAR = r"(?:[1١][9٩]|[2٢][0٠])\d\d"
MAY_BE_YEAR = re.compile(r"[12١٢][90٩٠]\d\d")
BLANK = "\0"
NO_DATE_AFTER = r"(?!,?\s*(?:(?:dem|den|the|le|el)\s+)?\0)"  # "Friday" in "on Friday, 5 October"


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


class Kind(NamedTuple):
    """A kind of patterns of a language, such as those with a weekday."""

    language: str
    name: str


class Unsure(NamedTuple):
    """Beside which words, and without which, a word counts that means something else in another language."""

    beside: frozenset[str]
    without: frozenset[str]


def _patterns(language: str) -> Iterator[tuple[int, Kind, re.Pattern[str]]]:
    """With their place among those of their kind."""
    parts = {"YEAR": f"(?P<year>{YEAR})", "ALONE": NO_DATE_AFTER}
    if words := LANGUAGES.get(language):
        parts |= {
            "MONTH": any_of(words.months),
            "WEEKDAY": any_of(words.weekdays),
            "WEEKEND": any_of(words.weekend),
            "NUMBER": any_of(words.numbers),
            "UNIT": any_of(words.units, words.pairs),
            "NEAR": any_of(NEAR[language]),
        }
    for name, texts in TABLES[language]["patterns"].items():
        yield from (
            (place, Kind(language, name), pattern_for_later(text, parts, 0)) for place, text in enumerate(texts)
        )


def _near(table: Mapping[str, str]) -> dict[str, int | str]:
    """How many days ago, or what began then."""
    since = {word: key for key, words in table.items() if not key.isdigit() for word in words.split("|")}
    return since | numbered((key, words) for key, words in table.items() if key.isdigit())


def _words(text: str) -> list[str]:
    """Three times as fast as a regular expression for them."""
    for sign in BETWEEN_WORDS:
        text = text.replace(sign, " ")
    return (text if text.isascii() else BETWEEN_WORDS_BESIDE_ASCII.sub(" ", text)).split()


def _hints() -> dict[str, list[Kind]]:
    """Which patterns a word lets try: the longest one of each name, for names of several words."""
    hints = defaultdict(list)
    for language, words in LANGUAGES.items():
        if "sign" in TABLES[language]:
            continue
        names = {
            "months": [*words.months],
            "weekdays": [*words.weekdays],
            "units": [*words.units, *words.pairs, *words.weekend],
            "near": [*NEAR[language]],
        }
        for kind, each in names.items():
            for name in each:
                word = max(reversed(_words(name)), key=len)  # "week", not "this"
                for prefix in ("", *TABLES[language].get("prefixes", ())):
                    hints[prefix + word].append(Kind(language, kind))
    return dict(hints)


NEAR = {language: _near(TABLES[language]["near"]) for language in LANGUAGES}
PATTERNS = sorted((each for language in TABLES for each in _patterns(language)), key=itemgetter(0))
YEARS = Kind("any", "years")
HINTS = _hints()
SIGNS = {
    re.compile(table["sign"]): {kind for _, kind, _ in PATTERNS if kind.language == language}
    for language, table in TABLES.items()
    if "sign" in table
}
UNSURE = {
    word: Unsure(frozenset(table["beside"].split()), frozenset(table["without"].split()))
    for tables in TABLES.values()
    for word, table in tables.get("unsure", {}).items()
}


def spans(text: str, today: date) -> list[Span]:
    """The spans of days that a text names, seen from a day. What is no date, such as 31 June, names none."""
    left = small(text)
    tried = _tried(left)
    if not tried:
        return []
    named: list[Span] = []
    for _, kind, pattern in PATTERNS:
        if kind not in tried:
            continue
        for match in pattern.finditer(left):
            named += _read(match, kind.language, today, text[match.start() : match.end()])
            if len(named) >= MOST_SPANS:
                return named[:MOST_SPANS]
        left = pattern.sub(lambda match: BLANK * len(match[0]), left)
    return named


def _tried(text: str) -> set[Kind]:
    words = frozenset(_words(text))
    tried = {kind for word in words if word in HINTS and _is_sure(word, words) for kind in HINTS[word]}
    if MAY_BE_YEAR.search(text):
        tried.add(YEARS)
    if not text.isascii():
        tried.update(kind for sign, kinds in SIGNS.items() if sign.search(text) for kind in kinds)
    return tried


def _is_sure(word: str, words: frozenset[str]) -> bool:
    unsure = UNSURE.get(word)
    return not unsure or not (unsure.beside.isdisjoint(words) or not unsure.without.isdisjoint(words))


def _read(match: re.Match[str], language: str, today: date, text: str) -> Iterator[Span]:
    parts = {name: part for name, part in match.groupdict().items() if part}
    days = _relative(parts, language, today)
    if days:
        yield Span(first=days[0], last=days[1], text=text)
    else:
        yield from _calendar(parts, language, today, text)


def _relative(parts: Mapping[str, str], language: str, today: date) -> tuple[date, date] | None:
    match parts:
        case {"near": near}:
            return _near_days(NEAR[language][near], today)
        case {"weekday": weekday}:
            wanted = LANGUAGES[language].weekdays[weekday]
            back = (today.weekday() - wanted) % 7 or 7
            day = today - timedelta(days=today.weekday() + 7 - wanted if "before" in parts else back)
            return day, day
        case {"past": unit}:
            return _begin_of_last(_length(unit, language), today), today - timedelta(days=1)
        case {"unit": unit}:
            words = LANGUAGES[language]
            count = _number(parts["count"], language) if "count" in parts else 1 + (unit in words.pairs)
            length = _length(unit, language)
            middle, slack = today - timedelta(days=min(count * length, MOST_DAYS_AGO)), timedelta(days=length // 2)
            return middle - slack, middle + slack
    return None


def _near_days(near: int | str, today: date) -> tuple[date, date]:
    if isinstance(near, int):
        day = today - timedelta(days=near)
        return day, day
    return today - timedelta(days=today.weekday() if near == "week" else today.day - 1), today


def _length(unit: str, language: str) -> int:
    """In days. A weekend counts as its week."""
    words = LANGUAGES[language]
    return 7 if unit in words.weekend else words.units.get(unit) or words.pairs[unit]


def _number(text: str, language: str) -> int:
    return int(text) if text.isdecimal() else LANGUAGES[language].numbers[text]


def _begin_of_last(length: int, today: date) -> date:
    match length:
        case 7:
            return today - timedelta(days=today.weekday() + 7)
        case 30:
            return (today.replace(day=1) - timedelta(days=1)).replace(day=1)
        case 365:
            return date(today.year - 1, 1, 1)
    return today - timedelta(days=1)


def _calendar(parts: Mapping[str, str], language: str, today: date, text: str) -> Iterator[Span]:
    month = int(parts["number"]) if "number" in parts else 0
    if "month" in parts:
        month = LANGUAGES[language].months[parts["month"]]
    day = _number(parts["day"], language) if "day" in parts else 0
    years = [int(parts["year"])] if "year" in parts else [today.year - back for back in range(YEARS_BACK)]
    for year in years:
        try:
            first = date(year, month or 1, day or 1)
        except ValueError:  # no such day
            continue
        if first <= today or "year" in parts:
            yield Span(first=first, last=_end(first, month=bool(month), day=bool(day)), text=text)


def _end(first: date, *, month: bool, day: bool) -> date:
    """The last day of the day, else of the month, else of the year that begins there."""
    if day:
        return first
    if month:
        return first.replace(day=monthrange(first.year, first.month)[1])
    return date(first.year, 12, 31)
