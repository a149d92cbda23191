"""What people say of replies: one feedback a reply, theirs to change and to take back."""

import logging
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from conversations import threads
from conversations.errors import CannotRate, FeedbackNotFound
from conversations.holds import custody
from conversations.models import ContextSnapshot, Feedback, Message, Thread, WebhookEvent
from conversations.runtime import clock
from conversations.runtime.text import clean
from conversations.webhooks.outbox import Plain, tell

TEXT_CHARS = 2_000

log = logging.getLogger("openbook.feedback")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a person says of a reply: ``value`` is 1 or -1."""

    value: int
    reason: str = ""
    text: str = ""
    show_conversation: bool = False


def of(user: User, message_id: str) -> Feedback:
    """Raises ``MessageNotFound`` and ``FeedbackNotFound``."""
    message = threads.message_of(user, message_id)
    feedback = Feedback.objects.filter(user=user, message=message).first()
    if feedback is None:
        raise FeedbackNotFound
    return feedback


@transaction.atomic
def give(user: User, message_id: str, verdict: Verdict) -> Feedback:
    """In place of what was said before, if anything was. Support finds what changed as new in its queue.

    Raises ``MessageNotFound``, and ``CannotRate`` where the turn is the person's own or forgotten.
    """
    message = threads.message_of(user, message_id)
    _touch(message)
    if message.role != Message.Role.ASSISTANT or message.status == Message.Status.FORGOTTEN:
        raise CannotRate
    now = clock.now()
    before = Feedback.objects.filter(user=user, message=message).first()
    if before:
        custody.keep(user.pk, Feedback.objects.filter(id=before.id))
    feedback = before or _first(message)
    feedback.value, feedback.reason, feedback.text = verdict.value, verdict.reason, clean(verdict.text).strip()
    feedback.shown_since = (feedback.shown_since or now) if verdict.show_conversation else None
    feedback.updated_at = now
    feedback.state = Feedback.State.NEW
    feedback.save(force_insert=before is None)
    told: dict[str, Plain] = {
        "thread": str(message.thread_id),
        "message": str(message.id),
        "value": feedback.value,
    }
    tell(WebhookEvent.FEEDBACK_GIVEN, about=user.pk, data=told)
    log.info(
        "feedback",
        extra={"feedback_id": str(feedback.id), "value": feedback.value, "shown": bool(feedback.shown_since)},
    )
    return feedback


@transaction.atomic
def take_back(user: User, message_id: str) -> None:
    """With what it showed to support. Raises as ``of`` does."""
    feedback = of(user, message_id)
    _touch(feedback.message)
    custody.keep(user.pk, Feedback.objects.filter(id=feedback.id))
    feedback.delete()
    log.info("feedback taken back", extra={"feedback_id": str(feedback.id)})


def _touch(message: Message) -> None:
    """The row of a thread has another version whenever its turns say something else. It also keeps a second call waiting."""
    Thread.objects.filter(user=message.user_id, id=message.thread_id).update(title=F("title"))


def _first(message: Message) -> Feedback:
    """With what answered, as it is known now."""
    request = _request_of(message)
    return Feedback(
        user_id=message.user_id,
        thread_id=message.thread_id,
        message=message,
        created_at=clock.now(),
        assistant_id=message.thread.assistant_id,
        provider=request.provider if request else "",
        model=request.model if request else message.model,
        request=request,
    )


def _request_of(message: Message) -> ContextSnapshot | None:
    """The newest one that the reply was made of; of an imported turn there is none."""
    if message.reply_id is None:
        return None
    requests = ContextSnapshot.objects.filter(user=message.user_id, reply=message.reply_id)
    answering = requests.exclude(purpose=ContextSnapshot.Purpose.REWRITE)
    return answering.only("id", "provider", "model").order_by("-round").first()
