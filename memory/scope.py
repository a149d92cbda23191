"""Whose memory is open to a thread: that of its project and no other's, unless the switches of projects say so.

What is remembered outside of all projects, with what projects share, is *outside*. A thread of a project is given what was
remembered in the project, and what is outside where the project uses that. Every statement that reads what is remembered takes
``values`` of this: rows of a thread by ``VISIBLE``, notes by their place (``places``).
"""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from conversations.models import Project, Thread
from conversations.runtime.values import dataclass
from memory.tags import project_tag, thread_tag

VISIBLE = "coalesce({column} = ANY(%(projects)s::uuid[]), false) = %(confined)s"
"""Whether a row is open, by the column that names its project."""


@dataclass(frozen=True, kw_only=True)
class MemoryScope:
    """``project`` is the thread's, ``shared`` are the other projects that are open to it, ``closed`` those that are not.
    ``outside``: what is remembered in none of them is open."""

    project: uuid.UUID | None = None
    outside: bool = True
    shared: tuple[uuid.UUID, ...] = ()
    closed: tuple[uuid.UUID, ...] = ()

    @property
    def projects(self) -> tuple[uuid.UUID, ...]:
        """Those that are open."""
        return (self.project, *self.shared) if self.project else self.shared

    @property
    def is_limited(self) -> bool:
        return bool(self.closed) or not self.outside

    @property
    def values(self) -> dict[str, Any]:
        """What ``VISIBLE`` is asked with: where all but some is open these are named, else what is."""
        return {"projects": list(self.closed if self.outside else self.projects), "confined": not self.outside}

    @property
    def closed_values(self) -> dict[str, Any]:
        """The same for all that is not open."""
        return self.values | {"confined": self.outside}

    def places(self, thread_id: uuid.UUID | None) -> list[str]:
        """Where notes that are open may have been noted for (``Memory.confined_to``)."""
        tags = [*map(project_tag, self.projects), *([thread_tag(thread_id)] if thread_id else [])]
        return ["", *tags] if self.outside else tags

    @property
    def recorded(self) -> dict[str, Any] | None:
        """As a snapshot has it; nothing where the person has no projects."""
        if self == OUTSIDE:
            return None
        return {
            "project": str(self.project) if self.project else None,
            "outside": self.outside,
            "shared": list(map(str, self.shared)),
            "closed": list(map(str, self.closed)),
        }


OUTSIDE = MemoryScope()


def scope_in(project: uuid.UUID | None, projects: Iterable[tuple[uuid.UUID, bool, bool]]) -> MemoryScope:
    """Of a thread in a project, or in none, of a person with these: each with whether it uses what is outside, and whether it
    shares. Pure."""
    rows = list(projects)
    outside = project is None or any(id == project and uses for id, uses, _ in rows)
    shared = tuple(id for id, _, shares in rows if outside and shares and id != project)
    closed = tuple(id for id, _, _ in rows if id != project and id not in shared)
    return MemoryScope(project=project, outside=outside, shared=shared, closed=closed)


def scope_of(user_id: int, project: uuid.UUID | None) -> MemoryScope:
    columns = ("id", "uses_outside_memory", "shares_memory")
    return scope_in(project, Project.objects.filter(user=user_id).order_by("id").values_list(*columns))


def scope_of_thread(user_id: int, thread_id: uuid.UUID) -> MemoryScope:
    return scope_of(
        user_id, Thread.objects.filter(user=user_id, id=thread_id).values_list("project", flat=True).first()
    )


def recorded_scope(record: Mapping[str, Any] | None) -> MemoryScope:
    """What ``recorded`` made."""
    if record is None:
        return OUTSIDE
    project = uuid.UUID(record["project"]) if record["project"] else None
    shared, closed = (tuple(map(uuid.UUID, record[name])) for name in ("shared", "closed"))
    return MemoryScope(project=project, outside=record["outside"], shared=shared, closed=closed)
