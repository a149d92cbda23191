"""Thumbs: what people say of replies."""

from typing import Annotated, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.models import Feedback
from conversations.rest.base import AsyncAPIView, caller
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Clean
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


class FeedbackDetail(AsyncAPIView):
    @extend_schema(responses=described(FeedbackAnswer))
    def get(self, request: Request, message_id: str) -> Response:
        """What the caller said of this reply."""
        return Response(feedback_object(feedback.of(caller(request), message_id)))

    @extend_schema(request=described(FeedbackRequest), responses=described(FeedbackAnswer))
    def post(self, request: Request, message_id: str) -> Response:
        """Say whether a reply was good. Saying it again replaces what was said."""
        said = feedback.Verdict(**valid(FeedbackRequest, request))
        return Response(feedback_object(feedback.give(caller(request), message_id, said)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, message_id: str) -> Response:
        """Take back what was said of this reply; support is shown the conversation no longer."""
        feedback.take_back(caller(request), message_id)
        return Response(status=204)
