"""The support case: why did the assistant forget what was said weeks ago? Support looks, for a reason, on record."""

import uuid

from django.contrib.auth.models import User
from django.utils import timezone

from config.demo.clock import Clock
from conversations.models import ContentAccess, ContextSnapshot, Message

REASON = "Ticket 2207: asks why lavender was suggested, though she had told that her daughter reacts to bees"
FORGOTTEN, MISTAKEN = "A&E", "seating corner"
"""Words of the turn that was forgotten, and of the one whose answer shows it."""

Addresses = list[tuple[str, str, str]]
"""Who is to look, at what, and where it is."""


def turn(thread: uuid.UUID, words: str) -> Message:
    """The first message that says these words."""
    said = Message.objects.filter(thread=thread, role=Message.Role.USER, text__contains=words)
    return said.earliest("position")


def request_of(message: Message) -> ContextSnapshot:
    return ContextSnapshot.objects.filter(message=message, purpose=ContextSnapshot.Purpose.REPLY).latest("created_at")


def look_into(user: User, *, staff: User, clock: Clock, thread: uuid.UUID) -> None:
    """As it is recorded when support opens these pages, one after the other."""
    said, mistaken = turn(thread, FORGOTTEN), turn(thread, MISTAKEN)
    pages = (("thread", thread), ("model request", request_of(mistaken).id), ("why of a turn", said.id))
    clock.wait(3_600)
    for what, object_id in pages:
        clock.wait(70)
        ContentAccess.objects.create(
            at=timezone.now(),
            staff=staff,
            staff_name=staff.username,
            user=user,
            action=ContentAccess.Action.READ,
            what=what,
            object_id=str(object_id),
            thread_id=thread,
            reason=REASON,
        )


def addresses(thread: uuid.UUID) -> Addresses:
    admin = "/admin/conversations"
    said, mistaken = turn(thread, FORGOTTEN), turn(thread, MISTAKEN)
    return [
        ("marta", "a thread of a month", f"/threads/{thread}/"),
        ("marta", "what is remembered, and who looked", "/memory/"),
        ("support", "the support case: why was it forgotten?", f"{admin}/message/{said.id}/why/"),
        ("support", "the map of that thread", f"{admin}/thread/{thread}/map/"),
        ("support", "the request that shows it", f"{admin}/contextsnapshot/{request_of(mistaken).id}/change/"),
    ]
