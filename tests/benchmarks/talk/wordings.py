"""Values, sentences and slips: what all kinds of talk draw from. Everything comes from the ``Random`` that is handed in."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

SMALL = re.compile(r"^\W*\w")
STOP_TYPOS = 4
"""Shorter words are typed right."""


@cache
def table(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text())


def words(text: str) -> list[str]:
    return text.split(", ")


@cache
def names(kind: str) -> Sequence[str]:
    return words(table("names")[kind])


class Once:
    """Hands out what it draws only once in a conversation, as long as that is possible."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.used: set[str] = set()

    def value(self, kind: str | Sequence[str]) -> str:
        for _ in range(40):
            value = value_of(self.draw, kind)
            if value not in self.used:
                break
        self.used.add(value)
        return value


def value_of(draw: Random, kind: str | Sequence[str]) -> str:
    return MAKERS[kind](draw) if isinstance(kind, str) else draw.choice(kind)


def coined(draw: Random) -> str:
    return ("".join(draw.sample(names("syllables"), 2)) + draw.choice(names("endings"))).capitalize()


def day_in_words(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def capitalised(text: str) -> str:
    return SMALL.sub(lambda match: match.group().upper(), text, count=1)


MAKERS: Mapping[str, Callable[[Random], str]] = {
    "person": lambda draw: f"{draw.choice(names('first'))} {draw.choice(names('last'))}",
    "first": lambda draw: draw.choice(names("first")),
    "city": lambda draw: draw.choice(names("cities")),
    "odd": lambda draw: draw.choice(names("odd")),
    "instrument": lambda draw: draw.choice(names("instruments")),
    "coin": coined,
    "product": lambda draw: f"{coined(draw)} {draw.choice('ABGKMPRSTXZ')}{draw.randint(2, 95)}0",
    "company": lambda draw: f"{coined(draw)} {draw.choice(names('company_kinds'))}",
    "title": lambda draw: f"The {draw.choice(names('title_adjectives'))} {draw.choice(names('title_nouns'))}",
    "slug": lambda draw: f"{draw.randint(10, 99)}-{coined(draw).lower()}-{draw.choice(['notes', 'draft', 'final'])}",
    "date": lambda draw: day_in_words(date(2026, 1, 1) + timedelta(days=draw.randrange(330))),
    "percent": lambda draw: f"{draw.randint(21, 94)} %",
    "count": lambda draw: f"{draw.randint(3, 98)},{draw.randint(1, 9)}00",
    "ms": lambda draw: f"{draw.randint(12, 99)}0 milliseconds",
    "money": lambda draw: f"{draw.randint(3, 89)},{draw.randint(1, 9)}50 euros",
    "people": lambda draw: f"{draw.randint(18, 320)} people",
    "cm": lambda draw: f"{draw.randint(412, 1980) / 10} centimetres",
    "pages": lambda draw: f"{draw.randint(45, 140)} pages",
    "time": lambda draw: f"{draw.randint(3, 4)}:{draw.randint(10, 59)}:{draw.randint(10, 59)}",
    "pulse": lambda draw: f"{draw.randint(41, 63)} beats",
    "km": lambda draw: f"{draw.randint(22, 90)} kilometres",
    "mg": lambda draw: f"{draw.randint(3, 40) * 5} milligrams",
    "lab": lambda draw: f"{draw.randint(8, 190)} micrograms",
}


class Values(dict[str, str]):
    """What a sentence is filled with; what is not given is made when it is needed."""

    def __init__(self, draw: Random, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.draw = draw

    def __missing__(self, kind: str) -> str:
        return value_of(self.draw, kind)


class Topic:
    """A topic's words, and sentences with them."""

    def __init__(self, name: str) -> None:
        values = table("topics")[name]
        self.name = name
        self.things, self.acts, self.traits = (words(values[key]) for key in ("things", "acts", "traits"))

    def fill(self, draw: Random, sentence: str, **more: str) -> str:
        return capitalised(self.clause(draw, sentence, **more))

    def clause(self, draw: Random, sentence: str, **more: str) -> str:
        """A sentence, or part of one, with words of the topic."""
        t, u = draw.sample(self.things, 2)
        a, b = draw.sample(self.acts, 2)
        number = str(draw.choice([2, 3, 5, 7, 10, 15, 20, 30]))
        values = {"t": t, "u": u, "e": u, "a": a, "b": b, "q": draw.choice(self.traits), "n": number}
        return sentence.format_map(Values(draw, values | more))


@cache
def topics() -> Mapping[str, Topic]:
    return {name: Topic(name) for name in table("topics")}


def relative(draw: Random, at: datetime) -> tuple[str, date]:
    """A day shortly before, as one says it, and which it is."""
    today = at.date()
    back = draw.choice([1, 1, 2, 3, 4, 5, 6, 7])
    day = today - timedelta(days=back)
    phrases = {
        1: ["Yesterday"],
        2: ["Two days ago", f"On {day:%A}"],
        3: ["Three days ago", f"On {day:%A}"],
        7: ["A week ago", f"A week ago, on {day:%A},"],
    }
    return draw.choice(phrases.get(back, [f"Last {day:%A}", f"On {day:%A}"])), day


def sloppy(draw: Random, text: str, *, typos: float = 0.06) -> str:
    """As somebody types it in a hurry."""
    abbreviations = table("messenger")["abbreviations"]
    typed = []
    for word in text.split():
        if word.startswith(("http", "[")):
            typed.append(word)
            continue
        bare = word.lower().strip(",")
        if draw.random() < 0.6:
            bare = abbreviations.get(bare, bare)
        if draw.random() < 0.85:
            bare = bare.replace("'", "").replace("’", "")
        if len(bare) > STOP_TYPOS and draw.random() < typos:
            bare = mistyped(draw, bare)
        typed.append(bare)
    return " ".join(typed).rstrip(".")


def mistyped(draw: Random, word: str) -> str:
    place = draw.randrange(1, len(word) - 1)
    return draw.choice(
        [
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
            word[:place] + word[place + 1 :],
            word[:place] + word[place] + word[place:],
        ]
    )
