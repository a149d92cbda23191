"""What was begun and not resolved, and what was talked about on which day."""

import uuid
from collections.abc import Mapping, Sequence

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.models import Message, Scope
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Switch
from conversations.rest.serializers import described, valid
from conversations.runtime import clock
from conversations.runtime.shapes import fill
from memory import forgetting, services
from memory.models import DailySummary, Topic
from memory.rest.memories import source_objects
from memory.rest.shapes import DayAnswer, TitledThread, TopicAnswer, TopicChange


class TopicList(APIView):
    part = Scope.MEMORY
    pagination_class = ordered_by("-opened_at", "-id")
    resolved = Switch("resolved", "`true`: those that are resolved instead.")

    @describe(responses=described(TopicAnswer, many=True), parameters=[resolved])
    def get(self, request: Request) -> Response:
        """What was begun in conversations and is still open, newest first."""
        topics = services.topics_of(caller(request), resolved=self.resolved.read(request))
        return self.page(request, topics, lambda page: _topics(request, page))


class TopicDetail(APIView):
    part = Scope.MEMORY

    @describe(request=described(TopicChange), responses=described(TopicAnswer))
    def patch(self, request: Request, topic_id: str) -> Response:
        """Call a topic resolved, or open again."""
        topic = services.topic_of(caller(request), topic_id)
        resolved = valid(TopicChange, request)["resolved"]
        services.resolve(topic, at=(topic.resolved_at or clock.now()) if resolved else None)
        return Response(_topics(request, [topic])[0])

    @describe(responses={204: None})
    def delete(self, request: Request, topic_id: str) -> Response:
        """Remove a topic. The turns that opened it stay."""
        forgetting.forget_topic(services.topic_of(caller(request), topic_id))
        return Response(status=204)


class DayList(APIView):
    part = Scope.MEMORY
    pagination_class = ordered_by("-day")

    @describe(responses=described(DayAnswer, many=True))
    def get(self, request: Request) -> Response:
        """What the caller talked about, day by day, newest first."""
        return self.page(request, services.days_of(caller(request)), lambda page: _days(request, page))


def _topics(request: Request, page: Sequence[Topic]) -> list[TopicAnswer]:
    turns = services.sources_of(caller(request), page)
    return [_topic(topic, turns) for topic in page]


def _topic(topic: Topic, turns: Mapping[uuid.UUID, Message]) -> TopicAnswer:
    sources = source_objects(topic.sources, turns)
    thread = fill(TitledThread, topic.thread) if topic.thread else None
    return fill(TopicAnswer, topic, thread=thread, source=sources[0] if sources else None)


def _days(request: Request, page: Sequence[DailySummary]) -> list[DayAnswer]:
    threads = services.threads_of_days(caller(request), page)
    return [
        fill(DayAnswer, day, threads=[fill(TitledThread, each) for each in services.told_of(day, threads)])
        for day in page
    ]
