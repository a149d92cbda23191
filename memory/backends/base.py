"""What every memory service can do, and how it fails. Messages are for staff: no texts of users, no secrets."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


class BackendError(Exception):
    """It failed, and may not do so later."""


class BackendTimedOut(BackendError):
    """It did not answer in time."""


class BackendInvalidAnswer(BackendError):
    """What it answered can't be used."""


class BackendRefused(BackendError):
    """It won't take this fact, however often it is asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredFact:
    """A memory as another service is given it; its container is the tag of a thread it is confined to, else the user's."""

    id: uuid.UUID
    text: str
    container: str


class Backend(Protocol):
    """A memory service. A local one keeps nothing beside the rows of PostgreSQL and is never asked."""

    @property
    def is_local(self) -> bool: ...

    async def facts(self, user_id: int, containers: Sequence[str], *, about: str, most: int) -> Sequence[uuid.UUID]:
        """Ids of memories in these containers by how much they bear on a text, best first. Raises ``BackendError``.

        What comes back is a claim: whose they are and whether they still hold is for PostgreSQL to say.
        """
        ...

    async def remember(self, user_id: int, fact: MirroredFact, *, again: bool) -> None:
        """Take a fact in; ``again``: it may have had it before, maybe with another text. Raises ``BackendError``."""
        ...

    async def forget(self, user_id: int, ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
        """Delete these for good. Returns those that it certainly does not have any more. Raises ``BackendError``."""
        ...

    async def close(self) -> None:
        """Let go of connections; it may be used again."""
        ...
