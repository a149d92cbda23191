"""What would be recalled for a text."""

from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.errors import InvalidMessage
from conversations.rest.base import APIView, caller
from conversations.runtime.db import read_only
from conversations.runtime.text import clean
from conversations.wire import moment
from memory.rest import serializers
from memory.sources.recall import Candidate, RecallQuery, search

MOST = 50
LONGEST = 4_000


class MemorySearch(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("q", OpenApiTypes.STR, required=True, description="A question, or a few words of it.")
        ],
        responses=serializers.FoundListAnswer,
    )
    def get(self, request: Request) -> Response:
        """Turns of all your threads and memories that bear on a query, best first: what would be recalled for it."""
        query = clean(request.query_params.get("q", "")).strip()
        if not query or len(query) > LONGEST:
            raise InvalidMessage(f"`q` must be a text of 1 to {LONGEST:,} characters.", field="q")
        recall_query = RecallQuery(user_id=caller(request).pk, text=query, at=timezone.now(), everywhere=True)
        with read_only():
            candidates = search(recall_query, most=MOST)
        return Response({"results": [_described(candidate) for candidate in candidates]})


def _described(candidate: Candidate) -> dict[str, Any]:
    return {
        "content": candidate.text,
        "score": round(candidate.score, 3),
        "source": {
            "kind": candidate.kind,
            "id": str(candidate.id),
            "thread": str(candidate.thread) if candidate.thread else None,
            "position": candidate.position or None,
            "role": candidate.role or None,
        },
        "created_at": moment(candidate.at),
    }
