"""What consolidation by rules makes of talks whose facts are known: how many are in the notes, and how many notes are right.

Six languages, half of the wordings to develop with and half kept aside. ``notes develop`` also prints what went wrong in the
first half, never in the second.
"""

import logging
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.test import override_settings

from conversations.models import Message, Thread
from memory.consolidation.consolidate import consolidate
from memory.consolidation.findings import SourceTurn
from memory.consolidation.rule_extraction import extract
from memory.models import Memory, Topic
from tests.benchmarks import readability
from tests.benchmarks.fact_corpus import (
    FACTS,
    HALVES,
    LANGUAGES,
    NEGATIVES,
    START,
    Case,
    Person,
    Statement,
    Wanted,
    persons,
)
from tests.benchmarks.measuring import doing
from tests.conversations.factories import chain, make_thread, make_user

LATER = START + timedelta(days=90)
LONGEST_NOTE = 200
NOTES, TOPICS = ("right", "wrong", "doubled", "stale"), ("right topic", "wrong topic", "stale topic", "lost topic")
OTHER_FACTS = ("changed", "repeated")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A note or a topic, with the statement that it was made of."""

    text: str
    of: Statement
    active: bool
    ended: bool

    def holds(self, value: str) -> bool:
        return value.casefold() in self.text.casefold()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What came out for a statement, a note or a topic."""

    person: Person
    kind: str
    what: str
    passing: bool = False
    text: str = ""


def main() -> None:
    logging.getLogger("openbook").setLevel(logging.ERROR)
    talks = list(persons())
    with doing(f"storing the talks of {len(talks)} persons"), override_settings(OPENBOOK_PROVIDER="offline"):
        stored = [store(talk) for talk in talks]
    started = time.perf_counter()
    with doing("consolidating them"):
        parts = sum(consolidate(user.pk, at=LATER, waits=True) for user, _ in stored)
    seconds = time.perf_counter() - started
    verdicts = [
        verdict
        for talk, (user, turns) in zip(talks, stored, strict=True)
        for verdict in judge(talk, notes_of(user, turns), topics_of(user, turns))
    ]
    print_languages(verdicts)
    print_topics(verdicts)
    print_kinds(verdicts)
    count = sum(len(turns) for _, turns in stored)
    print(f"\n== {parts} parts, {count} turns: {1000 * seconds / parts:.1f} ms a part, stored and all")
    print(f"  rules alone {rule_milliseconds(talks):.0f} ms for 1,000 turns")
    readability.main()
    if "develop" in sys.argv[2:]:
        print_wrong(verdicts)


def store(talk: Person) -> tuple[User, Mapping[uuid.UUID, Statement]]:
    user = make_user()
    statements: dict[uuid.UUID, Statement] = {}
    for at, conversation in talk.conversations:
        length = len(conversation)
        thread = make_thread(user, created_at=at, updated_at=at + timedelta(minutes=length))
        Thread.objects.filter(id=thread.id).update(message_count=length, last_position=length)
        turns = chain(thread, [each.text for each in conversation])
        for minutes, turn in enumerate(turns):
            turn.created_at = at + timedelta(minutes=minutes)
        Message.objects.bulk_create(turns)
        statements |= {turn.id: each for turn, each in zip(turns, conversation, strict=True)}
    return user, statements


def notes_of(user: User, turns: Mapping[uuid.UUID, Statement]) -> list[Row]:
    return [
        Row(
            text=note.content,
            of=turns[note.sources[0]],
            active=note.ended_at is None and (note.valid_until is None or note.valid_until > LATER),
            ended=note.ended_at is not None,
        )
        for note in Memory.objects.filter(user=user).order_by("created_at", "id")
    ]


def topics_of(user: User, turns: Mapping[uuid.UUID, Statement]) -> list[Row]:
    return [
        Row(
            text=topic.title,
            of=turns[topic.sources[0]],
            active=topic.resolved_at is None,
            ended=topic.resolved_at is not None,
        )
        for topic in Topic.objects.filter(user=user).order_by("opened_at", "id")
    ]


def judge(talk: Person, notes: Sequence[Row], topics: Sequence[Row]) -> Iterator[Verdict]:
    outcomes = [
        *(outcome for case in talk.cases for each in case.statements for outcome in facts_in(each, notes, topics)),
        *(outcome for case in talk.cases for outcome in end_of(case, notes, topics)),
        *((row.of, what, row.text) for row, what in judged_notes(notes)),
        *((row.of, what, row.text) for row, what in judged_topics(topics)),
    ]
    for of, what, text in outcomes:
        yield Verdict(person=talk, kind=of.kind, what=what, passing=of.passing, text=text)


type Outcome = tuple[Statement, str, str]


def facts_in(statement: Statement, notes: Sequence[Row], topics: Sequence[Row]) -> Iterator[Outcome]:
    """Whether each fact that a question could need is in a note that holds, each thing to do in a topic."""
    for value in statement.values:
        text = f"{value} | {statement.text}"
        if statement.wanted is Wanted.NOTE and (statement.holds or statement.kind == "plans"):
            there = any(row.holds(value) and value in row.of.values for row in notes if not row.ended)
            yield statement, "in" if there else "missing", text
        if statement.wanted is Wanted.TOPIC:
            there = any(row.of is statement and row.holds(value) for row in topics)
            yield statement, "opened" if there else "not opened", text


def end_of(case: Case, notes: Sequence[Row], topics: Sequence[Row]) -> Iterator[Outcome]:
    """Whether the last statement of a case had its effect on what the ones before it had left, where they had left some."""
    first, last = case.statements[0], case.statements[-1]
    text = " / ".join(each.text for each in case.statements)
    before = [row for row in [*notes, *topics] if any(row.of is each for each in case.statements[:-1])]
    if case.kind in ("resolved", "closest"):
        before = [row for row in before if row in topics]
    if case.kind in ("resolved", "closest", "mind", "changed") and before:
        fits = all(row.ended != row.of.holds for row in before)
        new = [row for row in notes if row.of is last and not row.ended]
        there = all(any(row.holds(value) for row in new) for value in last.values)
        yield first, f"{case.kind}: {'done' if fits and there else 'not done'}", text


def judged_notes(notes: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """Those that were not taken back. What is said to end or repeat something may be noted, or not."""
    before: list[tuple[str, ...]] = []
    for row in notes:
        held = tuple(value for value in row.of.values if row.holds(value))
        if row.ended:
            continue
        if row.active and not row.of.holds:
            yield row, "stale"
        elif held and held in before and row.active:
            yield row, "doubled"
        elif row.of.kind == "changed" and not held:
            continue  # "I started a new job": true, and beside what is looked for
        elif row.of.wanted in (Wanted.NOTE, Wanted.NOTHING):
            clean = held and not row.text.rstrip().endswith(("?", "？")) and len(row.text) <= LONGEST_NOTE
            yield row, "right" if clean else "wrong"
        before.append(held)


def judged_topics(topics: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    before: list[str] = []
    for row in topics:
        if row.of.wanted is Wanted.NOTHING or (row.of.wanted is Wanted.NOTE and row.of.kind != "plans"):
            yield row, "wrong topic"
        elif row.of.wanted is Wanted.TOPIC:
            fits = "right topic" if row.of.holds == row.active else "stale topic" if row.active else "lost topic"
            yield row, "wrong topic" if row.text in before else fits
        before.append(row.text)


def share(counts: Mapping[str, int], wanted: str, *others: str) -> str:
    total = sum(counts[name] for name in (wanted, *others))
    return f"{100 * counts[wanted] / total:6.0f} %" if total else "     –  "


def counted(verdicts: Iterable[Verdict]) -> Counter[str]:
    return Counter(verdict.what for verdict in verdicts)


def print_languages(verdicts: Sequence[Verdict]) -> None:
    print("\n== notes: facts that are in them, and how many of them are right (limits: 70 and 95)")
    print(f"  {'':<22}{'facts':>7}{'in':>8}{'notes':>7}{'right':>8}{'wrong':>7}{'doubled':>9}{'stale':>7}")
    for name, some in groups(verdicts):
        counts = counted(some)
        notes = [counts[what] for what in NOTES]
        print(
            f"  {name:<22}{counts['in'] + counts['missing']:7}{share(counts, 'in', 'missing')}"
            f"{sum(notes):7}{share(counts, *NOTES)}{notes[1]:7}{notes[2]:9}{notes[3]:7}"
        )


def print_topics(verdicts: Sequence[Verdict]) -> None:
    """Of those that were opened, how many that were to be resolved are, and of similar ones the right one."""
    print("\n== topics, and what was said to end something")
    print(f"  {'':<22}{'opened':>8}{'right':>8}{'resolved':>10}{'closest':>8}{'mind':>8}{'changed':>8}")
    for name, some in groups(verdicts):
        counts = counted(some)
        ends = "".join(
            share(counts, f"{kind}: done", f"{kind}: not done") for kind in ("resolved", "closest", "mind", "changed")
        )
        print(f"  {name:<22}{share(counts, 'opened', 'not opened')}{share(counts, *TOPICS)}  {ends}")


def groups(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, list[Verdict]]]:
    for half in HALVES:
        mine = [verdict for verdict in verdicts if verdict.person.half == half]
        for language in LANGUAGES:
            yield f"{half}, {language}", [verdict for verdict in mine if verdict.person.language == language]
        yield f"{half}, all", mine


def print_kinds(verdicts: Sequence[Verdict]) -> None:
    print("\n== by kind: facts that are in the notes; wrong notes and topics of what states none")
    mine = {half: [verdict for verdict in verdicts if verdict.person.half == half] for half in HALVES}
    for kind in (*FACTS, *OTHER_FACTS):
        shares = [share(counted(each for each in some if each.kind == kind), "in", "missing") for some in mine.values()]
        print(f"  {kind:<22}" + "".join(shares))
    shares = [share(counted(each for each in some if each.passing), "in", "missing") for some in mine.values()]
    print(f"  {'of all, in passing':<22}" + "".join(shares))
    for kind in NEGATIVES:
        counts = [counted(each for each in some if each.kind == kind) for some in mine.values()]
        print(f"  {kind:<22}" + "".join(f"{each['wrong']:6}+{each['wrong topic']:<2}" for each in counts))


def rule_milliseconds(talks: Sequence[Person]) -> float:
    turns = [
        [
            SourceTurn(id=uuid.uuid4(), position=n, role=each.role, text=each.text, at=at + timedelta(minutes=n))
            for n, each in enumerate(conversation, 1)
        ]
        for talk in talks
        for at, conversation in talk.conversations
    ]
    started = time.perf_counter()
    for some in turns:
        extract(some)
    return (time.perf_counter() - started) * 1e6 / sum(len(some) for some in turns)


def print_wrong(verdicts: Sequence[Verdict]) -> None:
    fine = {"in", "opened", "right", "right topic"}
    print("\n== what went wrong in the half to develop with")
    for verdict in verdicts:
        if verdict.person.half == "develop" and verdict.what not in fine and not verdict.what.endswith(": done"):
            text = " ⏎ ".join(verdict.text.splitlines())
            print(f"  {verdict.person.language} {verdict.kind:<12} {verdict.what:<18} {text}")
