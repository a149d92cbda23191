"""Unrelated talk of the same person, in many short threads: what a large account has beside what is asked for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from tests.benchmarks.talk.assistant import article
from tests.benchmarks.talk.shapes import Conversation, Message
from tests.benchmarks.talk.wordings import Topic, capitalised, table, topics, value_of

START = datetime(2023, 9, 1, 7, tzinfo=UTC)


def threads(turns: int, seed: int = 1) -> list[Conversation]:
    draw = Random(f"unrelated {seed}")
    return list(_threads(draw, turns))


def _threads(draw: Random, turns: int) -> Iterator[Conversation]:
    at, left, number = START, turns, 0
    subjects = list(topics().values())
    step = timedelta(days=800) / max(1, turns // 14)
    while left > 0:
        topic = draw.choice(subjects)
        length = min(left, 2 * draw.choice([2, 3, 4, 5, 6, 8, 12, 20]))
        moment, messages = at, []
        for place in range(length):
            role = "assistant" if place % 2 else "user"
            text = _answer(draw, topic) if place % 2 else _request(draw, topic)
            messages.append(Message(role=role, content=text, created_at=moment, raw=text))
            moment += timedelta(seconds=draw.randint(15, 400))
        number += 1
        yield Conversation(id=f"unrelated-{number}", profile="unrelated", language="en", messages=messages)
        left, at = left - length, at + step


def _request(draw: Random, topic: Topic) -> str:
    prose = table("prose")
    sentences = [topic.fill(draw, text) for text in draw.sample(prose["request_context"], draw.choice([0, 1, 1, 2]))]
    sentences.append(topic.fill(draw, draw.choice(prose["requests"] + prose["follow_ups"])))
    if draw.random() < 0.3:
        sentences.insert(0, _aside(draw))
    if draw.random() < 0.04:
        sentences.append("\n\n" + article(draw, topic))
    return " ".join(sentences)


def _aside(draw: Random) -> str:
    """Something about somebody, or some undertaking, that is not asked for, in the words in which others are."""
    prose = table("prose")
    if draw.random() < 0.4:
        say, _, other = draw.choice(prose["facts_about"]).split("|")
        kinds = {kind: value_of(draw, kind) for kind in ("city", "odd", "company", "instrument", "product")}
        return f"{value_of(draw, 'first')} {draw.choice([say, other]).format(**kinds)}."
    project = draw.choice(table("projects")["projects"])
    slot = draw.choice(project["slots"])
    name = f"{value_of(draw, 'first')}'s {project['name']}"
    return capitalised(draw.choice(slot["say"]).replace("{p}", name).format(v=value_of(draw, slot["values"])))


def _answer(draw: Random, topic: Topic) -> str:
    prose = table("prose")
    sentences = [topic.fill(draw, draw.choice(prose["answer_openings"]))]
    sentences += [topic.fill(draw, draw.choice(prose["answer_sentences"])) for _ in range(draw.choice([1, 2, 3, 5, 8]))]
    if draw.random() < 0.4:
        sentences.append(
            "\n" + "\n".join("- " + topic.fill(draw, draw.choice(prose["answer_lists"])) for _ in range(4))
        )
    return " ".join(sentences)
