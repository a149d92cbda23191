"""Which days a text names, in seven languages."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.date_words import LANGUAGES
from memory.language.days import HINTS, MOST_SPANS, NEAR, spans

SATURDAY = date(2026, 11, 21)
LAST_WEEK = (date(2026, 11, 9), date(2026, 11, 20))
LAST_MONTH = (date(2026, 10, 1), date(2026, 11, 20))
LAST_YEAR = (date(2025, 1, 1), date(2026, 11, 20))
A_WEEK_AGO = (date(2026, 11, 11), date(2026, 11, 17))
TWO_WEEKS_AGO = (date(2026, 11, 4), date(2026, 11, 10))
TWO_MONTHS_AGO = (date(2026, 9, 7), date(2026, 10, 7))
TWO_YEARS_AGO = (date(2024, 5, 23), date(2025, 5, 22))
OCTOBER_2023 = (date(2023, 10, 1), date(2023, 10, 31))
OF_2022 = (date(2022, 1, 1), date(2022, 12, 31))
THIS_WEEK = (date(2026, 11, 16), SATURDAY)
FIFTH, FRIDAY = date(2023, 10, 5), date(2026, 11, 20)


def days_ago(number: int) -> date:
    return SATURDAY - timedelta(days=number)


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        ("on Friday, 5 October 2023", "5 October 2023", FIFTH),
        ("the day before yesterday we", "the day before yesterday", days_ago(2)),
        ("What did I eat last night?", "last night", days_ago(1)),
        ("seven days ago", "seven days ago", days_ago(7)),
        ("a couple of weeks ago", "a couple of weeks ago", TWO_WEEKS_AGO),
        ("LAST WEEKEND", "LAST WEEKEND", LAST_WEEK),
        ("**yesterday**", "yesterday", days_ago(1)),
        ("yesterday😅", "yesterday", days_ago(1)),
        ("İzmir, 5 Oct 2023", "5 Oct 2023", FIFTH),
        # German
        ("am Donnerstag, dem 5. Oktober 2023", "5. Oktober 2023", FIFTH),
        ("es war der 05.10.2023.", "05.10.2023", FIFTH),
        ("Oktober 2023", "Oktober 2023", OCTOBER_2023),
        ("im Jahr 2022", "im Jahr 2022", OF_2022),
        ("Was war heute Morgen?", "heute", SATURDAY),
        ("gestern Abend", "gestern", days_ago(1)),
        ("vorgestern", "vorgestern", days_ago(2)),
        ("letzten Freitag", "letzten Freitag", FRIDAY),
        ("Wo waren wir am Freitag?", "am Freitag", FRIDAY),
        ("in der letzten Woche", "letzten Woche", LAST_WEEK),
        ("am letzten Wochenende", "letzten Wochenende", LAST_WEEK),
        ("vergangenen Monat", "vergangenen Monat", LAST_MONTH),
        ("letztes Jahr", "letztes Jahr", LAST_YEAR),
        ("vor drei Tagen", "vor drei Tagen", days_ago(3)),
        ("vor einer Woche", "vor einer Woche", A_WEEK_AGO),
        ("vor 2 Jahren", "vor 2 Jahren", TWO_YEARS_AGO),
        ("diese Woche", "diese Woche", THIS_WEEK),
        # French
        ("jeudi 5 octobre 2023", "5 octobre 2023", FIFTH),
        ("le 1er mai 2024", "1er mai 2024", date(2024, 5, 1)),
        ("octobre 2023", "octobre 2023", OCTOBER_2023),
        ("en 2022", "en 2022", OF_2022),
        ("Aujourd’hui", "Aujourd’hui", SATURDAY),
        ("ce matin", "ce matin", SATURDAY),
        ("Où étais-je hier ?", "hier", days_ago(1)),
        ("hier soir", "hier soir", days_ago(1)),
        ("avant-hier", "avant-hier", days_ago(2)),
        ("vendredi dernier", "vendredi dernier", FRIDAY),
        ("Qui ai-je vu vendredi ?", "vendredi", FRIDAY),
        ("la semaine dernière", "la semaine dernière", LAST_WEEK),
        ("le week-end dernier", "le week-end dernier", LAST_WEEK),
        ("le mois dernier", "le mois dernier", LAST_MONTH),
        ("l’an passé", "l’an passé", LAST_YEAR),
        ("il y a trois jours", "y a trois jours", days_ago(3)),
        ("il y a deux semaines", "y a deux semaines", TWO_WEEKS_AGO),
        ("cette semaine", "cette semaine", THIS_WEEK),
        # Spanish
        ("el jueves, 5 de octubre de 2023", "5 de octubre de 2023", FIFTH),
        ("octubre de 2023", "octubre de 2023", OCTOBER_2023),
        ("en 2022", "en 2022", OF_2022),
        ("¿Qué comí hoy?", "hoy", SATURDAY),
        ("anoche", "anoche", days_ago(1)),
        ("anteayer", "anteayer", days_ago(2)),
        ("el viernes pasado", "el viernes pasado", FRIDAY),
        ("la semana pasada", "semana pasada", LAST_WEEK),
        ("el fin de semana pasado", "fin de semana pasado", LAST_WEEK),
        ("el mes pasado", "mes pasado", LAST_MONTH),
        ("el año pasado", "año pasado", LAST_YEAR),
        ("hace una semana", "hace una semana", A_WEEK_AGO),
        ("dos semanas atrás", "dos semanas atrás", TWO_WEEKS_AGO),
        ("esta semana", "esta semana", THIS_WEEK),
        # Russian
        ("5 октября 2023 года", "5 октября 2023 года", FIFTH),
        ("октябрь 2023", "октябрь 2023", OCTOBER_2023),
        ("в 2022 году", "в 2022 году", OF_2022),
        ("Сегодня утром", "Сегодня", SATURDAY),
        ("вчера", "вчера", days_ago(1)),
        ("позавчера", "позавчера", days_ago(2)),
        ("в прошлую пятницу", "в прошлую пятницу", FRIDAY),
        ("Где мы были в пятницу?", "в пятницу", FRIDAY),
        ("на прошлой неделе", "на прошлой неделе", LAST_WEEK),
        ("в прошлые выходные", "в прошлые выходные", LAST_WEEK),
        ("в прошлом месяце", "в прошлом месяце", LAST_MONTH),
        ("в прошлом году", "в прошлом году", LAST_YEAR),
        ("3 дня назад", "3 дня назад", days_ago(3)),
        ("неделю назад", "неделю назад", A_WEEK_AGO),
        ("две недели назад", "две недели назад", TWO_WEEKS_AGO),
        ("на этой неделе", "на этой неделе", THIS_WEEK),
        # Chinese
        ("我们在2023年10月5日去了", "2023年10月5日", FIFTH),
        ("2023年十月五日", "2023年十月五日", FIFTH),
        ("2023年10月", "2023年10月", OCTOBER_2023),
        ("2022年", "2022年", OF_2022),
        ("今天早上", "今天", SATURDAY),
        ("我昨晚吃了什么", "昨晚", days_ago(1)),
        ("前天", "前天", days_ago(2)),
        ("上周五", "上周五", date(2026, 11, 13)),
        ("周五我去了哪里", "周五", FRIDAY),
        ("上个星期", "上个星期", LAST_WEEK),
        ("上周末", "上周末", LAST_WEEK),
        ("上个月", "上个月", LAST_MONTH),
        ("去年", "去年", LAST_YEAR),
        ("三天前", "三天前", days_ago(3)),
        ("十五天前", "十五天前", days_ago(15)),
        ("两周前", "两周前", TWO_WEEKS_AGO),
        ("这个星期", "这个星期", THIS_WEEK),
        # Arabic
        ("يوم الخميس ٥ أكتوبر ٢٠٢٣", "٥ أكتوبر ٢٠٢٣", FIFTH),
        ("5 تشرين الأول 2023", "5 تشرين الأول 2023", FIFTH),
        ("أكتوبر 2023", "أكتوبر 2023", OCTOBER_2023),
        ("في عام ٢٠٢٢", "في عام ٢٠٢٢", OF_2022),
        ("ماذا أكلت اليوم؟", "اليوم", SATURDAY),
        ("أين كنت أمس؟", "أمس", days_ago(1)),
        ("أول أمس", "أول أمس", days_ago(2)),
        ("الجمعة الماضي", "الجمعة الماضي", FRIDAY),
        ("يوم الجمعة الماضية", "يوم الجمعة الماضية", FRIDAY),
        ("الأسبوع الماضي", "الأسبوع الماضي", LAST_WEEK),
        ("نهاية الأسبوع الماضي", "نهاية الأسبوع الماضي", LAST_WEEK),
        ("الشهر الماضي", "الشهر الماضي", LAST_MONTH),
        ("السنة الماضية", "السنة الماضية", LAST_YEAR),
        ("قبل ثلاثة أيام", "قبل ثلاثة أيام", days_ago(3)),
        ("قبل أسبوعين", "قبل أسبوعين", TWO_WEEKS_AGO),
        ("منذ شهرين", "منذ شهرين", TWO_MONTHS_AGO),
        ("قبل أسبوع", "قبل أسبوع", A_WEEK_AGO),
        ("هذا الأسبوع", "هذا الأسبوع", THIS_WEEK),
    ],
)
def test_the_days_and_the_words_that_name_them(text: str, named: str, expected: date | tuple[date, date]) -> None:
    first, last = expected if isinstance(expected, tuple) else (expected, expected)
    assert [(span.first, span.last, span.text) for span in spans(text, SATURDAY)] == [(first, last, named)]


@pytest.mark.parametrize(
    "text",
    [
        "in October",
        "im Oktober",
        "en octobre",
        "en octubre",
        "в октябре",
        "我十月去了",
        "في أكتوبر",
        "Ende Oktober",
        "fin octobre",
    ],
)
def test_a_month_without_its_year_is_any_of_the_last_ones(text: str) -> None:
    assert [str(span.last) for span in spans(text, SATURDAY)] == [f"{year}-10-31" for year in range(2026, 2021, -1)]


@pytest.mark.parametrize(
    "text", ["5 October", "am 5. Oktober", "le 5 octobre", "5 de octubre", "5 октября", "10月5日", "٥ أكتوبر"]
)
def test_a_day_without_its_year_is_any_of_the_last_ones(text: str) -> None:
    assert [str(span.first) for span in spans(text, SATURDAY)] == [f"{year}-10-05" for year in range(2026, 2021, -1)]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "All 3 may be right",
            "you may go; 3 boats",
            "a day in the sun",
            "many an apple",
            "Version 2.10.2023.1",
            "31 June 2026",
        ),
        *(
            "Ich bin hier. Was gibt es hier?",
            "Hier",
            "Ik ben hier",
            "Morgen, am Morgen",
            "vor dem Tag",
            "drei Tage lang",
            "Jeden Freitag",
        ),
        *(
            "le vendredi on mange du poisson",
            "vendredi prochain",
            "il y a deux semaines de vacances",
            "Mardi gras",
            "la planète Mars",
        ),
        *(
            "il y a 7 jours dans une semaine",
            "un jour",
            "los viernes",
            "el viernes que viene",
            "por la mañana",
            "once upon a time",
        ),
        *(
            "mes amis",
            "ich finde das gut",
            "в среду обитания",
            "в следующую пятницу",
            "по пятницам",
            "назад в город",
            "день за днём",
        ),
        *(
            "下周五",
            "每周五",
            "一周一次",
            "晚上周围很安静",
            "目前天气很好",
            "天上",
            "五月前",
            "岁月如歌",
            "过去年轻",
            "十二个月",
        ),
        *("في ذلك اليوم", "يوم الجمعة القادم", "كل يوم جمعة"),
        *("قبل الظهر", "مارس الرياضة", "الأحد عشر"),
    ],
)
def test_what_names_no_day_that_has_been(text: str) -> None:
    assert spans(text, SATURDAY) == []


def test_several_are_named_each_once() -> None:
    text = "Gestern und vorgestern, nicht letzten Freitag, sondern am 5. Oktober 2023."
    assert [span.text for span in spans(text, SATURDAY)] == [
        "5. Oktober 2023",
        "letzten Freitag",
        "Gestern",
        "vorgestern",
    ]


WORDS = [
    *HINTS,
    *(word for words in NEAR.values() for word in words),
    *(word for words in LANGUAGES.values() for table in (words.months, words.numbers, words.units) for word in table),
    *(
        "5",
        "31",
        "٥",
        "999",
        "2023",
        "٢٠٢٣",
        "2023-02-30",
        "31.02.2023",
        "on",
        "am",
        "el",
        "во",
        "上",
        "前",
        "日",
        "يوم",
        "قبل",
        "منذ",
    ),
    *(
        "ago",
        "vor",
        "il y a",
        "hace",
        "назад",
        "last",
        "letzten",
        "dernier",
        "pasado",
        "прошлую",
        "الماضي",
        "ſ",
        "İ",
        "\ud800",
        "\0",
    ),
]


@given(
    st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=12),
    st.sampled_from([" ", "", ", "]),
    st.dates(date(1970, 1, 1), date(2200, 1, 1)),
)
def test_no_text_fails_and_spans_are_in_order_and_stand_in_it(words: list[str], between: str, today: date) -> None:
    text = between.join(words)
    named = spans(text, today)
    assert len(named) <= MOST_SPANS
    assert all(span.first <= span.last and span.text and span.text in text for span in named)
