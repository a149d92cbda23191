"""What is found in a part of a thread, and what is known before: values that travel between finding and keeping."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

LONGEST_SUMMARY = 1_200
LONGEST_MOMENT = 200
MOST_MOMENTS = 6
LONGEST_FACT = 240
MOST_FACTS = 12
LONGEST_TITLE = 160
MOST_OPENED = 5
RULES = "rules"
"""Who made what no model made."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceTurn:
    """A turn as it is read for what it tells. ``at`` is in the person's time zone, since days are told by it."""

    id: uuid.UUID
    position: int
    role: str
    text: str
    at: datetime

    @property
    def is_persons(self) -> bool:
        return self.role == "user"


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedFact:
    """What a person said of himself, as it reads on its own. ``replaces`` are ids of memories that it makes untrue."""

    text: str
    sources: tuple[uuid.UUID, ...]
    at: datetime
    valid_until: datetime | None = None
    replaces: tuple[uuid.UUID, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownNote:
    """What was noted before and holds, and when it was said last."""

    id: uuid.UUID
    text: str
    said_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTopic:
    """Something that was begun and is not finished."""

    title: str
    sources: tuple[uuid.UUID, ...]
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedTopic:
    """A topic that is finished, and since when."""

    topic: uuid.UUID
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Retraction:
    """A sentence that says that something will not be, or is no longer so."""

    text: str
    source: uuid.UUID
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierTopic:
    """A topic that was open before."""

    id: uuid.UUID
    title: str
    opened_at: datetime


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that is found in a part. ``made_by`` is a model's name, or ``RULES``; empty where there was nothing to read.

    Facts that are ``confined`` are of their thread alone.
    """

    summary: str = ""
    moments: Sequence[str] = ()
    facts: Sequence[ExtractedFact] = ()
    confined: Sequence[ExtractedFact] = ()
    opened: Sequence[NewTopic] = ()
    resolved: Sequence[ResolvedTopic] = ()
    retracted: Sequence[Retraction] = ()
    made_by: str = ""


def with_made(findings: Findings, titles: Sequence[str]) -> Findings:
    """With a line for each artifact that was made: what asked for it is left out, that it exists is not (F10)."""
    if not titles:
        return findings
    lines = "\n".join(f"made: *{title}*" for title in titles)[:LONGEST_SUMMARY]
    room = LONGEST_SUMMARY - len(lines) - 1
    summary = "\n".join(filter(None, [findings.summary[: max(room, 0)], lines]))
    return replace(findings, summary=summary, made_by=findings.made_by or RULES)
