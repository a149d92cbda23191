"""What a small model is asked about a part of a conversation, and what can be used of its answer. Pure.

It is believed nothing that it can't cite: a fact or a topic without a turn of the person's own is passed over.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any

from conversations.providers.quoting import as_json
from memory.consolidation.findings import (
    LONGEST_FACT,
    LONGEST_MOMENT,
    LONGEST_SUMMARY,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_MOMENTS,
    MOST_OPENED,
    EarlierTopic,
    ExtractedFact,
    Findings,
    KnownNote,
    NewTopic,
    ResolvedTopic,
    SourceTurn,
)

LONGEST_TURN = 3_000
MOST_KNOWN = 60
MOST_TOPICS = 30
MAX_TOKENS = 2_000
THINKING_ROOM = 4_096
"""Beside it, for a model that thinks whatever it is told."""
LONGEST_ANSWER = 20_000

INSTRUCTIONS = Path(__file__).with_suffix(".txt").read_text("utf-8").removesuffix("\n")

UNSTORABLE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]+")


class InvalidAnswer(Exception):
    """An answer that is no use. The message holds nothing of it."""


def material(turns: Sequence[SourceTurn], known: Sequence[KnownNote], topics: Sequence[EarlierTopic]) -> str:
    """What the model is told. As JSON, because no text of a turn can pass for the end of it."""
    numbered = [{"number": n, "role": turn.role, "text": _excerpt(turn.text)} for n, turn in enumerate(turns, start=1)]
    return as_json(
        {
            "day": f"{turns[0].at:%A %Y-%m-%d}",
            "turns": numbered,
            "known": [
                {"number": n, "text": note.text, "said": f"{note.said_at:%Y-%m-%d}"}
                for n, note in enumerate(known[:MOST_KNOWN], start=1)
            ],
            "open_topics": [
                {"number": n, "title": topic.title} for n, topic in enumerate(topics[:MOST_TOPICS], start=1)
            ],
        }
    )


def parse_answer(
    answer: str,
    turns: Sequence[SourceTurn],
    known: Sequence[KnownNote],
    topics: Sequence[EarlierTopic],
    *,
    made_by: str,
) -> Findings:
    """What can be used of an answer to ``material`` of the same. Raises ``InvalidAnswer`` where it holds no summary."""
    payload = _object(answer)
    summary = _text(payload.get("summary"), LONGEST_SUMMARY)
    if not summary:
        raise InvalidAnswer("There is no summary in the answer.")
    facts = [fact for item in _objects(payload, "facts") if (fact := _fact(item, turns, known[:MOST_KNOWN]))]
    opened = [topic for item in _objects(payload, "topics_opened") if (topic := _new_topic(item, turns))]
    resolved = [done for item in _objects(payload, "topics_resolved") if (done := _resolved(item, turns, topics))]
    moments = payload.get("key_moments")
    return Findings(
        summary=summary,
        moments=[text for item in _list(moments) if (text := _text(item, LONGEST_MOMENT))][:MOST_MOMENTS],
        facts=facts[:MOST_FACTS],
        opened=opened[:MOST_OPENED],
        resolved=list({done.topic: done for done in reversed(resolved)}.values()),
        made_by=made_by,
    )


def _fact(payload: Mapping[str, Any], turns: Sequence[SourceTurn], known: Sequence[KnownNote]) -> ExtractedFact | None:
    text, cited = _text(payload.get("text"), LONGEST_FACT), _cited(payload, turns)
    if not (text and cited):
        return None
    at = cited[-1].at
    return ExtractedFact(
        text=text,
        sources=tuple(turn.id for turn in cited),
        at=at,
        valid_until=_end_of(payload.get("until"), at),
        replaces=tuple(known[n].id for n in _numbers(payload.get("replaces"), len(known))),
    )


def _new_topic(payload: Mapping[str, Any], turns: Sequence[SourceTurn]) -> NewTopic | None:
    title, cited = _text(payload.get("title"), LONGEST_TITLE), _cited(payload, turns)
    return NewTopic(title=title, sources=tuple(turn.id for turn in cited), at=cited[0].at) if title and cited else None


def _resolved(
    payload: Mapping[str, Any], turns: Sequence[SourceTurn], topics: Sequence[EarlierTopic]
) -> ResolvedTopic | None:
    cited, named = _cited(payload, turns), _numbers([payload.get("topic")], min(len(topics), MOST_TOPICS))
    return ResolvedTopic(topic=topics[named[0]].id, at=cited[-1].at) if cited and named else None


def _cited(payload: Mapping[str, Any], turns: Sequence[SourceTurn]) -> list[SourceTurn]:
    """The turns of the person that it rests on."""
    return [turns[n] for n in _numbers(payload.get("turns"), len(turns)) if turns[n].is_persons]


def _numbers(payload: object, most: int) -> list[int]:
    """Places from 0 for numbers from 1, each once and in order."""
    numbers = (n for n in _list(payload) if isinstance(n, int) and not isinstance(n, bool))
    return sorted({n - 1 for n in numbers if 1 <= n <= most})


def _end_of(payload: object, at: datetime) -> datetime | None:
    """The end of a day that is not over when it is said."""
    try:
        day = datetime.fromisoformat(str(payload)).date()
        end = datetime.combine(day, time.max.replace(microsecond=0), at.tzinfo)
    except ValueError:
        return None
    return end if end > at and day.year < at.year + 100 else None


def _object(answer: str) -> Mapping[str, Any]:
    """The JSON object in an answer, whatever stands around it."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        payload = json.loads(answer[start : end + 1], strict=False) if 0 <= start < end else None
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise InvalidAnswer("The answer is no JSON object.")
    return payload


def _objects(payload: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    return (item for item in _list(payload.get(name)) if isinstance(item, dict))


def _list(payload: object) -> list[Any]:
    return payload if isinstance(payload, list) else []


def _text(payload: object, longest: int) -> str:
    """On one line, and as PostgreSQL can hold it; what is longer is no use as what it was asked for."""
    text = " ".join(UNSTORABLE.sub(" ", payload).split()) if isinstance(payload, str) else ""
    return text if len(text) <= longest else ""


def _excerpt(text: str) -> str:
    half = LONGEST_TURN // 2
    return text if len(text) <= LONGEST_TURN else f"{text[:half]} […] {text[-half:]}"
