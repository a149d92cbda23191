"""Two friends over weeks, in short sloppy messages; somebody else asks about them in proper English."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.benchmarks.talk import wordings
from tests.benchmarks.talk.drafts import Draft, DraftTurn
from tests.benchmarks.talk.shapes import Conversation
from tests.benchmarks.talk.wordings import Topic, sloppy, table, topics, value_of

type Script = tuple[dict[str, Any], tuple[str, str]]
"""A dialogue with its questions, and who speaks first in it."""

ROLES = {"a": "user", "b": "assistant"}
START = datetime(2025, 3, 3, 7, tzinfo=UTC)
MOST_NEWS = 3
"""Dialogues of a day that can still be asked for together."""
OPENED = 0.3
"""How often a message begins with a word that tells nothing."""
PICTURES = 6
EMOJI = ("😂", "😭", "❤️", "🙈", "🔥", "👍", "😴", "🥲", "🎉", "💀", "🙏", "😅")


@dataclass
class Chat:
    """A conversation while it is written."""

    draw: Random
    draft: Draft
    names: dict[str, str]
    at: datetime
    news: list[DraftTurn] = field(default_factory=list)
    """The first message of each dialogue that is asked about."""

    def send(self, who: str, text: str) -> DraftTurn:
        draw = self.draw
        if not text.startswith(("[", "http")):
            opener = draw.choice(table("messenger")["openers"]) + " " if draw.random() < OPENED else ""
            text = opener + sloppy(draw, text)
            if draw.random() < 0.15:
                text += " " + draw.choice(EMOJI) * draw.choice([1, 1, 2, 3])
        turn = DraftTurn(ROLES[who], self.at, f"{self.names[who]}: {text}", text)
        self.draft.turns.append(turn)
        self.at += timedelta(seconds=draw.choice([8, 20, 40, 90, 200]))
        return turn

    def small_talk(self, topic: Topic) -> None:
        """A dialogue that nobody asks about, or one to three messages in a row by one of them."""
        draw, texts = self.draw, table("messenger")
        speakers = draw.sample("ab", 2)
        if draw.random() < 0.4:
            who = dict(zip("ab", speakers, strict=True))
            values = self.values()
            for line in draw.choice(texts["dialogues"]).split("|"):
                speaker, text = line.split(": ", 1)
                self.send(who[speaker], text.format(**values))
            return
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            kind = draw.choice(["fillers", "fillers", "chat"])
            text = draw.choice(texts[kind])
            self.send(speakers[0], topic.clause(draw, text) if kind == "chat" else text)

    def play(self, script: Script) -> None:
        """A dialogue that is asked about later."""
        draw = self.draw
        dialogue, (teller, friend) = script
        who = {"a": teller, "b": friend}
        values = self.values()
        familiar = self.familiar(values)
        turns: list[DraftTurn] = []
        for line in dialogue["lines"]:
            speaker, text = line.split(": ", 1)
            turns.append(self.send(who[speaker], text.format(**familiar)))
            if draw.random() < 0.25:
                self.send(draw.choice("ab"), draw.choice(table("messenger")["fillers"]))
        names = {"A": self.names[teller], "B": self.names[friend], "pos": draw.choice(["her", "his", "their"])}
        for ask in dialogue["ask"]:
            question, places = ask.split("|")
            self.ask(question.format(**values | names), [turns[int(place)] for place in places.split(",")])
        self.news.append(turns[0])

    def ask(self, question: str, evidence: Sequence[DraftTurn]) -> None:
        self.draft.ask(category_of(question, evidence), question, *evidence)
        if self.draw.random() < 0.2:
            self.draft.ask("sloppy wording", sloppy(self.draw, question, typos=0.25), *evidence)

    def ask_by_day(self) -> None:
        by_day = defaultdict(list)
        for turn in self.news:
            by_day[f"{turn.at.day} {turn.at:%B}"].append(turn)
        few = [day for day, turns in by_day.items() if len(turns) <= MOST_NEWS]
        for day in self.draw.sample(few, len(few) // 2):
            question = f"What news did {self.names['a']} and {self.names['b']} have for each other on {day}?"
            self.draft.ask("temporal, by date", question, *by_day[day])

    def values(self) -> dict[str, str]:
        draw, pools = self.draw, table("messenger")["pools"]
        values = {kind: draw.choice(values) for kind, values in pools.items()}
        strangers = [name for name in wordings.names("first") if name not in self.names.values()]
        first, first2 = draw.sample(strangers, 2)
        month2 = draw.choice(pools["month"])
        numbers = {"n": str(draw.randint(2, 28)), "n2": str(draw.randint(29, 60))}
        made = {kind: value_of(draw, kind) for kind in ("city", "company", "product", "title", "instrument")}
        return values | numbers | made | {"first": first, "first2": first2, "month2": month2}

    def familiar(self, values: Mapping[str, str]) -> dict[str, str]:
        """With what friends call each other."""
        nicknames = table("names")["nicknames"]
        called = {kind: nicknames.get(values[kind], values[kind]) for kind in ("first", "first2")}
        return {**values, **called} if self.draw.random() < 0.4 else dict(values)


def conversation(seed: int, *, turns: int) -> Conversation:
    draw = Random(f"messenger {seed}")
    draft = Draft(f"messenger-{seed}", "messenger", "en")
    names = dict(zip("ab", draw.sample(wordings.names("first"), 2), strict=True))
    scripts = _scripts(draw, turns)
    chat = Chat(draw, draft, names, START + timedelta(days=draw.randrange(90)))
    turns += _send_pictures(seed, draft, names)
    interests = draw.sample(list(topics().values()), 9)
    while len(draft.turns) < turns:
        topic = draw.choice(interests)
        for _ in range(draw.randint(1, 5)):
            chat.small_talk(topic)
        if scripts and draw.random() < 0.75:
            chat.play(scripts.pop())
            for _ in range(draw.randint(0, 2)):
                chat.small_talk(topic)
        chat.at += timedelta(minutes=draw.choice([20, 45, 90, 240, 600, 900]))
    chat.ask_by_day()
    draw.shuffle(draft.questions)
    return draft.finished()


def _send_pictures(seed: int, draft: Draft, names: dict[str, str]) -> int:
    """Dialogues of long ago in which a picture says what is asked for in words; how many turns they take. From numbers of
    their own, so that all others stay as they are."""
    draw = Random(f"messenger pictures {seed}")
    chat = Chat(draw, draft, names, START - timedelta(days=4))
    for script in draw.sample(table("messenger")["pictures"], PICTURES):
        chat.play((script, draw.choice([("a", "b"), ("b", "a")])))
        chat.at += timedelta(hours=8)
    for question in draft.questions:
        question.category = "pictures"
    return len(draft.turns)


def _scripts(draw: Random, turns: int) -> list[Script]:
    """Each for either of them at most; more of them in longer talk."""
    scripts = [(script, roles) for script in table("messenger")["scripts"] for roles in (("a", "b"), ("b", "a"))]
    draw.shuffle(scripts)
    return scripts[: turns // 18]


def category_of(question: str, evidence: Sequence[DraftTurn]) -> str:
    if question.startswith(("When did", "When was")):
        return "temporal"
    return "single fact" if len(evidence) == 1 else "multi-hop"
