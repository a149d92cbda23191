"""What a document holds once it has been read: checked, cleaned, every id and time decided. Nothing here is stored yet.

What a row has too is named as its column is.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from conversations.context.files.citations import Citation


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRecord:
    """A file whose bytes lie in the storage under ``place``. Nothing of it has been read."""

    id: uuid.UUID
    name: str
    kind: str
    media_type: str
    size: int
    sha256: bytes
    place: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenFile:
    """What of a file stands in a turn, as in ``TurnFile``."""

    file_id: uuid.UUID
    numbers: Sequence[int]
    outlined: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackRecord:
    """What the person said of an answer, as in ``Feedback``. Whether support was shown the conversation does not come along."""

    value: int
    reason: str
    text: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRecord:
    id: uuid.UUID
    role: str
    content: list[dict[str, Any]]
    created_at: datetime
    status: str
    offline: bool = False
    model: str = ""
    files: Sequence[GivenFile] = ()
    citations: Sequence[Citation] = ()
    feedback: FeedbackRecord | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BranchRecord:
    """A turn beside the path. ``parent`` is the position of the turn that it follows, 0 for none; ``after`` is how many turns
    of the path were there before it."""

    turn: TurnRecord
    parent: int
    after: int


@dataclass(frozen=True, kw_only=True, slots=True)
class VersionRecord:
    """``message_id`` is the turn that made it, where the document says so."""

    content: str
    created_at: datetime
    origin: str
    message_id: uuid.UUID | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactRecord:
    """``versions`` are all of them, oldest first, at least one."""

    id: uuid.UUID
    title: str
    kind: str
    language: str
    preset: str
    after_position: int
    created_at: datetime
    versions: Sequence[VersionRecord]


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryRecord:
    """Of the turns of the path from one position of the thread to another."""

    id: uuid.UUID
    first_position: int
    last_position: int
    text: str
    key_moments: Sequence[str]
    sources: Sequence[uuid.UUID]
    started_at: datetime
    ended_at: datetime
    made_by: str
    made_at: datetime
    stale_since: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """What an import did not take: what it is, how many of it, and where in the document it stands."""

    place: str
    what: str
    count: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadRecord:
    """``assistant`` is a slug, ``None`` for the default one; ``place`` is where the thread stands in the document; ``model``
    is as in ``Thread``. ``turns`` are the active path, ``branches`` all others in the order in which they were said, each
    behind the turn that it follows; positions count both together, from 1 on."""

    id: uuid.UUID
    place: str
    title: str
    assistant: str | None
    created_at: datetime
    turns: Sequence[TurnRecord]
    artifacts: Sequence[ArtifactRecord]
    branches: Sequence[BranchRecord] = field(default_factory=list)
    title_through: int | None = None
    remembers: bool = True
    pinned: bool = False
    archived: bool = False
    tags: Sequence[str] = field(default_factory=list)
    model: str = ""
    summaries: Sequence[SummaryRecord] = field(default_factory=list)
    files: Sequence[FileRecord] = field(default_factory=list)
    project_id: uuid.UUID | None = None
    instructions: str = ""
    uses_account_instructions: bool = True
    forked_from_id: uuid.UUID | None = None
    forked_at: uuid.UUID | None = None
    active_at: datetime | None = None
    """Where that is not the time of its last turn."""
    known: bool = False
    """It is here already, and may have become longer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRecord:
    """``sources`` are the turns that it comes from, as far as the document holds them."""

    id: uuid.UUID
    content: str
    tags: Sequence[str]
    origin: str
    sources: Sequence[uuid.UUID]
    created_at: datetime
    said_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    ended_at: datetime | None = None
    settled_at: datetime | None = None
    known: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Successor:
    """Which note took the place of an ended one. Both are records of the document, in any order."""

    memory_id: uuid.UUID
    superseded_by_id: uuid.UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicRecord:
    """Something begun; ``thread_id`` is where, as far as the document holds it."""

    id: uuid.UUID
    title: str
    thread_id: uuid.UUID | None
    sources: Sequence[uuid.UUID]
    opened_at: datetime
    resolved_at: datetime | None
    known: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptRecord:
    id: uuid.UUID
    name: str
    text: str
    created_at: datetime
    updated_at: datetime
    known: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleRecord:
    """A message that is sent at a time; ``thread_id`` is where, as far as the document holds it. It comes paused."""

    id: uuid.UUID
    thread_id: uuid.UUID | None
    assistant: str
    content: str
    at: datetime | None
    days: Sequence[int]
    time: time | None
    time_zone: str
    next_at: datetime
    created_at: datetime
    updated_at: datetime
    paused: bool = True
    known: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PreferencesRecord:
    time_zone: str
    remembers: bool
    language: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InstructionsRecord:
    about: str
    style: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectRecord:
    """``assistant`` is a slug, empty for none; one that is not here is left out."""

    id: uuid.UUID
    name: str
    colour: str
    instructions: str
    assistant: str
    model: str
    presets: Sequence[str]
    uses_outside_memory: bool
    shares_memory: bool
    created_at: datetime
    files: Sequence[FileRecord] = ()
    known: bool = False


Record = (
    ThreadRecord
    | MemoryRecord
    | Successor
    | TopicRecord
    | PromptRecord
    | ScheduleRecord
    | PreferencesRecord
    | InstructionsRecord
    | ProjectRecord
)
