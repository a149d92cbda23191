"""What is to be expected of conversations that people shape: trees of turns, by rules that know nothing of any table."""

import re
from dataclasses import dataclass, field
from uuid import UUID

WORD = re.compile(r"zq\d+vix")
"""Each turn says one of its own, which stands nowhere else."""


@dataclass(kw_only=True)
class Said:
    """A turn. ``reply`` is the newest one to it, of a person's; ``gone``: it was forgotten."""

    word: str
    parent: UUID | None
    role: str
    reply: UUID | None = None
    gone: bool = False


@dataclass(kw_only=True)
class Folder:
    """A project."""

    id: UUID
    uses_outside: bool
    shares: bool


@dataclass(kw_only=True)
class Talk:
    """A thread. ``turns`` are all of them in the order in which they were stored, ``end`` is the last of its active path."""

    id: UUID
    owner: int
    folder: Folder | None = None
    temporary: bool = False
    turns: dict[UUID, Said] = field(default_factory=dict)
    end: UUID | None = None

    def add(self, id: UUID, said: Said) -> None:
        self.turns[id] = said
        self.end = id

    def path_to(self, id: UUID | None) -> list[UUID]:
        path = []
        while id:
            path.append(id)
            id = self.turns[id].parent
        return path[::-1]

    @property
    def path(self) -> list[UUID]:
        return self.path_to(self.end)

    def newest_end(self, id: UUID) -> UUID:
        """The last stored of all that follow a turn."""
        return [each for each in self.turns if id in self.path_to(each)][-1]

    def versions(self, id: UUID) -> list[UUID]:
        return [each for each, said in self.turns.items() if said.parent == self.turns[id].parent]

    def words(self) -> set[str]:
        """That are said on its active path."""
        return {said.word for said in map(self.turns.__getitem__, self.path) if not said.gone}


def open_to(talk: Talk, other: Talk) -> bool:
    """Whether what is said in the other one may be given to a request in this one."""
    if talk is other:
        return True
    if talk.owner != other.owner or talk.temporary or other.temporary:
        return False
    if talk.folder is other.folder:
        return True
    uses = talk.folder is None or talk.folder.uses_outside
    shares = other.folder is None or other.folder.shares
    return uses and shares


def words_in(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))
