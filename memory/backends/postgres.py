"""The default: the newest facts, as the context's own statement reads them. Nothing is asked, nothing is mirrored."""

import uuid
from collections.abc import Collection, Sequence

from memory.backends.base import MirroredFact


class PostgresBackend:
    is_local = True

    async def facts(self, user_id: int, containers: Sequence[str], *, about: str, most: int) -> Sequence[uuid.UUID]:
        return ()

    async def remember(self, user_id: int, fact: MirroredFact, *, again: bool) -> None:
        pass

    async def forget(self, user_id: int, ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
        return ids

    async def close(self) -> None:
        pass
