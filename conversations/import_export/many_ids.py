"""The ids of a million turns in little memory: which were given, and by which each is stored."""

import secrets
import uuid
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b


class ManyIds:
    """Ids that a document gives, with those that are stored for them: a mark for each, and a rule for new ones."""

    def __init__(self, *, new_ids: bool, derived: "ManyDerived | None" = None) -> None:
        self._new_ids, self._key, self._derived = new_ids, secrets.token_bytes(16), derived
        self._marks, self._count = array("Q", bytes(8 * 1024)), 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, supplied_id: str) -> bool:
        mark = self._mark(supplied_id)
        return self._marks[self._slot(mark)] == mark

    def __getitem__(self, supplied_id: str) -> uuid.UUID:
        id = uuid.UUID(supplied_id)
        if self._new_ids:
            return uuid.UUID(bytes=self._digest(id, 16), version=4)
        return self._derived.rule(id) if self._derived and supplied_id in self._derived.marks else id

    def add(self, supplied_id: str) -> None:
        if 3 * self._count > 2 * len(self._marks):
            marks, self._marks = self._marks, array("Q", bytes(16 * len(self._marks)))
            for mark in filter(None, marks):
                self._marks[self._slot(mark)] = mark
        mark = self._mark(supplied_id)
        self._marks[self._slot(mark)] = mark
        self._count += 1

    def _mark(self, supplied_id: str) -> int:
        return int.from_bytes(self._digest(uuid.UUID(supplied_id), 8)) or 1

    def _digest(self, id: uuid.UUID, size: int) -> bytes:
        return blake2b(id.bytes, digest_size=size, key=self._key).digest()

    def _slot(self, mark: int) -> int:
        """Where it is, or belongs."""
        slot = mark % len(self._marks)
        while self._marks[slot] not in (0, mark):
            slot = (slot + 1) % len(self._marks)
        return slot


@dataclass(frozen=True, kw_only=True)
class ManyDerived:
    """Which turns are stored by another id, and by which."""

    marks: ManyIds
    rule: Callable[[uuid.UUID], uuid.UUID]
