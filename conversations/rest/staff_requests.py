"""Model requests of everybody, for staff's programs: figures for who may see that there are such; what one was given for who
may read content, each look with a reason and on record."""

from typing import Annotated, Any, TypedDict

from django.db.models import QuerySet
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.context.record import snapshot_api
from conversations.context.record.snapshot_shapes import SnapshotAnswer
from conversations.errors import RowNotFound, SecondFactorNeeded, Unavailable
from conversations.models import ContextSnapshot, Scope
from conversations.rest.base import APIView
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice, Moment, Parameter
from conversations.rest.serializers import described, valid
from conversations.rest.staff_rows import plain
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.shapes import Id, Slug, Time, fill
from conversations.staff import access, rows
from conversations.staff.content import lacks_factor


class StaffRequest(TypedDict):
    """Ids, states and figures, never a text."""

    id: Annotated[Id, "Id of the request."]
    created_at: Annotated[Time, "When it was made."]
    ended_at: Annotated[Time | None, "When its answer ended; null: it has not."]
    user: Annotated[int, "Id of the person."]
    thread: Annotated[Id, "The conversation."]
    assistant: Annotated[Slug, "The assistant of the thread."]
    version: Annotated[int | None, "Number of the version that the assistant was at; null: not known."]
    purpose: Annotated[str, ContextSnapshot.Purpose, "What it was made for."]
    provider: Annotated[str, "Which was asked."]
    model: Annotated[str, "Which was asked."]
    status: Annotated[str, ContextSnapshot.Status, "How it stands."]
    stop_reason: Annotated[str, "Why the answer ended; may be empty."]
    budget: Annotated[int, "What the context should take, in tokens."]
    total_tokens: Annotated[int, "What it was estimated to take."]
    usage: Annotated[dict[str, Any] | None, "Tokens as the service counted them; null: it has not."]
    first_token_ms: Annotated[int | None, "Milliseconds until the first word; null: there was none."]


class Look(TypedDict):
    reason: Annotated[
        str,
        {"max_length": access.REASON_CHARS},
        "Why it is looked at. The person sees it in `accesses/`, with who looked.",
    ]


class StaffRequestList(APIView):
    scopes = {"GET": Scope.STAFF}
    pagination_class = ordered_by("-id")  # ordered by time
    user = Parameter("user", "Only those of this user: the id.")
    thread = Parameter("thread", "Only those of this thread: the id.")
    assistant = Parameter("assistant", "Only those of threads of this assistant: its slug.")
    status = Choice("status", ContextSnapshot.Status.values, "Only those in this state.")
    since = Moment("since", "Only from this time on.")
    until = Moment("until", "Only from before this time.")

    @describe(responses=described(StaffRequest, many=True), parameters=[user, thread, assistant, status, since, until])
    def get(self, request: Request) -> Response:
        """For staff: model requests of everybody, newest first, as figures. Takes the right to see model requests; a token
        needs `staff`."""
        found = _requests(request)
        if user := self.user.text(request):
            if not (user.isascii() and user.isdecimal() and len(user) < 10):
                raise self.user.refuse("the id of a user")
            found = found.filter(user=int(user))
        if thread := self.thread.text(request):
            found = found.filter(thread=threads.identifier(thread, RowNotFound))
        if assistant := self.assistant.text(request):
            found = found.filter(thread__assistant=threads.assistant_known(assistant))
        if status := self.status.read(request):
            found = found.filter(status=status)
        if since := self.since.read(request):
            found = found.filter(id__gte=lowest_uuid7(since))
        if until := self.until.read(request):
            found = found.filter(id__lt=lowest_uuid7(until))
        return self.page(request, found, lambda page: [_figures(each) for each in page])


class StaffRequestLook(APIView):
    scopes = {"POST": Scope.STAFF_CONTENT}

    @describe(request=described(Look), responses=described(SnapshotAnswer))
    def post(self, request: Request, request_id: str) -> Response:
        """For staff who may read content: one model request with what it was given, for a reason. The look is on record
        before it is answered, and the person is told of it. A token needs `staff:content`. Where reading takes a second factor
        (`OPENBOOK_READING_NEEDS_FACTOR`), it takes a session that has just proved one."""
        found = _requests(request)
        if not request.user.has_perm(access.READ):
            raise PermissionDenied
        if lacks_factor(plain(request)):
            raise SecondFactorNeeded
        reason = " ".join(valid(Look, request)["reason"].split())
        row = threads.row_with_id(found, request_id, RowNotFound)
        what = str(ContextSnapshot._meta.verbose_name)
        sight = access.look(
            plain(request), user=row.user_id, what=what, object_id=row.pk, thread=row.thread_id, reason=reason
        )
        if not sight.shown:
            raise Unavailable(sight.problem)
        return Response(snapshot_api.body(ContextSnapshot.objects.get(pk=row.pk)))


def _requests(request: Request) -> QuerySet[ContextSnapshot]:
    return rows.seen(plain(request), ContextSnapshot)


def _figures(row: ContextSnapshot) -> StaffRequest:
    return fill(
        StaffRequest,
        row,
        user=row.user_id,
        thread=row.thread_id,
        assistant=row.thread.assistant.slug,
        version=row.version.number if row.version else None,
    )
