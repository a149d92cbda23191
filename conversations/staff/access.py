"""Who of the staff is shown content: masked until somebody states a reason, and never without a record of it.

Content is what a person wrote, and whatever was made of it: turns, titles, memories, summaries, artifacts, requests. A
reason opens the content of one person for half an hour, in one session.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from conversations import audit
from conversations.models import ContentAccess, Feedback, WebhookEvent
from conversations.runtime.request_ids import current_request_id
from conversations.webhooks.outbox import tell

READ, EXPORT = "conversations.read_content", "conversations.export_content"
SEE_FEEDBACK = "conversations.view_feedback"
CONSENT = "You show this conversation to support."
OPEN_FOR = timedelta(minutes=30)
REASON_CHARS = 300
SESSION_KEY = "openbook_reasons"
UNRECORDED = gettext_noop(
    "It could not be recorded that you look, so nothing is shown. Try again; if it stays so, tell who runs the server."
)

log = logging.getLogger("openbook.access")


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What one page may show of the content of one person. ``user`` is the person's id, ``problem`` why it stays masked."""

    user: int
    shown: bool = False
    may_read: bool = False
    may_export: bool = False
    reason: str = ""
    until: datetime | None = None
    problem: str = ""
    is_consent: bool = False
    """The person shows this conversation to support, of which ``reason`` tells."""

    @property
    def is_open(self) -> bool:
        """Whether who looks may read, and has stated why."""
        return self.may_read and bool(self.reason)


def look(
    request: HttpRequest,
    *,
    user: int,
    what: str,
    object_id: object,
    thread: UUID | None = None,
    action: str = ContentAccess.Action.READ,
    reason: str = "",
) -> Sight:
    """Whether content may be shown now. That it is has been recorded once this returns; what can't be recorded is not shown.
    ``reason`` is stated for this look alone."""
    sight = outlook(request, user=user, thread=thread)
    sight = replace(sight, reason=reason[:REASON_CHARS] or sight.reason)
    allowed = sight.may_export if action == ContentAccess.Action.EXPORT else sight.may_read
    if not (allowed and sight.reason):
        return sight
    try:
        with transaction.atomic(durable=True):  # nothing that comes later can take the record back
            record(
                request, user=user, what=what, object_id=object_id, thread=thread, action=action, reason=sight.reason
            )
    except DatabaseError:
        log.exception("an access could not be recorded")
        return Sight(user=user, may_read=sight.may_read, problem=gettext(UNRECORDED))
    return replace(sight, shown=True)


def record(
    request: HttpRequest,
    *,
    user: int,
    what: str,
    object_id: object,
    reason: str,
    action: str,
    thread: UUID | None = None,
) -> None:
    """Store that staff saw, or could have seen, what this person wrote. The person is told of it."""
    staff = request.user
    assert isinstance(staff, User)
    looked = ContentAccess.objects.create(
        at=timezone.now(),
        staff=staff,
        staff_name=staff.username,
        user_id=user,
        action=action,
        what=what,
        object_id=str(object_id),
        thread_id=thread,
        reason=reason,
        request_id=current_request_id.get(),
    )
    seen = {"access": str(looked.id), "action": action, "what": what, "object": str(object_id)}
    tell(WebhookEvent.CONTENT_ACCESSED, about=user, data=seen)
    details = {"access": str(looked.id), "action": action, "what": what, "object": str(object_id)}
    audit.record(
        audit.AuditKind.CONTENT_ACCESSED,
        actor=staff,
        target=(User._meta.label, user),
        details=details | ({"thread": str(thread)} if thread else {}),
    )


def outlook(request: HttpRequest, *, user: int, thread: UUID | None = None) -> Sight:
    """What ``look`` would begin with. It records nothing, so nothing is shown by it.

    What a person shows to support needs no other reason, and no other right than to see feedback.
    """
    may_read, may_export = (request.user.has_perm(permission) for permission in (READ, EXPORT))
    reason, ends = _standing(request).get(str(user), ("", 0))
    if not reason and thread and is_shown_to_support(request, user=user, thread=thread):
        return Sight(user=user, may_read=True, may_export=may_export and may_read, reason=CONSENT, is_consent=True)
    until = datetime.fromtimestamp(ends, timezone.get_current_timezone()) if reason else None
    return Sight(user=user, may_read=may_read, may_export=may_export and may_read, reason=reason, until=until)


def is_shown_to_support(request: HttpRequest, *, user: int, thread: UUID) -> bool:
    if not request.user.has_perm(SEE_FEEDBACK):
        return False
    return Feedback.objects.filter(user=user, thread=thread, shown_since__isnull=False).exists()


def open_content(request: HttpRequest, *, user: int, reason: str) -> None:
    """From now on, in this session, the content of this person is shown for this reason."""
    until = timezone.now() + OPEN_FOR
    request.session[SESSION_KEY] = _standing(request) | {str(user): [reason[:REASON_CHARS], until.timestamp()]}


def close_content(request: HttpRequest, *, user: int) -> None:
    request.session[SESSION_KEY] = {key: value for key, value in _standing(request).items() if key != str(user)}


def _standing(request: HttpRequest) -> dict[str, Any]:
    """The reasons that still hold, by user: the words and until when, in seconds."""
    now = timezone.now().timestamp()
    latest = now + OPEN_FOR.total_seconds()  # later than that was said before the clock was set back
    grants: dict[str, Any] = request.session.get(SESSION_KEY, {})
    return {user: [reason, until] for user, (reason, until) in grants.items() if now < until <= latest}
