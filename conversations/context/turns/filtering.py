"""Which requests were fulfilled by an artifact, so that the model does not make it again (F1–F8). Pure, read-time only."""

import uuid
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from conversations.context.turns.groups import TurnContent, exchanges
from conversations.runtime.values import dataclass

ARTIFACT_CORRELATION_WINDOW = timedelta(seconds=5)


class PathTurn(TurnContent, Protocol):
    """A turn of the path. ``reply`` is the reply that wrote it."""

    @property
    def id(self) -> uuid.UUID | None: ...
    @property
    def created_at(self) -> datetime | None: ...
    @property
    def reply(self) -> uuid.UUID | None: ...


class ArtifactProvenance(Protocol):
    """An artifact. ``message`` and ``reply`` are its provenance: the turn and the reply that made it, where they are known."""

    @property
    def created_at(self) -> datetime: ...
    @property
    def message(self) -> uuid.UUID | None: ...
    @property
    def reply(self) -> uuid.UUID | None: ...


@dataclass(frozen=True, slots=True)
class FilterArtifact:
    """An artifact as the filter needs it."""

    created_at: datetime
    message: uuid.UUID | None
    reply: uuid.UUID | None


def identify_fulfilled_pairs(messages: Sequence[PathTurn], artifacts: Collection[ArtifactProvenance]) -> set[uuid.UUID]:
    """The ids of the turns to leave out: each assistant turn that made an artifact, with the question that it answers.

    ``messages`` are neighbours on the path, oldest first. Tool calls and results of the same answer go with it.
    """
    if not artifacts:
        return set()
    fulfilled = set(_makers(messages, artifacts))
    turns = [messages[index] for group in exchanges(messages) if not fulfilled.isdisjoint(group) for index in group]
    return {turn.id for turn in turns if turn.id}


def _makers(messages: Sequence[PathTurn], artifacts: Collection[ArtifactProvenance]) -> Iterator[int]:
    """The place of the assistant turn that made each artifact: by provenance at any age, else by the clock (F2–F4)."""
    spoken = [(index, message) for index, message in enumerate(messages) if message.role == "assistant"]
    by_message: dict[uuid.UUID | None, int] = {message.id: index for index, message in spoken if message.id}
    by_reply: dict[uuid.UUID | None, int] = {message.reply: index for index, message in spoken if message.reply}
    clock = sorted((message.created_at, index) for index, message in spoken if message.created_at)
    times = [time for time, _ in clock]
    for artifact in artifacts:
        if artifact.message or artifact.reply:
            if (index := by_message.get(artifact.message, by_reply.get(artifact.reply))) is not None:
                yield index
        elif nearest := bisect_right(times, artifact.created_at):
            time, index = clock[nearest - 1]
            if artifact.created_at - time <= ARTIFACT_CORRELATION_WINDOW:
                yield index
