"""Thumbs: what people say of replies."""

from typing import Annotated, TypedDict

from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.errors import RowNotFound
from conversations.models import Feedback, Scope
from conversations.rest.base import APIView, AsyncAPIView, caller, token_of
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.query_params import Choice, Parameter
from conversations.rest.serializers import described, valid
from conversations.rest.staff_rows import plain, save
from conversations.runtime.shapes import Clean, Id, Slug, Time, fill
from conversations.staff import access, rows
from conversations.threads import feedback
from conversations.wire.feedback import FeedbackAnswer, feedback_object


class FeedbackRequest(TypedDict):
    value: Annotated[int, [1, -1], "1: good, -1: bad."]
    reason: Annotated[str, Feedback.Reason, {"default": "", "allow_blank": True}, "Why."]
    text: Annotated[
        Clean, {"default": "", "max_length": feedback.TEXT_CHARS}, f"At most {feedback.TEXT_CHARS:,} characters."
    ]
    show_conversation: Annotated[
        bool,
        {"default": False},
        "`true`: support may read this conversation and what its replies were given, until you say otherwise. Each look is "
        "in `accesses/`.",
    ]


class FeedbackRow(TypedDict):
    """One of support's queue."""

    id: Annotated[Id, "Id of the feedback."]
    value: Annotated[int, [1, -1], "1: good, -1: bad."]
    reason: Annotated[str, Feedback.Reason, {"allow_blank": True}, "Why; may be empty."]
    text: Annotated[
        str | None,
        "In the person's own words; null: there are none, or they are masked. Where the person shows the conversation to "
        "support they are told, and that is on record.",
    ]
    show_conversation: Annotated[bool, "Whether the person shows the conversation to support."]
    created_at: Annotated[Time, "When it was first said."]
    updated_at: Annotated[Time, "When it was last said."]
    state: Annotated[str, Feedback.State, "What became of it."]
    assignee: Annotated[str | None, "User name of who works on it."]
    notes: Annotated[str, "Of support."]
    assistant: Annotated[Slug, "Which answered."]
    provider: Annotated[str, "Which was asked; empty: not known."]
    model: Annotated[str, "Which answered; empty: not known."]
    user: Annotated[int, "Id of the person."]
    thread: Annotated[Id, "The conversation."]
    message: Annotated[Id, "The turn that it is about."]
    request: Annotated[Id | None, "The recorded request of it."]


class FeedbackChange(TypedDict, total=False):
    state: Annotated[str, Feedback.State, "What became of it."]
    assignee: Annotated[str | None, {"max_length": 150}, "User name of who works on it: of staff. Null: nobody."]
    notes: Annotated[Clean, {"max_length": 10_000}, "Of support, for support."]


class FeedbackQueue(APIView):
    scopes = {"GET": Scope.STAFF}
    pagination_class = ordered_by("-id")
    state = Choice("state", Feedback.State.values, "Only those in this state.")
    reason = Choice("reason", Feedback.Reason.values, "Only those with this reason.")
    assistant = Parameter("assistant", "Only those about this assistant: its slug.")

    @describe(responses=described(FeedbackRow, many=True), parameters=[state, reason, assistant])
    def get(self, request: Request) -> Response:
        """For support: what people said of replies, newest first. Takes the right to see feedback. A token shows no texts
        unless it has the scope `staff:content` too."""
        if not (caller(request).is_staff and caller(request).has_perm(access.SEE_FEEDBACK)):
            raise PermissionDenied
        queue = Feedback.objects.select_related("assistant", "assignee")
        if state := self.state.read(request):
            queue = queue.filter(state=state)
        if reason := self.reason.read(request):
            queue = queue.filter(reason=reason)
        if assistant := self.assistant.text(request):
            queue = queue.filter(assistant=threads.assistant_known(assistant))
        return self.page(request, queue, lambda page: [_row(request, row) for row in page])


class FeedbackHandling(APIView):
    scopes = {"PATCH": Scope.STAFF_FEEDBACK}

    @describe(request=described(FeedbackChange), responses=described(FeedbackRow))
    def patch(self, request: Request, feedback_id: str) -> Response:
        """Say what becomes of it, for support who may change feedback. A token needs `staff:feedback`, and for the text in
        the answer `staff:content` too."""
        found = threads.row_with_id(rows.seen(plain(request), Feedback), feedback_id, RowNotFound)
        rows.demand_change(plain(request), found)
        save(request, found, valid(FeedbackChange, request))
        return Response(_row(request, Feedback.objects.select_related("assistant", "assignee").get(pk=found.pk)))


def _row(request: Request, row: Feedback) -> FeedbackRow:
    is_told = bool(row.text) and _look(request, row)
    return fill(
        FeedbackRow,
        row,
        text=row.text if is_told else None,
        assignee=row.assignee and row.assignee.username,
        assistant=row.assistant.slug,
        user=row.user_id,
        thread=row.thread_id,
        message=row.message_id,
        request=row.request_id,
    )


def _look(request: Request, row: Feedback) -> bool:
    token = token_of(request)
    if token and Scope.STAFF_CONTENT not in token.scopes:
        return False
    thread, what = row.thread_id, str(Feedback._meta.verbose_name)
    return access.look(request._request, user=row.user_id, what=what, object_id=row.pk, thread=thread).shown


class FeedbackDetail(AsyncAPIView):
    @describe(responses=described(FeedbackAnswer))
    def get(self, request: Request, message_id: str) -> Response:
        """What the caller said of this reply."""
        return Response(feedback_object(feedback.of(caller(request), message_id)))

    @describe(request=described(FeedbackRequest), responses=described(FeedbackAnswer))
    def post(self, request: Request, message_id: str) -> Response:
        """Say whether a reply was good. Saying it again replaces what was said."""
        said = feedback.Verdict(**valid(FeedbackRequest, request))
        return Response(feedback_object(feedback.give(caller(request), message_id, said)))

    @describe(responses={204: None})
    def delete(self, request: Request, message_id: str) -> Response:
        """Take back what was said of this reply; support is shown the conversation no longer."""
        feedback.take_back(caller(request), message_id)
        return Response(status=204)
