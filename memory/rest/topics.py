"""What was begun and not resolved, and what was talked about on which day."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.models import Message, Thread
from conversations.rest.base import APIView, caller, valid
from conversations.rest.pagination import DayPagination, TopicPagination
from conversations.rest.query_params import switched
from conversations.wire import moment
from memory import services
from memory.models import DailySummary, Topic
from memory.rest import serializers as shapes
from memory.rest.memories import source_objects


class TopicList(APIView):
    pagination_class = TopicPagination

    @extend_schema(
        responses=shapes.TopicAnswer(many=True),
        parameters=[
            OpenApiParameter("resolved", OpenApiTypes.BOOL, description="`true`: those that are resolved instead.")
        ],
    )
    def get(self, request: Request) -> Response:
        """What was begun in conversations and is still open, newest first."""
        paginator = self.pagination_class()
        topics = services.topics_of(caller(request), resolved=switched(request, "resolved"))
        page: list[Topic] = paginator.paginate_queryset(topics, request)
        sources = services.sources_of(caller(request), page)
        return paginator.get_paginated_response([_topic(topic, sources) for topic in page])


class TopicDetail(APIView):
    @extend_schema(request=shapes.TopicChange, responses=shapes.TopicAnswer)
    def patch(self, request: Request, topic_id: str) -> Response:
        """Call a topic resolved, or open again."""
        topic = services.topic_of(caller(request), topic_id)
        resolved = valid(shapes.TopicChange, request)["resolved"]
        topic.resolved_at = (topic.resolved_at or timezone.now()) if resolved else None
        topic.save(update_fields=["resolved_at"])
        return Response(_topic(topic, services.sources_of(caller(request), [topic])))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, topic_id: str) -> Response:
        """Remove a topic. The turns that opened it stay."""
        services.topic_of(caller(request), topic_id).delete()
        return Response(status=204)


class DayList(APIView):
    pagination_class = DayPagination

    @extend_schema(responses=shapes.DayAnswer(many=True))
    def get(self, request: Request) -> Response:
        """What the caller talked about, day by day, newest first."""
        paginator = self.pagination_class()
        page: list[DailySummary] = paginator.paginate_queryset(services.days_of(caller(request)), request)
        threads = services.threads_of_days(page)
        return paginator.get_paginated_response([_day(day, threads) for day in page])


def _topic(topic: Topic, turns: Mapping[uuid.UUID, Message]) -> dict[str, Any]:
    sources = source_objects(topic.sources, turns)
    return {
        "id": str(topic.id),
        "title": topic.title,
        "thread": _titled(topic.thread) if topic.thread else None,
        "source": sources[0] if sources else None,
        "opened_at": moment(topic.opened_at),
        "resolved_at": moment(topic.resolved_at),
    }


def _day(day: DailySummary, threads: Mapping[uuid.UUID, Thread]) -> dict[str, Any]:
    return {
        "day": day.day.isoformat(),
        "text": day.text,
        "key_moments": day.key_moments,
        "threads": [_titled(thread) for thread in services.told_of(day, threads)],
        "updated_at": moment(day.updated_at),
    }


def _titled(thread: Thread) -> dict[str, str]:
    return {"id": str(thread.id), "title": thread.title}
