"""Whose memory was open to a request, as its book tells."""

from collections.abc import Sequence
from uuid import UUID

from conversations.context.record.snapshot_shapes import MemoryScopeAnswer, NamedProject
from conversations.models import ContextSnapshot, Project
from memory.scope import MemoryScope, recorded_scope

GONE = "a deleted project"


def answer(snapshot: ContextSnapshot) -> MemoryScopeAnswer | None:
    """``None`` of a person who had no projects."""
    if snapshot.scope is None:
        return None
    scope = recorded_scope(snapshot.scope)
    named = Project.objects.filter(user=snapshot.user_id, id__in=scope.projects)
    names: dict[UUID, str] = dict(named.values_list("id", "name"))
    shared = [NamedProject(id=str(id), name=names.get(id, GONE)) for id in scope.shared]
    own = NamedProject(id=str(scope.project), name=names.get(scope.project, GONE)) if scope.project else None
    return {
        "project": own,
        "outside": scope.outside,
        "shared": shared,
        "closed": len(scope.closed),
        "text": sentence(scope, own["name"] if own else "", [each["name"] for each in shared]),
    }


def sentence(scope: MemoryScope, own: str, shared: Sequence[str]) -> str:
    """Pure."""
    others = f", and in {', '.join(shared)}, which let others use it" if shared else ""
    if not own:
        return f"What is remembered outside of your projects{others}."
    if not scope.outside:
        return f"Only what is remembered in the project {own}."
    return f"What is remembered in the project {own} and outside of projects{others}."
