"""What a person said of a reply, as they and programs of theirs are told it."""

import uuid
from collections.abc import Sequence
from typing import Annotated, TypedDict

from conversations.models import Feedback, Message
from conversations.runtime.shapes import Time, fill


class FeedbackAnswer(TypedDict):
    """What the caller said of a reply."""

    value: Annotated[int, [1, -1], "1: good, -1: bad."]
    reason: Annotated[str, Feedback.Reason, {"allow_blank": True}, "Why; may be empty."]
    text: Annotated[str, "In the caller's own words; may be empty."]
    show_conversation: Annotated[
        bool, "Whether support may read the conversation and what its replies were given. Each look is in `accesses/`."
    ]
    created_at: Annotated[Time, "When it was first said."]
    updated_at: Annotated[Time, "When it was last said."]


def feedback_object(feedback: Feedback) -> FeedbackAnswer:
    return fill(FeedbackAnswer, feedback)


def feedback_on(messages: Sequence[Message]) -> dict[uuid.UUID, FeedbackAnswer]:
    """By the id of the turn, in one statement; without any where no assistant's turn is among them."""
    replies = [message for message in messages if message.role == Message.Role.ASSISTANT]
    if not replies:
        return {}
    given = Feedback.objects.filter(user=replies[0].user_id, message__in=replies)
    return {feedback.message_id: feedback_object(feedback) for feedback in given}
