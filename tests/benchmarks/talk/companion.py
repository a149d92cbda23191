"""Years of one person's talk with a companion, in one language: what changes, what contradicts, and who has the same name."""

import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.talk.drafts import Draft, DraftTurn
from tests.benchmarks.talk.shapes import Conversation
from tests.benchmarks.talk.wordings import value_of

START = datetime(2022, 2, 1, 17, tzinfo=UTC)
LANGUAGES = ("en", "de", "fr", "es", "ru", "zh", "ar")
UNSPACED = {"zh"}
LATER = 0.12
"""Of the whole talk, the least that lies between a fact and what supersedes or contradicts it."""


@cache
def language(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "languages" / f"{name}.toml").read_text())


class Companion:
    """A conversation while it is written."""

    def __init__(self, name: str, seed: int, turns: int) -> None:
        self.draw = Random(f"companion {name} {seed}")
        self.words = language(name)
        self.draft = Draft(f"companion-{name}-{seed}", "companion", name)
        self.space = "" if name in UNSPACED else " "
        self.draft.turns = list(_turns(self.draw, turns))
        self.free = [turn for turn in self.draft.turns if turn.role == "user"]
        self.used: set[str] = set()

    def plant(self, sentence: str, after: DraftTurn | None = None) -> DraftTurn | None:
        """Say it in a turn in which nothing is said yet, and a good while later than another one."""
        whole = self.draft.turns[-1].at - self.draft.turns[0].at
        free = [turn for turn in self.free if after is None or turn.at > after.at + whole * LATER]
        if not free:
            return None
        turn = self.draw.choice(free)
        self.free.remove(turn)
        turn.raw = sentence
        return turn

    def value(self, kind: str | Sequence[str]) -> str:
        for _ in range(20):
            value = value_of(self.draw, kind)
            if value not in self.used:
                break
        self.used.add(value)
        return value

    def fill(self, sentence: str, **values: str) -> str:
        return sentence.format(**({"t": self.draw.choice(self.words["things"])} | values))

    def ask(self, category: str, question: str, *evidence: DraftTurn) -> None:
        elsewhere = self.draw.random() < 0.1
        self.draft.ask("cross-thread" if elsewhere else category, question, *evidence, elsewhere=elsewhere)


def conversation(name: str, *, turns: int, seed: int = 0) -> Conversation:
    talk = Companion(name, seed, turns)
    for part in (_slots, _lists, _events, _contradictions, _preferences, _people):
        part(talk)
    _write(talk)
    talk.draw.shuffle(talk.draft.questions)
    return talk.draft.finished()


def _turns(draw: Random, turns: int) -> Iterator[DraftTurn]:
    at, left = START + timedelta(days=draw.randrange(60)), turns
    while left > 0:
        for _ in range(min(left // 2, draw.randint(1, 5)) or 1):
            yield DraftTurn("user", at)
            yield DraftTurn("assistant", at + timedelta(seconds=15))
            at += timedelta(minutes=draw.randint(2, 20))
            left -= 2
        at += timedelta(days=draw.randint(2, 28), minutes=draw.randrange(300))


def _slots(talk: Companion) -> None:
    draw = talk.draw
    for slot in talk.words["slots"]:
        first = talk.plant(talk.fill(draw.choice(slot["say"]), v=talk.value(slot["values"])))
        if first is None:
            continue
        newer = None
        if "new" in slot:
            newer = talk.plant(talk.fill(slot["new"][0], v=talk.value(slot["values"])), after=first)
        if newer is not None:
            talk.ask("update", slot["ask"][0], newer)
            talk.ask("update, before", slot["was"][0], first)
            talk.ask("synonym", slot["synonym"][0], newer)
        else:
            talk.ask("single fact", slot["ask"][0], first)
            talk.ask("synonym", slot["synonym"][0], first)
        for other in slot.get("other", ()):
            for who in draw.sample(talk.words["names"], 2):
                talk.plant(talk.fill(other, n=who, v=talk.value(slot["values"])))


def _lists(talk: Companion) -> None:
    for entry in talk.words["lists"]:
        values = talk.draw.sample(entry["values"], talk.draw.randint(3, len(entry["values"])))
        places = [talk.plant(talk.fill(talk.draw.choice(entry["say"]), v=value)) for value in values]
        talk.ask("all of", entry["ask"], *[place for place in places if place])


def _events(talk: Companion) -> None:
    draw, words = talk.draw, talk.words
    events: list[tuple[DraftTurn, str]] = []
    for did in draw.sample(words["events"], len(words["events"])):
        place = talk.plant("…")
        if place is None:
            break
        phrase, day = _relative(draw, words, place.at)
        place.raw = words["event"].format(when=phrase, did=did)
        events.append((place, did))
        if draw.random() < 0.5:
            talk.ask("temporal", words["when"].format(did=did), place)
        else:
            talk.ask("temporal, by date", draw.choice(words["on"]).format(date=_date(words, day)), place)
    for (first, did), (second, did2) in zip(events[::2], events[1::2], strict=False):
        talk.ask("order", words["order"].format(did=did, did2=did2), first, second)


def _relative(draw: Random, words: dict[str, Any], at: datetime) -> tuple[str, date]:
    back = draw.choice([1, 2, 3, 4, 5, 6, 7])
    day = at.date() - timedelta(days=back)
    if back in (4, 5, 6):
        if "weekdays" in words:
            return words["weekdays"][day.weekday()], day
        phrase = words["weekday"].format(weekday=words["days"][day.weekday()])
        return phrase[0].upper() + phrase[1:], day
    return words["ago"][{1: 0, 2: 1, 3: 2, 7: 3}[back]], day


def _date(words: dict[str, Any], day: date) -> str:
    return str(words["date"].format(day=day.day, month=words["months"][day.month - 1], year=day.year))


def _contradictions(talk: Companion) -> None:
    for contradiction in talk.words["contradictions"]:
        claim, denial, ask = contradiction.split("|")
        first = talk.plant(claim)
        second = first and talk.plant(denial, after=first)
        if first and second:
            talk.ask("contradiction", ask, first, second)


def _preferences(talk: Companion) -> None:
    for preference in talk.words["preferences"]:
        say, ask = preference.split("|")
        place = talk.plant(say)
        if place is not None:
            talk.ask("preference", ask, place)


def _people(talk: Companion) -> None:
    """Somebody of whom two things are told, and others of the same name of whom the like is told."""
    words = talk.words
    say_role, *ask_role = words["role"]
    for number, who in enumerate(talk.draw.sample(words["names"], 3)):
        role = talk.plant(talk.fill(say_role, n=who)) if number == 0 else None
        for fact, gossip, question in zip(words["people"], words["gossip"], ask_role, strict=True):
            say, ask = fact.split("|")
            place = talk.plant(talk.fill(say, n=who, **_about(talk)))
            talk.plant(talk.fill(gossip, n=who, **_about(talk)))
            if place is not None:
                talk.ask("same name", ask.format(n=who), place)
            if place is not None and role is not None:
                talk.ask("multi-hop", question, role, place)


def _about(talk: Companion) -> dict[str, str]:
    return {"city": talk.value("city"), "v": talk.draw.choice(talk.words["people_values"])}


def _write(talk: Companion) -> None:
    picks = [*range(len(talk.words["picks"]))]
    chances = len(talk.draft.turns) // (2 * len(picks) + 2)
    for number, turn in enumerate(talk.draft.turns):
        if turn.role == "user":
            turn.content = _request(talk, turn)
            continue
        turn.content = _answer(talk)
        if picks and number % chances == chances - 1 - chances % 2:
            _pick(talk, turn, picks.pop())


def _request(talk: Companion, turn: DraftTurn) -> str:
    draw = talk.draw
    wanted = draw.choice([0, 1, 1, 2, 3]) if turn.raw else draw.choice([1, 2, 2, 3])
    sentences = _joined(talk, [talk.fill(text) for text in draw.sample(talk.words["chat"], wanted)])
    if turn.raw:
        sentences.insert(draw.randint(0, len(sentences)), turn.raw)
    text = talk.space.join(sentences)
    return text + ("\n\n" + _pasted(talk) if draw.random() < 0.06 else "")


def _joined(talk: Companion, sentences: list[str]) -> list[str]:
    """Two of them often as one."""
    if len(sentences) < 2 or talk.draw.random() < 0.5 or any(text.endswith(("?", "？", "؟")) for text in sentences[:2]):
        return sentences
    first, second, *others = sentences
    second = second if second.startswith(("I ", "I'")) else second[0].lower() + second[1:]
    return [first.rstrip(".。") + talk.draw.choice(talk.words["joins"]) + second, *others]


def _pasted(talk: Companion) -> str:
    values = {
        "person": value_of(talk.draw, "person"),
        "n": talk.draw.choice(talk.words["names"]),
        "v": talk.draw.choice(talk.words["article_values"]),
    }
    return "\n".join(talk.fill(sentence, **values) for sentence in talk.words["article"])


def _answer(talk: Companion) -> str:
    thing = talk.draw.choice(talk.words["things"])
    wanted = talk.draw.choice([2, 3, 4, 6, 9])
    return talk.space.join(talk.fill(text, t=thing) for text in talk.draw.sample(talk.words["answers"], wanted))


def _pick(talk: Companion, turn: DraftTurn, number: int) -> None:
    say, ask = talk.words["picks"][number].split("|")
    values = {kind: value_of(talk.draw, kind) for kind in ("title", "person", "coin")}
    turn.raw = talk.fill(say, v=talk.draw.choice(talk.words["pick_values"]), **values)
    turn.content += talk.space + turn.raw
    talk.ask("assistant said", ask, turn)
