"""Model requests: what was given to a model, what was left out, and why."""

from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.context.record import snapshot_api
from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.models import ContextSnapshot
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice
from conversations.rest.serializers import described


class RequestList(APIView):
    pagination_class = ordered_by("-created_at", page_size=10)  # each brings its whole context
    status = Choice("status", ContextSnapshot.Status.values, "Only those that are in this state.")

    @describe(responses=described(SnapshotAnswer, many=True), parameters=[status])
    def get(self, request: Request, thread_id: str) -> Response:
        """The model requests of a thread, newest first."""
        queryset = threads.get(caller(request), thread_id).snapshots.all()
        if status := self.status.read(request):
            queryset = queryset.filter(status=status)
        return self.page(request, queryset, lambda page: [snapshot_api.body(snapshot) for snapshot in page])


class RequestDetail(APIView):
    @describe(responses=described(SnapshotAnswer))
    def get(self, request: Request, request_id: str) -> Response:
        """One model request: what it was given, what was left out and why."""
        return Response(snapshot_api.body(threads.request_of(caller(request), request_id)))
