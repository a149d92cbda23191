"""What goes when something is forgotten, as the person is shown it before."""

import uuid
from dataclasses import dataclass
from typing import Literal

type Why = Literal["source", "mention"]


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
    """What goes: memories by id, the turns, oldest first, and how many of what else tells of it.

    ``snapshots`` are the model requests that can't be rebuilt any more, ``summaries`` those of parts of threads and of days.
    """

    memories: tuple[uuid.UUID, ...] = ()
    turns: tuple[ForgottenTurn, ...] = ()
    artifacts: int = 0
    topics: int = 0
    titles: int = 0
    summaries: int = 0
    snapshots: int = 0
