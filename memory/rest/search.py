"""What would be recalled for a text."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.rest.base import APIView, caller
from conversations.rest.query_params import Parameter
from conversations.rest.serializers import described
from conversations.runtime import clock
from conversations.runtime.db import read_only
from conversations.runtime.shapes import fill
from conversations.runtime.text import clean
from memory.rest.shapes import FoundAnswer, FoundListAnswer, FoundPassage, FoundSource
from memory.sources.passages import Candidate
from memory.sources.recall import RecallQuery, search

MOST = 100
LONGEST = 4_000


class MemorySearch(APIView):
    query = Parameter("q", "A question, or a few words of it.", required=True)

    @extend_schema(parameters=[query], responses=described(FoundListAnswer))
    def get(self, request: Request) -> Response:
        """Passages of all your threads, and memories, that bear on a query, best first: what would be recalled for it."""
        query = clean(self.query.text(request) or "").strip()
        if not query or len(query) > LONGEST:
            raise self.query.refuse(f"a text of 1 to {LONGEST:,} characters")
        recall_query = RecallQuery(user_id=caller(request).pk, text=query, at=clock.now(), everywhere=True)
        with read_only():
            candidates = search(recall_query, most=MOST)
        return Response({"results": [_described(candidate) for candidate in candidates]})


def _described(candidate: Candidate) -> FoundAnswer:
    source = fill(FoundSource, candidate, position=candidate.position or None, role=candidate.role or None)
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
