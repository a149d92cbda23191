"""Days and times of spreadsheets, which count days since 1900, or since 1904. Pure."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

SECONDS = 86_400
LAST_DAY = 2_958_465
"""9999-12-31."""
LEAP_BUG = 60
"""Excel's 29 February 1900, which never was."""
ENGLISH = 0x09
NAMES = {
    ENGLISH: "January February March April May June July August September October November December"
    " Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    0x07: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    " Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
    0x0A: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    " lunes martes miércoles jueves viernes sábado domingo",
    0x0C: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
    " lundi mardi mercredi jeudi vendredi samedi dimanche",
    0x10: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica",
    0x13: "januari februari maart april mei juni juli augustus september oktober november december"
    " maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    0x16: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
    " segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
}
"""Of months from January and days from Monday, by the language's number in Windows; others have the English ones."""
MONTHS = 12
FIRST_LETTERS = {0x07: 2, 0x13: 2}
"""Of days in the languages where three are not usual."""
FOUR = {"juillet": "juil", "janvier": "janv", "février": "févr", "septembre": "sept", "März": "Mrz"}
"""Months that are not cut to three letters."""
BUDDHIST = 543
"""Years before those of our count."""


@dataclass(frozen=True)
class Moment:
    year: int
    month: int
    day: int
    weekday: int
    """0 is Monday."""
    second: int
    """Of the day."""
    ticks: int
    """Behind the second: tenths, hundredths, … as many digits as the format has."""
    total: int
    """Seconds since the beginning."""


def show(value: float, tokens: Sequence[tuple[str, str]], is_1904: bool, language: int = ENGLISH) -> str:
    """By tokens of a number format (kind and text). Raises ``ValueError`` where there is no such day."""
    digits = _digits_of_seconds(tokens)
    is_elapsed = any(kind == "elapsed" for kind, _ in tokens)
    sign = "-" if is_elapsed and value < 0 else ""
    moment = _moment(abs(value) if is_elapsed else value, digits, is_1904, is_elapsed)
    is_half = any(kind == "half" for kind, _ in tokens)
    shown: list[str] = []
    at = 0
    while at < len(tokens):
        kind, text = tokens[at]
        match kind:
            case "date":
                shown.append(_part(text.lower(), moment, is_half, _is_minute(tokens, at), language))
            case "elapsed":
                divisor = {"h": 3_600, "m": 60, "s": 1}[text[0].lower()]
                shown.append(str(moment.total // divisor).zfill(len(text)))
            case "half":
                shown.append(("AM" if moment.second < SECONDS // 2 else "PM")[: 2 if len(text) > 3 else 1])
            case "." if digits and at + 1 < len(tokens) and tokens[at + 1][0] == "digit":
                shown.append("." + str(moment.ticks).zfill(digits))
                while at + 1 < len(tokens) and tokens[at + 1][0] == "digit":
                    at += 1
            case "@" | "digit" | "exponent" | "general":
                pass
            case _:
                shown.append(text)
        at += 1
    return sign + "".join(shown)


def _digits_of_seconds(tokens: Sequence[tuple[str, str]]) -> int:
    for at, (kind, _) in enumerate(tokens):
        if kind == "." and at and tokens[at - 1][1].lower().startswith("s"):
            digits = 0
            while at + 1 + digits < len(tokens) and tokens[at + 1 + digits][0] == "digit":
                digits += 1
            return min(digits, 3)
    return 0


def _moment(value: float, digits: int, is_1904: bool, is_elapsed: bool) -> Moment:
    if not (0 <= value <= LAST_DAY + 1):
        raise ValueError(value)
    scale = 10**digits
    total, ticks = divmod(round(value * SECONDS * scale), scale)
    day, second = divmod(total, SECONDS)
    if is_1904:
        date = datetime.date(1904, 1, 1) + datetime.timedelta(days=day)
        return Moment(date.year, date.month, date.day, date.weekday(), second, ticks, total)
    if day in {0, LEAP_BUG}:
        year, month, number = (1900, 1, 0) if day == 0 else (1900, 2, 29)
        return Moment(year, month, number, (day + 5) % 7, second, ticks, total)
    date = datetime.date(1899, 12, 31 if day < LEAP_BUG else 30) + datetime.timedelta(days=min(day, LAST_DAY))
    weekday = (day + 5) % 7
    return Moment(date.year, date.month, date.day, weekday, second, ticks, total)


def _is_minute(tokens: Sequence[tuple[str, str]], at: int) -> bool:
    """An ``m`` is one behind an hour and before a second."""
    if tokens[at][1].lower() not in {"m", "mm"}:
        return False
    parts = [(place, text[0].lower()) for place, (kind, text) in enumerate(tokens) if kind in {"date", "elapsed"}]
    mine = next(number for number, (place, _) in enumerate(parts) if place == at)
    before = parts[mine - 1][1] if mine else ""
    after = parts[mine + 1][1] if mine + 1 < len(parts) else ""
    return before == "h" or after == "s"


def _part(text: str, moment: Moment, is_half: bool, is_minute: bool, language: int) -> str:
    letter, length = text[0], len(text)
    match letter:
        case "y" | "e":
            return f"{moment.year % 100:02}" if letter == "y" and length <= 2 else str(moment.year)
        case "b":
            year = moment.year + BUDDHIST
            return f"{year % 100:02}" if length <= 2 else str(year)
        case "m" if is_minute:
            return str(moment.second // 60 % 60).zfill(min(length, 2))
        case "m":
            name = _names(language)[moment.month - 1]
            short = FOUR.get(name, name[:3])
            return {3: short, 4: name, 5: name[:1]}.get(length, str(moment.month).zfill(min(length, 2)))
        case "d":
            name = _names(language)[MONTHS + moment.weekday]
            short = name[: FIRST_LETTERS.get(language, 3)]
            return {3: short}.get(length, name) if length > 2 else str(moment.day).zfill(length)
        case "h":
            hour = moment.second // 3_600
            return str((hour - 1) % 12 + 1 if is_half else hour).zfill(min(length, 2))
        case "s":
            return str(moment.second % 60).zfill(min(length, 2))
    return ""


def _names(language: int) -> list[str]:
    return NAMES.get(language, NAMES[ENGLISH]).split()
