"""Talks of persons with an assistant whose facts are known, made from the wordings in ``facts/``, the same ones each time.

Half of the wordings are to develop rules with, the other half is kept aside. What is in brackets is what a note must hold; a
wording that begins with ``~`` mentions it in passing, in the middle of a request.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "facts"
LANGUAGES = ("en", "de", "fr", "es", "ru", "zh")
HALVES = ("develop", "aside")
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
DAYS = (0, 1, 4, 9, 15, 23)
"""Of the conversations of a person, since START. All that is planned is over ninety days after it."""

FACTS = (
    *("name", "home", "work", "family", "pets", "allergies", "health"),
    *("likes", "dislikes", "possessions", "habits", "plans"),
)
NEGATIVES = (
    *("others", "hypothetical", "jokes", "quoted", "pasted", "questions"),
    *("code", "small", "moments", "assistant"),
)
LITERAL = {"quoted", "pasted", "code", "assistant"}
"""Kinds that are not made sloppy."""
VALUE = re.compile(r"\[([^\]]+)\]")
PERSONS = 5


class Wanted(StrEnum):
    NOTE = "note"
    TOPIC = "topic"
    EITHER = "either"
    NEUTRAL = "neutral"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A turn, and what memory should make of it. What doesn't hold is over, or was taken back, by the end."""

    kind: str
    text: str
    wanted: Wanted
    values: tuple[str, ...] = ()
    holds: bool = True
    passing: bool = False
    day: int | None = None

    @property
    def role(self) -> str:
        return "assistant" if self.kind in ("assistant", "answer") else "user"


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Statements that belong together, such as an old and a new home."""

    kind: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    language: str
    half: str
    cases: tuple[Case, ...]
    conversations: tuple[tuple[datetime, tuple[Statement, ...]], ...]


def persons() -> Iterator[Person]:
    draw = random.Random(16)
    for language in LANGUAGES:
        wordings = tomllib.loads((FOLDER / f"{language}.toml").read_text())
        for half in HALVES:
            for number in range(PERSONS):
                for some in (facts_of, changes_of):
                    yield person(language, half, some(wordings[half], number), wordings["answers"], number, draw)


def facts_of(wordings: dict[str, list[Any]], number: int) -> Iterator[Case]:
    for kind in FACTS:
        for wording in wordings[kind][number::PERSONS]:
            made = statement(kind, wording, Wanted.NOTE)
            yield one(replace(made, holds=False, day=0) if kind == "plans" else made)
    for wording in wordings["todo"][number::PERSONS]:
        yield one(statement("todo", wording, Wanted.TOPIC))
    for kind in NEGATIVES:
        for wording in wordings[kind][number::PERSONS]:
            yield one(Statement(kind=kind, text=wording, wanted=Wanted.NOTHING))


def changes_of(wordings: dict[str, list[Any]], number: int) -> Iterator[Case]:
    """What is taken back or said again: of other persons, for nobody has two homes."""

    def some(kind: str) -> list[list[str]]:
        return wordings[kind][number::PERSONS]

    for begun, ended in some("resolved"):
        begins = replace(statement("resolved", begun, Wanted.TOPIC), holds=False)
        yield Case(kind="resolved", statements=(begins, statement("resolved", ended, Wanted.NEUTRAL)))
    for first, second, ended in some("closest"):
        topics = [statement("closest", wording, Wanted.TOPIC) for wording in (first, second)]
        topics = [replace(topic, holds=topic.values[0].casefold() not in ended.casefold()) for topic in topics]
        assert [topic.holds for topic in topics].count(False) == 1, ended
        yield Case(kind="closest", statements=(*topics, statement("closest", ended, Wanted.NEUTRAL)))
    for begun, ended in some("mind"):
        begins = replace(statement("mind", begun, Wanted.EITHER), holds=False, day=0)
        yield Case(kind="mind", statements=(begins, replace(statement("mind", ended, Wanted.NEUTRAL), day=1)))
    for old, new in some("changed"):
        after = statement("changed", new, Wanted.NOTE if VALUE.search(new) else Wanted.NEUTRAL)
        yield Case(kind="changed", statements=(replace(statement("changed", old, Wanted.NOTE), holds=False), after))
    for first, again in some("repeated"):
        said = statement("repeated", first, Wanted.NOTE)
        yield Case(kind="repeated", statements=(said, statement("repeated", again, Wanted.NEUTRAL)))


def one(only: Statement) -> Case:
    return Case(kind=only.kind, statements=(only,))


def statement(kind: str, wording: str, wanted: Wanted) -> Statement:
    """With its brackets still in it: they come off when it has got its style."""
    passing = wording.startswith("~ ")
    text = wording.removeprefix("~ ")
    return Statement(kind=kind, text=text, wanted=wanted, values=tuple(VALUE.findall(text)), passing=passing)


def person(
    language: str, half: str, cases: Iterator[Case], answers: Sequence[str], number: int, draw: random.Random
) -> Person:
    style = (neat, neat, neat, sloppy, mistyped)[number]
    styled = [
        replace(case, statements=tuple(styled_statement(each, style, draw) for each in case.statements))
        for case in cases
    ]
    days: list[list[Statement]] = [[] for _ in DAYS]
    for case in styled:
        places = sorted(draw.sample(range(len(DAYS)), len(case.statements)))
        for place, each in zip(places, case.statements, strict=True):
            days[place if each.day is None else each.day].append(each)
    for day in days:
        draw.shuffle(day)
    times = [START + timedelta(days=day) for day in DAYS]
    conversations = tuple((at, tuple(answered(day, answers, draw))) for at, day in zip(times, days, strict=True) if day)
    return Person(language=language, half=half, cases=tuple(styled), conversations=conversations)


def answered(day: Sequence[Statement], answers: Sequence[str], draw: random.Random) -> Iterator[Statement]:
    """What the person said, each with an answer: one that states facts itself, or one that doesn't."""
    from_person = [each for each in day if each.role == "user"]
    claims = [each for each in day if each.role == "assistant"]
    for mine, claim in zip_longest(from_person, claims):
        if mine or claim:
            yield mine or Statement(kind="small", text=draw.choice(answers), wanted=Wanted.NOTHING)
            yield claim or Statement(kind="answer", text=draw.choice(answers), wanted=Wanted.NOTHING)


def styled_statement(each: Statement, style: Any, draw: random.Random) -> Statement:
    if each.kind in LITERAL:
        return each
    pieces = re.split(r"(\[[^\]]+\])", each.text)
    text = "".join(style(piece, draw, value=piece.startswith("[")) for piece in pieces)
    if style is sloppy:
        text = text.rstrip(".。!")
    return replace(each, text=text.replace("[", "").replace("]", ""), values=tuple(VALUE.findall(text)))


def neat(piece: str, draw: random.Random, *, value: bool) -> str:
    return piece


def sloppy(piece: str, draw: random.Random, *, value: bool) -> str:
    """As on a phone: no capitals, no apostrophes."""
    return piece.lower().replace("'", "").replace("’", "").replace("，", " ")


def mistyped(piece: str, draw: random.Random, *, value: bool) -> str:
    """Two letters swapped inside one of the longer words, beside what a note must hold."""
    words = [] if value else [match for match in re.finditer(r"[^\W\d_]{6,}", piece) if match[0].isascii()]
    if not words or draw.random() < 0.5:
        return piece
    word = draw.choice(words)
    at = draw.randrange(word.start() + 1, word.end() - 2)
    return piece[:at] + piece[at + 1] + piece[at] + piece[at + 2 :]
