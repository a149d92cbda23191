"""What was said of answers, as documents have it and as rows. An imported one is not new to support: it was said elsewhere."""

import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime

from conversations.import_export.records import FeedbackRecord
from conversations.import_export.rows import row_of
from conversations.import_export.turn_tree import PlacedTurn
from conversations.import_export.values import Fields
from conversations.models import Feedback
from conversations.runtime.text import shortened
from conversations.threads.feedback import TEXT_CHARS


def feedback_in(turn: Fields, time: datetime) -> FeedbackRecord | None:
    if turn.get("feedback") is None:
        return None
    feedback = Fields.of(turn.get("feedback"), turn.at("feedback"))
    value = feedback.get("value")
    if type(value) is not int or value not in (1, -1):
        feedback.refuse("value", "must be 1 or -1.")
    created_at = feedback.moment("created_at") or time
    return FeedbackRecord(
        value=value,
        reason=feedback.choice("reason", ["", *Feedback.Reason.values], default=""),
        text="" if feedback.get("text") is None else shortened(feedback.text("text"), TEXT_CHARS),
        created_at=created_at,
        updated_at=feedback.moment("updated_at") or created_at,
    )


def feedback_rows(
    turns: Iterable[PlacedTurn], thread_id: uuid.UUID, *, user_id: int, assistant_id: int
) -> Iterator[Feedback]:
    for turn in (placed.turn for placed in turns):
        if turn.feedback:
            yield row_of(
                Feedback,
                turn.feedback,
                user_id=user_id,
                thread_id=thread_id,
                message_id=turn.id,
                assistant_id=assistant_id,
                model=turn.model,
                state=Feedback.State.DONE,
            )
