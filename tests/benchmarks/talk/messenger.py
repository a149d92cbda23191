"""Two friends over weeks, in short sloppy messages; somebody else asks about them in proper English."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from tests.benchmarks.talk.drafts import Draft, DraftTurn
from tests.benchmarks.talk.shapes import Conversation
from tests.benchmarks.talk.wordings import Topic, sloppy, table, topics, value_of
from tests.benchmarks.talk.wordings import names as names_of

START = datetime(2025, 3, 3, 7, tzinfo=UTC)
EMOJI = ["😂", "😭", "❤️", "🙈", "🔥", "👍", "😴", "🥲", "🎉", "💀", "🙏", "😅"]
type Script = tuple[dict[str, Any], tuple[str, str]]

ROLES = {"a": "user", "b": "assistant"}


def conversation(seed: int, *, turns: int, profile: str = "messenger") -> Conversation:
    draw = Random(f"{profile} {seed}")
    draft = Draft(f"{profile}-{seed}", profile, "en")
    names = dict(zip("ab", draw.sample(names_of("first"), 2), strict=True))
    scripts = _scripts(draw, turns)
    at = START + timedelta(days=draw.randrange(90))
    interests = draw.sample(list(topics().values()), 9)
    while len(draft.turns) < turns:
        topic = draw.choice(interests)
        for _ in range(draw.randint(3, 12)):
            at = _chat(draw, draft, names, topic, at)
        if scripts and draw.random() < 0.75:
            at = _play(draw, draft, names, scripts.pop(), at)
            for _ in range(draw.randint(0, 5)):
                at = _chat(draw, draft, names, topic, at)
        at += timedelta(minutes=draw.choice([20, 45, 90, 240, 600, 900]))
    draw.shuffle(draft.questions)
    return draft.finished()


def _scripts(draw: Random, turns: int) -> list[Script]:
    """Each for either of them at most; more of them in longer talk."""
    scripts = [(script, roles) for script in table("messenger")["scripts"] for roles in (("a", "b"), ("b", "a"))]
    draw.shuffle(scripts)
    return scripts[: turns // 14]


def _chat(draw: Random, draft: Draft, names: dict[str, str], topic: Topic, at: datetime) -> datetime:
    """One to three messages in a row by one of them."""
    words, who = table("messenger"), draw.choice("ab")
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        kind = draw.choice(["fillers", "chat", "chat"])
        text = draw.choice(words[kind])
        if kind == "chat":
            text = topic.fill(draw, text, slug=value_of(draw, "slug"))
            text = text[0] + text[1].lower() + text[2:] if text.startswith("[") else text[0].lower() + text[1:]
        at = _send(draw, draft, names, who, text, at)
    return at


def _play(draw: Random, draft: Draft, names: dict[str, str], script: Script, at: datetime) -> datetime:
    pools = table("messenger")["pools"]
    lines, (one, other) = script
    who = {"a": one, "b": other}
    first, first2 = draw.sample([name for name in names_of("first") if name not in names.values()], 2)
    values = {kind: draw.choice(values) for kind, values in pools.items()}
    values |= {"first": first, "first2": first2, "n": str(draw.randint(2, 28)), "city": value_of(draw, "city")}
    values |= {kind: value_of(draw, kind) for kind in ("company", "product", "title", "instrument")}
    turns: list[DraftTurn] = []
    for line in lines["lines"]:
        speaker, text = line.split(": ", 1)
        at = _send(draw, draft, names, who[speaker], text.format(**values), at)
        turns.append(draft.turns[-1])
        if draw.random() < 0.25:
            at = _send(draw, draft, names, draw.choice("ab"), draw.choice(table("messenger")["fillers"]), at)
    named = {"A": names[one], "B": names[other], "pos": draw.choice(["her", "his", "their"])}
    for ask in lines["ask"]:
        question, places = ask.split("|")
        evidence = [turns[int(place)] for place in places.split(",")]
        category = "single fact" if len(evidence) == 1 else "multi-hop"
        draft.ask(category, question.format(**values | named), *evidence)
        if draw.random() < 0.2:
            draft.ask("sloppy wording", sloppy(draw, question.format(**values | named), typos=0.25), *evidence)
    if draw.random() < 0.3:
        day = f"{turns[0].at.day} {turns[0].at:%B}"
        draft.ask("temporal", f"What news did {named['A']} and {named['B']} talk about on {day}?", turns[0])
    return at


def _send(draw: Random, draft: Draft, names: dict[str, str], who: str, text: str, at: datetime) -> datetime:
    if not text.startswith(("[", "http")):
        text = sloppy(draw, text)
        if draw.random() < 0.15:
            text += " " + draw.choice(EMOJI) * draw.choice([1, 1, 2, 3])
    draft.turns.append(DraftTurn(ROLES[who], at, f"{names[who]}: {text}", text))
    return at + timedelta(seconds=draw.choice([8, 20, 40, 90, 200]))
