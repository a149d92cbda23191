"""Number formats of spreadsheets: what a cell shows of the number it holds. Pure.

Codes are those of Excel (ECMA-376, 18.8.30): up to four sections parted by ``;`` for positive, negative, zero and text.
Separators are those of English, whatever the country; names of months and days are in the language that the format names; and
dates of the system's own format are ISO 8601, as nobody could tell 3/4 from 4/3.
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache

from artifacts.reading.sheets import serial_dates

LONGEST_CODE = 400
"""Characters; Excel takes 255."""
WHOLE = 1e15
"""Below it integers are exact, and shown in full."""

MOST_DAYS = 20_000
"""Texts of days and times that are held for a format."""

BUILTIN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0_);(#,##0)",
    38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', 42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)', 44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), "yyyy-mm-dd"),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}  # fmt: skip
"""Codes that a file names by number only; 0 is General."""

TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"?)|(?P<escaped>\\.)|(?P<skip>_.)|(?P<fill>\*.)|(?P<bracket>\[[^\]]*\]?)|(?P<general>General|G/\w+)"""
    r"""|(?P<half>AM/PM|A/P)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|e+|b+|g+)|(?P<digit>[0#?])"""
    r"""|(?P<sign>[.,%/@;])|(?P<other>.)""",
    re.IGNORECASE | re.DOTALL,
)
CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)$")
PLAIN = re.compile(r"(#{1,3},)?([#]{0,8}0{1,20})(\.0{1,15})?")
HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,8}")
LANGUAGE_BITS = 0x3FF
"""Of the number of a country, as Windows has it: the language without the place."""
ELAPSED = re.compile(r"(h+|m+|s+)$", re.IGNORECASE)
COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class PlainNumber:
    """What most formats are: digits as they come, between words."""

    before: str
    after: str
    least: int
    """Digits before the point, with zeros."""
    decimals: int
    code: str
    """Of Python."""
    scale: int
    """100 for percents."""

    def show(self, value: float) -> str:
        """Empty where this takes more care: a number that stands right between two others, or is very large."""
        size = abs(value) * self.scale
        exact = format(size, ".15g")
        if size >= WHOLE or "e" in exact or (exact[-1] == "5" and len(exact.partition(".")[2]) == self.decimals + 1):
            return ""
        shown = format(size, self.code)
        if self.least > 1:
            whole, point, rest = shown.partition(".")
            shown = whole.zfill(self.least) + point + rest
        sign = "-" if value < 0 and shown.strip("0.,") else ""
        return f"{sign}{self.before}{shown}{self.after}"


def _plain(tokens: Sequence["Token"]) -> PlainNumber | None:
    places = [at for at, token in enumerate(tokens) if token.kind in {"digit", ".", ","}]
    if not places or not all(token.kind in {"digit", ".", ",", "literal", "%"} for token in tokens):
        return None
    first, last = places[0], places[-1]
    before, after = ("".join(token.text for token in part) for part in (tokens[:first], tokens[last + 1 :]))
    matched = PLAIN.fullmatch("".join(token.text for token in tokens[first : last + 1]))
    if not matched or len(places) != last + 1 - first or (matched[1] and matched[2].count("0") > 1):
        return None
    decimals = len(matched[3] or ".") - 1
    code = f"{',' if matched[1] else ''}.{decimals}f"
    scale = 100 ** sum(token.kind == "%" for token in tokens)
    return PlainNumber(before.lstrip(), after.rstrip(), matched[2].count("0"), decimals, code, scale)


@dataclass(frozen=True)
class Token:
    kind: str
    """``literal``, ``general``, ``half`` of a day, ``exponent``, ``date``, ``elapsed``, ``digit``, or the sign itself."""
    text: str


class Section:
    def __init__(
        self, tokens: Sequence[Token], condition: tuple[str, float] | None = None, language: int = serial_dates.ENGLISH
    ) -> None:
        self.tokens = tuple(tokens)
        self.condition = condition
        self.language = language
        self.kinds = frozenset(token.kind for token in tokens)
        self.is_date = bool(self.kinds & {"date", "elapsed", "half"})
        self.plain = _plain(self.tokens)

    def holds(self, value: float) -> bool:
        return self.condition is not None and COMPARE[self.condition[0]](value, self.condition[1])

    @property
    def is_of_negatives(self) -> bool:
        return self.condition is not None and self.condition[0] in {"<", "<="} and self.condition[1] <= 0


class NumberFormat:
    """Of one code; what can't be made out is shown as General."""

    def __init__(self, code: str) -> None:
        sections = _sections(code) if len(code) <= LONGEST_CODE else [Section((GENERAL,))]
        has_text = len(sections) > 3 or (len(sections) > 1 and "@" in sections[-1].kinds)
        self._text = sections[min(len(sections), 4) - 1] if has_text or "@" in sections[0].kinds else None
        self._sections = sections[: min(len(sections), 4) - 1] if has_text else sections[:3]
        self.is_general = len(self._sections) == 1 and self._sections[0].kinds == {"general"}
        self._is_conditional = any(section.condition for section in self._sections)
        self._days: dict[tuple[float, bool], str] = {}

    def show(self, value: float, *, is_1904: bool = False) -> str:
        """What a cell of this number shows; empty where the format hides it."""
        section, number = self._choose(value)
        if section.plain and (shown := section.plain.show(number)):
            return shown
        try:
            if section.is_date:
                return self._date(section, value, is_1904)
            if "general" in section.kinds or "@" in section.kinds:
                return _around_general(section, number)
            return _number(section.tokens, number).strip()
        except (ValueError, OverflowError, ArithmeticError):
            return general(value)

    def _date(self, section: Section, value: float, is_1904: bool) -> str:
        """Sheets hold the same days again and again."""
        shown = self._days.get((value, is_1904))
        if shown is None:
            tokens = [(token.kind, token.text) for token in section.tokens]
            shown = serial_dates.show(value, tokens, is_1904, section.language).strip()
            if len(self._days) < MOST_DAYS:
                self._days[value, is_1904] = shown
        return shown

    def show_text(self, text: str) -> str:
        """What a cell of this text shows; empty where the format hides it."""
        if self._text is None:
            return text
        return "".join(text if token.kind == "@" else token.text for token in self._text.tokens).strip()

    def _choose(self, value: float) -> tuple[Section, float]:
        """The section for a number, and the number that it gets: without its sign where the section says it."""
        sections = self._sections
        if self._is_conditional:
            section = next((each for each in sections if each.holds(value)), None)
            if section is None:
                section = next((each for each in reversed(sections) if each.condition is None), Section((GENERAL,)))
            return section, abs(value) if section.is_of_negatives else value
        if value < 0 and len(sections) > 1:
            return sections[1], -value
        if value == 0 and len(sections) > 2:
            return sections[2], value
        return sections[0], value


GENERAL = Token("general", "")


@lru_cache(maxsize=4_096)
def number_format(code: str) -> NumberFormat:
    return NumberFormat(code)


def general(value: float) -> str:
    """Ten significant digits at most, as in a cell that is wide enough; integers in full."""
    if value != value or value in {float("inf"), float("-inf")}:
        return "#NUM!"
    size = abs(value)
    if value == int(value) and size < WHOLE:
        return str(int(value))
    if 1e-4 <= size < 1e11:
        digits = 10 if size >= 1 else 9
        text = format(value, f".{digits}f" if size < 1 else f".{digits}g")
        if "e" not in text:
            return text.rstrip("0").rstrip(".") if "." in text else text
        return str(round(value))
    mantissa, _, exponent = format(value, ".5e").partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}E{exponent[0]}{exponent[1:].zfill(2)}"


def _sections(code: str) -> list[Section]:
    sections: list[list[Token]] = [[]]
    conditions: list[tuple[str, float] | None] = [None]
    languages = [serial_dates.ENGLISH]
    for token in _tokens(code):
        if token.kind == ";":
            sections.append([])
            conditions.append(None)
            languages.append(languages[-1])
        elif token.kind == "condition":
            matched = CONDITION.match(token.text)
            conditions[-1] = (matched[1], float(matched[2])) if matched else None
        elif token.kind == "language":
            languages[-1] = int(token.text, 16) & LANGUAGE_BITS
        else:
            sections[-1].append(token)
    return list(map(Section, sections, conditions, languages))


def _tokens(code: str) -> Iterator[Token]:
    for match in TOKEN.finditer(code):
        kind, text = str(match.lastgroup), match[0]
        match kind:
            case "quoted":
                yield Token("literal", text[1:].removesuffix('"'))
            case "escaped":
                yield Token("literal", text[1:])
            case "skip":
                yield Token("literal", " ")
            case "fill":
                yield Token("literal", " " if text[1:] == " " else "")
            case "bracket":
                yield from _bracket(text[1:].removesuffix("]"))
            case "sign":
                yield Token(text, text)
            case "general" | "half" | "exponent" | "date" | "digit":
                yield Token(kind, text)
            case _:
                yield Token("literal", text)


def _bracket(inside: str) -> Iterator[Token]:
    """A currency, a condition, or a time that runs beyond its unit; colours and countries change no digit."""
    if inside.startswith("$"):
        symbol, dash, country = inside[1:].rpartition("-")
        if symbol or not dash:
            yield Token("literal", symbol or country)
        if dash and HEXADECIMAL.fullmatch(country):
            yield Token("language", country)
    elif ELAPSED.match(inside):
        yield Token("elapsed", inside)
    elif CONDITION.match(inside):
        yield Token("condition", inside)


def _around_general(section: Section, value: float) -> str:
    return "".join(general(value) if token.kind in {"general", "@"} else token.text for token in section.tokens).strip()


def _number(tokens: Sequence[Token], value: float) -> str:
    """By the placeholders for digits of a section."""
    places = [at for at, token in enumerate(tokens) if token.kind == "digit"]
    if not tokens:
        return ""
    if not places:
        return _signed(value, "".join(token.text for token in tokens if token.kind not in {"exponent"}))
    exact = Decimal(format(abs(value), ".15g")).scaleb(2 * sum(token.kind == "%" for token in tokens))
    slash = next((at for at, token in enumerate(tokens) if token.kind == "/"), None)
    if slash is not None and places[0] < slash:
        return _signed(value, _fraction(tokens, slash, exact))
    exponent = next((at for at, token in enumerate(tokens) if token.kind == "exponent"), None)
    if exponent is not None and places[0] < exponent:
        return _signed(value, _scientific(tokens, exponent, exact))
    shown = _decimal(tokens, exact)
    return _signed(value, shown) if any(digit in shown for digit in "123456789") else shown


def _signed(value: float, shown: str) -> str:
    return f"-{shown.strip()}" if value < 0 else shown


def _decimal(tokens: Sequence[Token], value: Decimal) -> str:
    point = next((at for at, token in enumerate(tokens) if token.kind == "."), len(tokens))
    before, after = tokens[:point], tokens[point + 1 :]
    last = max((at for at, token in enumerate(before) if token.kind == "digit"), default=len(before))
    end = max((at for at, token in enumerate(after) if token.kind == "digit"), default=0)
    thousands = sum(token.kind == "," for token in (*before[last:], *after[end:]))
    first = next((at for at, token in enumerate(before) if token.kind == "digit"), 0)
    is_grouped = any(token.kind == "," for token in before[first:last])
    decimals = sum(token.kind == "digit" for token in after)
    rounded = value.scaleb(-3 * thousands).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, rest = format(rounded, "f").partition(".")
    shown = _whole(before, whole.lstrip("0"), is_grouped)
    return shown + ("." if point < len(tokens) else "") + _rest(after, rest)


def _whole(tokens: Sequence[Token], digits: str, is_grouped: bool) -> str:
    """The digits over their places from the right; the first place takes all that are left."""
    first = next((at for at, token in enumerate(tokens) if token.kind == "digit"), None)
    pieces: list[str] = []
    """From the right."""
    placed = 0
    for at in range(len(tokens) - 1, -1, -1):
        token = tokens[at]
        if token.kind == "digit":
            taken = digits if at == first else digits[-1:]
            digits = digits.removesuffix(taken)
            for digit in reversed(taken or {"0": "0", "?": " "}.get(token.text, "")):
                pieces.append("," if is_grouped and placed and placed % 3 == 0 and digit != " " else "")
                pieces.append(digit)
                placed += 1
        elif token.kind != ",":
            pieces.append(token.text)
    return "".join(reversed(pieces))


def _rest(tokens: Sequence[Token], digits: str) -> str:
    """What stands behind the point. Zeros at the end only where they have a place."""
    places = [token.text for token in tokens if token.kind == "digit"]
    shown = list(digits.ljust(len(places), "0"))
    for at in range(len(places) - 1, -1, -1):
        if shown[at] != "0" or places[at] == "0":
            break
        shown[at] = " " if places[at] == "?" else ""
    filled = iter(shown)
    return "".join(
        next(filled) if token.kind == "digit" else "" if token.kind == "," else token.text for token in tokens
    )


def _scientific(tokens: Sequence[Token], at: int, value: Decimal) -> str:
    mantissa, behind = tokens[:at], tokens[at + 1 :]
    point = next((place for place, token in enumerate(mantissa) if token.kind == "."), len(mantissa))
    step = max(1, sum(token.kind == "digit" for token in mantissa[:point]))
    decimals = sum(token.kind == "digit" for token in mantissa[point:])
    power = value.adjusted() if value else 0
    power -= power % step
    if value.scaleb(-power).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) >= Decimal(10) ** step:
        power += step
    digits = str(abs(power)).zfill(sum(token.kind == "digit" for token in behind))
    sign = "-" if power < 0 else "+" if tokens[at].text.endswith("+") else ""
    after = "".join(token.text for token in behind if token.kind != "digit")
    return f"{_decimal(mantissa, value.scaleb(-power))}E{sign}{digits}{after}"


def _fraction(tokens: Sequence[Token], slash: int, value: Decimal) -> str:
    """Such as ``5 1/4``; a denominator that is a number stays as it is."""
    behind = tokens[slash + 1 :]
    end = next(
        (at for at, token in enumerate(behind) if token.kind != "digit" and not token.text.isdecimal()), len(behind)
    )
    fixed = "".join(token.text for token in behind[:end])
    numerator = slash
    while numerator and tokens[numerator - 1].kind == "digit":
        numerator -= 1
    has_whole = any(token.kind == "digit" for token in tokens[:numerator])
    exact = Fraction(value)
    if fixed.isdecimal() and int(fixed):
        below = int(fixed)
        above = int((exact * below + Fraction(1, 2)) // 1)
    else:
        near = exact.limit_denominator(10 ** min(max(1, len(fixed)), 6) - 1)
        above, below = near.numerator, near.denominator
    whole, above = divmod(above, below) if has_whole else (0, above)
    before = "".join(token.text for token in tokens[:numerator] if token.kind not in {"digit", ","}).rstrip()
    after = "".join(token.text for token in behind[end:] if token.kind not in {"digit", ","})
    parts = [str(whole)] if whole or (has_whole and not above) else []
    parts += [f"{above}/{below}"] if above or not has_whole else []
    return f"{before}{' '.join(parts)}{after}"
