"""What would be recalled for a text."""

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.models import Project, Scope
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.query_params import Parameter
from conversations.rest.serializers import described
from conversations.runtime import clock
from conversations.runtime.db import read_only
from conversations.runtime.shapes import fill
from conversations.runtime.text import clean
from conversations.threads import projects
from memory import services
from memory.rest.memories import project_object
from memory.rest.shapes import FoundAnswer, FoundListAnswer, FoundPassage, FoundSource
from memory.scope import OUTSIDE, MemoryScope
from memory.sources.passages import Candidate
from memory.sources.recall import RecallQuery, search

MOST = 100
LONGEST = 4_000


class MemorySearch(APIView):
    part = Scope.MEMORY
    query = Parameter("q", "A question, or a few words of it.", required=True)

    project = Parameter("project", "Only what was said or is remembered in this project: its id; `none`: only in none.")

    @describe(parameters=[query, project], responses=described(FoundListAnswer))
    def get(self, request: Request) -> Response:
        """Passages of all your threads, and memories, that bear on a query, best first: what would be recalled for it."""
        query = clean(self.query.text(request) or "").strip()
        if not query or len(query) > LONGEST:
            raise self.query.refuse(f"a text of 1 to {LONGEST:,} characters")
        return Response(find(caller(request), query, project=self.project.text(request)))


def find(user: User, query: str, *, project: str | None = None, most: int = MOST) -> FoundListAnswer:
    """What would be recalled for a query, best first: of a project by its id, of none by ``none``, or of all."""
    memory = _scope(user, project)
    recall_query = RecallQuery(
        user_id=user.pk,
        text=query,
        at=clock.now(),
        zone=services.zone_of(services.preferences_of(user)),
        everywhere=memory is None,
        memory=memory or OUTSIDE,
    )
    with read_only():
        candidates = [each for each in search(recall_query, most=most) if not each.left_out]
    known = services.projects_of_found(user, candidates)
    return {"results": [_described(each, known.get(each.thread or each.id)) for each in candidates]}


def _scope(user: User, project: str | None) -> MemoryScope | None:
    """``None``: of all projects."""
    if not project:
        return None
    if project != projects.NONE:
        return MemoryScope(project=projects.get(user, project).id, outside=False)
    return MemoryScope(closed=tuple(projects.of(user).values_list("id", flat=True)))


def _described(candidate: Candidate, project: Project | None) -> FoundAnswer:
    source = fill(
        FoundSource,
        candidate,
        position=candidate.position or None,
        role=candidate.role or None,
        project=project_object(project),
    )
    passage = None if candidate.is_whole else fill(FoundPassage, candidate)
    return fill(
        FoundAnswer,
        candidate,
        content=candidate.text,
        score=round(candidate.score, 3),
        source=source,
        passage=passage,
        created_at=candidate.at,
        replaced_by=candidate.replaced_by,
    )
