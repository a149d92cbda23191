"""What a corpus consists of, in the shape of the JSON files that hold others: conversations, and questions with evidence."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A turn; ``raw`` is the part of it that a question may rest on: the whole without the speaker's name, or a sentence."""

    role: str
    content: str
    created_at: datetime
    raw: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """``evidence``: the messages whose ``raw`` the answer rests on. ``elsewhere``: it is asked in a new thread."""

    question: str
    category: str
    evidence: Sequence[int]
    elsewhere: bool = False


@dataclass(frozen=True, kw_only=True)
class Conversation:
    id: str
    profile: str
    language: str
    messages: Sequence[Message]
    questions: Sequence[Question] = field(default=())


def read(path: Path) -> list[Conversation]:
    return [conversation_of(value, path.stem) for value in json.loads(path.read_text())]


def conversation_of(value: Mapping[str, Any], profile: str) -> Conversation:
    return Conversation(
        id=value["id"],
        profile=value.get("profile", profile),
        language=value.get("language", "en"),
        messages=[
            Message(
                role=message["role"],
                content=message["content"],
                created_at=datetime.fromisoformat(message["created_at"]),
                raw=message["raw"],
            )
            for message in value["messages"]
        ],
        questions=[
            Question(
                question=question["question"],
                category=question["category"],
                evidence=question["evidence"],
                elsewhere=question.get("elsewhere", False),
            )
            for question in value["questions"]
        ],
    )


def texts(value: Any) -> Iterator[str]:
    """All that is text in what JSON can hold."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from texts(part)


def flattened(text: str) -> str:
    return " ".join(text.split())
