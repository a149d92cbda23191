"""Two friends over weeks, in short sloppy messages; somebody else asks about them in proper English."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.benchmarks.talk.drafts import Draft, DraftTurn
from tests.benchmarks.talk.shapes import Conversation
from tests.benchmarks.talk.wordings import Topic, sloppy, table, topics, value_of
from tests.benchmarks.talk.wordings import names as names_of

START = datetime(2025, 3, 3, 7, tzinfo=UTC)
MOST_NEWS = 3
OPENED = 0.3
"""How often a message begins with a word that tells nothing."""
EMOJI = ["😂", "😭", "❤️", "🙈", "🔥", "👍", "😴", "🥲", "🎉", "💀", "🙏", "😅"]
type Script = tuple[dict[str, Any], tuple[str, str]]

ROLES = {"a": "user", "b": "assistant"}


def conversation(seed: int, *, turns: int, profile: str = "messenger") -> Conversation:
    draw = Random(f"{profile} {seed}")
    draft = Draft(f"{profile}-{seed}", profile, "en")
    names = dict(zip("ab", draw.sample(names_of("first"), 2), strict=True))
    scripts = _scripts(draw, turns)
    news: list[DraftTurn] = []
    at = START + timedelta(days=draw.randrange(90))
    interests = draw.sample(list(topics().values()), 9)
    while len(draft.turns) < turns:
        topic = draw.choice(interests)
        for _ in range(draw.randint(1, 5)):
            at = _small_talk(draw, draft, names, topic, at)
        if scripts and draw.random() < 0.75:
            at = _play(draw, draft, names, scripts.pop(), at, news)
            for _ in range(draw.randint(0, 2)):
                at = _small_talk(draw, draft, names, topic, at)
        at += timedelta(minutes=draw.choice([20, 45, 90, 240, 600, 900]))
    _ask_by_day(draw, draft, names, news)
    draw.shuffle(draft.questions)
    return draft.finished()


def _ask_by_day(draw: Random, draft: Draft, names: dict[str, str], news: list[DraftTurn]) -> None:
    by_day = defaultdict(list)
    for turn in news:
        by_day[f"{turn.at.day} {turn.at:%B}"].append(turn)
    few = [day for day, turns in by_day.items() if len(turns) <= MOST_NEWS]
    for day in draw.sample(few, len(few) // 2):
        question = f"What news did {names['a']} and {names['b']} have for each other on {day}?"
        draft.ask("temporal, by date", question, *by_day[day])


def _scripts(draw: Random, turns: int) -> list[Script]:
    """Each for either of them at most; more of them in longer talk."""
    scripts = [(script, roles) for script in table("messenger")["scripts"] for roles in (("a", "b"), ("b", "a"))]
    draw.shuffle(scripts)
    return scripts[: turns // 18]


def _small_talk(draw: Random, draft: Draft, names: dict[str, str], topic: Topic, at: datetime) -> datetime:
    """A dialogue that nobody asks about, or one to three messages in a row by one of them."""
    words, speakers = table("messenger"), draw.sample("ab", 2)
    if draw.random() < 0.4:
        who = dict(zip("ab", speakers, strict=True))
        values = _values(draw, names)
        for line in draw.choice(words["dialogues"]).split("|"):
            speaker, text = line.split(": ", 1)
            at = _send(draw, draft, names, who[speaker], text.format(**values), at)
        return at
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        kind = draw.choice(["fillers", "fillers", "chat"])
        text = draw.choice(words[kind])
        at = _send(draw, draft, names, speakers[0], topic.clause(draw, text) if kind == "chat" else text, at)
    return at


def _values(draw: Random, names: dict[str, str]) -> dict[str, str]:
    pools = table("messenger")["pools"]
    values = {kind: draw.choice(values) for kind, values in pools.items()}
    first, first2 = draw.sample([name for name in names_of("first") if name not in names.values()], 2)
    month2 = draw.choice(pools["month"])
    numbers = {"n": str(draw.randint(2, 28)), "n2": str(draw.randint(29, 60))}
    made = {kind: value_of(draw, kind) for kind in ("city", "company", "product", "title", "instrument")}
    return values | numbers | made | {"first": first, "first2": first2, "month2": month2}


def _familiar(draw: Random, values: dict[str, str]) -> dict[str, str]:
    """With what friends call each other."""
    nicknames = table("names")["nicknames"]
    called = {kind: nicknames.get(values[kind], values[kind]) for kind in ("first", "first2")}
    return values | called if draw.random() < 0.4 else values


def _play(
    draw: Random, draft: Draft, names: dict[str, str], script: Script, at: datetime, news: list[DraftTurn]
) -> datetime:
    lines, (teller, friend) = script
    who = {"a": teller, "b": friend}
    values = _values(draw, names)
    familiar = _familiar(draw, values)
    turns: list[DraftTurn] = []
    for line in lines["lines"]:
        speaker, text = line.split(": ", 1)
        at = _send(draw, draft, names, who[speaker], text.format(**familiar), at)
        turns.append(draft.turns[-1])
        if draw.random() < 0.25:
            at = _send(draw, draft, names, draw.choice("ab"), draw.choice(table("messenger")["fillers"]), at)
    named = {"A": names[teller], "B": names[friend], "pos": draw.choice(["her", "his", "their"])}
    for ask in lines["ask"]:
        question, places = ask.split("|")
        evidence = [turns[int(place)] for place in places.split(",")]
        category = category_of(question, evidence)
        draft.ask(category, question.format(**values | named), *evidence)
        if draw.random() < 0.2:
            draft.ask("sloppy wording", sloppy(draw, question.format(**values | named), typos=0.25), *evidence)
    news.append(turns[0])
    return at


def category_of(question: str, evidence: list[DraftTurn]) -> str:
    if question.startswith(("When did", "When was")):
        return "temporal"
    return "single fact" if len(evidence) == 1 else "multi-hop"


def _send(draw: Random, draft: Draft, names: dict[str, str], who: str, text: str, at: datetime) -> datetime:
    if not text.startswith(("[", "http")):
        opener = draw.choice(table("messenger")["openers"]) + " " if draw.random() < OPENED else ""
        text = opener + sloppy(draw, text)
        if draw.random() < 0.15:
            text += " " + draw.choice(EMOJI) * draw.choice([1, 1, 2, 3])
    draft.turns.append(DraftTurn(ROLES[who], at, f"{names[who]}: {text}", text))
    return at + timedelta(seconds=draw.choice([8, 20, 40, 90, 200]))
