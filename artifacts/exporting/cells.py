"""What the text of a cell says to a spreadsheet: a number, a day, or words.

Only what can be read in one way becomes a number. ``1.234`` is a thousand in Berlin and about one in London: the rest of
its column tells, else that of the table, and where nothing does it stays a text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

SPACES = " \u00a0\u2009\u202f"
CURRENCY = (
    "(?:[A-Z]{0,2}[$¢£¤¥\u058f\u060b\u09f2\u09f3\u0af1\u0bf9\u0e3f\u17db\u20a0-\u20cf\ufdfc]|"
    "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|ILS|INR|JPY|KRW|MXN|NOK|NZD|PLN|RON|SEK|SGD|TRY|UAH|USD|ZAR|Fr\\.|kr|zł|Kč)"
)
NUMBER = re.compile(
    rf"(?P<sign>[-+\u2212]?)(?P<before>{CURRENCY})?[{SPACES}]?(?P<inner>[-+\u2212]?)"
    rf"(?P<digits>\d[\d.,'’{SPACES}]*?)[{SPACES}]?(?:(?P<percent>%)|(?P<after>{CURRENCY}))?"
)
MARKS = {
    ".": re.compile(
        rf"(?:\d+|[1-9]\d{{0,2}}(?:([,'’{SPACES}])\d{{3}})(?:\1\d{{3}})*|[1-9]\d?(?:,\d\d)+,\d{{3}})(?:\.\d+)?"
    ),
    ",": re.compile(rf"(?:\d+|[1-9]\d{{0,2}}(?:([.'’{SPACES}])\d{{3}})(?:\1\d{{3}})*)(?:,\d+)?"),
}
"""Whole numbers and decimals by the mark before the decimals."""
MOST_DIGITS = 15
"""That a spreadsheet keeps of a number; one with more is a code."""
LONGEST_SIGNED = 6
"""Digits after a plus sign in a number; more are a telephone's."""
CODE = re.compile(r"0\d+")
DATE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:[T ](?P<time>(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?))?"
    r"|(?P<day2>\d\d?)\.(?P<month2>\d\d?)\.(?P<year2>\d{4})"
    r"|(?P<one>\d\d?)/(?P<two>\d\d?)/(?P<year3>\d{4})"
)
FIRST_DAY = datetime(1900, 3, 1)
"""Before it spreadsheets disagree about days."""


@dataclass(frozen=True, slots=True)
class Value:
    """``format`` is how a spreadsheet shows it, in the notation of Excel; empty for a text or a plain number."""

    value: str | float | datetime
    format: str = ""


@dataclass(frozen=True, kw_only=True)
class Column:
    """How its cells are read. ``mark`` is what stands before decimals, ``day_first`` the order in ``3/4/2026``.

    None where nothing tells. ``is_code``: its numbers are names, as 0042 is.
    """

    mark: str | None = None
    day_first: bool | None = None
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class _Number:
    digits: str
    negative: bool
    plus: bool
    before: str
    after: str
    percent: bool


def read_columns(rows: Sequence[Sequence[str]]) -> list[Column]:
    """Of the rows below the heading, all of one length."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    marks = [_marks(column) for column in columns]
    of_table = set[str]().union(*marks)
    return [
        Column(
            mark=_only(found or of_table),
            day_first=_only(_day_orders(column)),
            is_code=any(CODE.fullmatch(text) for text in column),
        )
        for column, found in zip(columns, marks, strict=True)
    ]


def read(text: str, column: Column) -> Value:
    return _date(text, column) or (None if column.is_code else _number(text, column)) or Value(text)


def is_number(text: str) -> bool:
    """Whether it is one by any convention, with or without a currency."""
    number = _parsed(text.strip())
    return number is not None and any(pattern.fullmatch(number.digits) for pattern in MARKS.values())


def _only[T](values: Iterable[T]) -> T | None:
    """The value where there is just one."""
    found = list(values)
    return found[0] if len(found) == 1 else None


def _marks(column: Iterable[str]) -> set[str]:
    """The marks that some numbers can only be read by."""
    numbers = (number.digits for text in column if (number := _parsed(text)))
    possible = ([mark for mark, pattern in MARKS.items() if pattern.fullmatch(digits)] for digits in numbers)
    return {marks[0] for marks in possible if len(marks) == 1}


def _day_orders(column: Iterable[str]) -> set[bool]:
    slashed = [match for text in column if (match := DATE.fullmatch(text)) and match["one"]]
    return {int(match["one"]) > 12 for match in slashed if int(match["one"]) > 12 or int(match["two"]) > 12}


def _parsed(text: str) -> _Number | None:
    in_brackets = text.startswith("(") and text.endswith(")")
    match = NUMBER.fullmatch(text[1:-1] if in_brackets else text)
    if match is None or (match["before"] and match["after"]):
        return None
    signs = [sign for sign in (match["sign"], match["inner"], "-" if in_brackets else "") if sign]
    if len(signs) > 1:
        return None
    plus = signs == ["+"]
    return _Number(
        digits=match["digits"],
        negative=bool(signs) and not plus,
        plus=plus,
        before=match["before"] or "",
        after=match["after"] or "",
        percent=bool(match["percent"]),
    )


def _number(text: str, column: Column) -> Value | None:
    number = _parsed(text)
    mark = _mark(number, column) if number else None
    if number is None or mark is None:
        return None
    whole, _, decimals = number.digits.partition(mark)
    plain = re.sub(r"\D", "", whole)
    is_grouped = plain != whole
    if len(plain + decimals) > MOST_DIGITS or (len(plain) > 1 and plain[0] == "0"):
        return None
    if number.plus and (len(plain) > LONGEST_SIGNED or any(space in whole for space in SPACES)):
        return None
    amount = Decimal(f"{plain}.{decimals or 0}") * (-1 if number.negative else 1)
    return Value(float(amount / 100 if number.percent else amount), _format(number, is_grouped, len(decimals)))


def _mark(number: _Number, column: Column) -> str | None:
    """What stands before the decimals of the number; None where that can't be told, or where it is none."""
    marks = [mark for mark, pattern in MARKS.items() if pattern.fullmatch(number.digits)]
    if len(marks) < 2:
        return marks[0] if marks else None
    if not re.search(r"[.,]", number.digits):
        return "."
    if column.mark:
        return column.mark
    if number.before or number.after:  # sums of money have no three decimals
        return "," if "." in number.digits else "."
    return "." if "," in number.digits else None


def _format(number: _Number, is_grouped: bool, decimals: int) -> str:
    shown = ("#,##0" if is_grouped else "0") + ("." + "0" * decimals if decimals else "")
    if number.before:
        shown = f'"{number.before}"{shown}'
    elif number.after:
        shown = f'{shown} "{number.after}"'
    elif number.percent:
        shown += "%"
    elif shown == "0" and not number.plus:
        return ""
    return f"+{shown};-{shown};{shown}" if number.plus else shown


def _date(text: str, column: Column) -> Value | None:
    match = DATE.fullmatch(text)
    if match is None:
        return None
    if match["year"]:
        time = match["time"] or ""
        written, format = text.replace("T", " "), "yyyy-mm-dd" + {0: "", 5: " hh:mm", 8: " hh:mm:ss"}[len(time)]
    elif match["year2"]:
        written, format = f"{match['year2']}-{match['month2']:0>2}-{match['day2']:0>2}", "dd.mm.yyyy"
    elif column.day_first is None:
        return None
    else:
        day, month = (match["one"], match["two"]) if column.day_first else (match["two"], match["one"])
        written = f"{match['year3']}-{month:0>2}-{day:0>2}"
        format = "dd/mm/yyyy" if column.day_first else "mm/dd/yyyy"
    try:
        at = datetime.fromisoformat(written)
    except ValueError:  # there is no such day
        return None
    return Value(at, format) if at >= FIRST_DAY else None
