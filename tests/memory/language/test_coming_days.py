"""Which day to come a text names, in six languages."""

from datetime import date

import pytest

from memory.language.coming_days import coming_day

MONDAY = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow I'm off", date(2026, 3, 3)),
        ("next Friday", date(2026, 3, 13)),
        ("on Friday", date(2026, 3, 6)),
        ("this weekend", date(2026, 3, 8)),
        ("in two weeks", date(2026, 3, 18)),
        ("on 20 March", date(2026, 3, 20)),
        ("on 1 February", date(2027, 2, 1)),
        ("übermorgen", date(2026, 3, 4)),
        ("am Sonntag", date(2026, 3, 8)),
        ("am 20. März", date(2026, 3, 20)),
        ("demain", date(2026, 3, 3)),
        ("vendredi prochain", date(2026, 3, 13)),
        ("dans dix jours", date(2026, 3, 13)),
        ("el domingo", date(2026, 3, 8)),
        ("el 20 de marzo", date(2026, 3, 20)),
        ("в пятницу", date(2026, 3, 6)),
        ("через две недели", date(2026, 3, 18)),
        ("3月20日", date(2026, 3, 20)),
        ("下周五", date(2026, 3, 13)),
        ("十天后", date(2026, 3, 13)),
        ("IN TWELVE DAYS", date(2026, 3, 15)),
        ("十五天后", date(2026, 3, 19)),
    ],
)
def test_a_day_to_come_is_read(text: str, expected: date) -> None:
    assert coming_day(text, MONDAY) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("every Friday", "last Friday", "on 31 February", "in 1000 weeks' time", "jeden Morgen", "guten Morgen"),
        *("le vendredi on mange du poisson", "los viernes", "por la mañana"),
        *("по пятницам", "каждый вторник"),
        *("我每周二去游泳", "上周五", "nothing of the kind", ""),
    ],
)
def test_what_comes_back_or_has_been_is_no_day_to_come(text: str) -> None:
    assert coming_day(text, MONDAY) is None
