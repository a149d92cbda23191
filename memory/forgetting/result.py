"""What goes when something is forgotten."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

type Why = Literal["source", "mention"]
type Column = tuple[str, str]
"""Of the data map: the label of a model, and the name of a column."""

TAGS, NAME = ("conversations.Thread", "tags"), ("conversations.Project", "name")
INSTRUCTIONS: tuple[Column, ...] = (
    ("conversations.Thread", "instructions"),
    ("conversations.Project", "instructions"),
    ("conversations.Instructions", "about"),
    ("conversations.Instructions", "style"),
)


@dataclass(frozen=True, kw_only=True)
class ForgottenTurn:
    """A turn that is blanked: what is forgotten rests on it, or it tells of that. ``text`` is what it said."""

    id: uuid.UUID
    thread: uuid.UUID
    position: int
    role: str
    text: str
    why: Why


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """What goes, as the person is told it: memories by id, the turns, oldest first, and how many of what else tells of it.

    ``snapshots`` are the model requests that can't be rebuilt any more, ``summaries`` those of parts of threads and of days.
    ``held`` says what a legal hold keeps until it ends.
    ``projects`` lose their names, ``instructions`` are texts of them: the person's two, those of projects and of threads.
    """

    memories: tuple[uuid.UUID, ...] = ()
    turns: tuple[ForgottenTurn, ...] = ()
    artifacts: int = 0
    topics: int = 0
    titles: int = 0
    projects: int = 0
    instructions: int = 0
    prompts: int = 0
    schedules: int = 0
    feedback: int = 0
    summaries: int = 0
    snapshots: int = 0
    held: str = ""


@dataclass(frozen=True, kw_only=True)
class Clearing:
    """What goes when a thread is cleared, in numbers: its turns, and what rests on them. ``quotes`` are replies of other
    threads that quote one of them word for word, ``kept_artifacts`` what was made beside the thread and stays."""

    messages: int = 0
    quotes: int = 0
    memories: int = 0
    topics: int = 0
    titles: int = 0
    summaries: int = 0
    snapshots: int = 0
    kept_artifacts: int = 0
    held: str = ""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What goes, by the ids of rows: memories, topics, days, files, prompts, schedules and feedback are deleted, all others
    blanked.

    ``beside`` are summaries of parts that are made anew only because their day is; ``replies`` those that wrote or answered
    something of it or quote it. ``requests`` were given something of it, ``errors`` are their replies: of how these ended
    nothing is told but the kind. ``threads`` are those whose title goes, ``columns`` the rows of which the person's own words
    in one column do. ``files`` are those that the turns brought or made, ``feedback`` tells of it or is of something that goes.
    """

    memories: frozenset[uuid.UUID] = frozenset()
    turns: tuple[ForgottenTurn, ...] = ()
    topics: frozenset[uuid.UUID] = frozenset()
    summaries: frozenset[uuid.UUID] = frozenset()
    days: frozenset[uuid.UUID] = frozenset()
    beside: frozenset[uuid.UUID] = frozenset()
    threads: frozenset[uuid.UUID] = frozenset()
    columns: Mapping[Column, frozenset[uuid.UUID]] = field(default_factory=dict)
    artifacts: frozenset[uuid.UUID] = frozenset()
    versions: frozenset[int] = frozenset()
    replies: frozenset[uuid.UUID] = frozenset()
    requests: frozenset[uuid.UUID] = frozenset()
    errors: frozenset[uuid.UUID] = frozenset()
    files: frozenset[uuid.UUID] = frozenset()
    prompts: frozenset[uuid.UUID] = frozenset()
    schedules: frozenset[uuid.UUID] = frozenset()
    blocks: frozenset[int] = frozenset()
    touched: frozenset[uuid.UUID] = frozenset()
    feedback: frozenset[uuid.UUID] = frozenset()

    def of(self, *columns: Column) -> frozenset[uuid.UUID]:
        """The rows of which the words in one of these columns go."""
        return frozenset().union(*(self.columns.get(column, ()) for column in columns))

    def summary(self) -> Forgetting:
        return Forgetting(
            memories=tuple(sorted(self.memories)),
            turns=self.turns,
            artifacts=len(self.artifacts) + len(self.versions),
            topics=len(self.topics),
            titles=len(self.threads | self.of(TAGS)),
            projects=len(self.of(NAME)),
            instructions=sum(len(self.of(column)) for column in INSTRUCTIONS),
            prompts=len(self.prompts),
            schedules=len(self.schedules),
            feedback=len(self.feedback),
            summaries=len(self.summaries) + len(self.days),
            snapshots=len(self.requests),
        )
