"""The ids of a million turns in little memory: which were given, as the how many-th, and by which each is stored."""

import secrets
import uuid
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b


class ManyIds:
    """Ids that a document gives, with those that are stored for them: a mark and a number for each, and a rule for new ones."""

    def __init__(self, *, new_ids: bool, derived: "ManyDerived | None" = None) -> None:
        self._new_ids, self._key, self._derived = new_ids, secrets.token_bytes(16), derived
        self._marks, self._numbers, self._count = array("Q", bytes(8 * 1024)), array("I", bytes(4 * 1024)), 0

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

    def number(self, supplied_id: str) -> int:
        """That it was added with; 0 where it was not."""
        return self._numbers[self._slot(self._mark(supplied_id))]

    def add(self, supplied_id: str, number: int = 0) -> None:
        if 3 * self._count > 2 * len(self._marks):
            marks, numbers = self._marks, self._numbers
            self._marks, self._numbers = array("Q", bytes(16 * len(marks))), array("I", bytes(8 * len(marks)))
            for mark, kept in zip(marks, numbers, strict=True):
                if mark:
                    self._put(mark, kept)
        self._put(self._mark(supplied_id), number)
        self._count += 1

    def _put(self, mark: int, number: int) -> None:
        slot = self._slot(mark)
        self._marks[slot], self._numbers[slot] = mark, number

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
