"""Who of the staff looked at what a person wrote, as that person is told."""

import uuid
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import QuerySet

from conversations.models import ContentAccess, Message, Thread


def accesses_to(user: User) -> QuerySet[ContentAccess]:
    """Newest first."""
    return ContentAccess.objects.filter(user_id=user.pk).order_by("-id")


def addresses_of(user: User, accesses: Sequence[ContentAccess]) -> dict[uuid.UUID, str]:
    """The pages on which the person finds what was looked at, by the ids of the accesses, where it is still there."""
    threads = {access.thread_id for access in accesses if access.thread_id}
    kept = set(Thread.objects.filter(user=user, id__in=threads).values_list("id", flat=True))
    seen = [access.object_id for access in accesses if access.what == Message._meta.verbose_name]
    turns = Message.objects.filter(user=user, id__in=seen, thread__in=kept, is_active=True)
    places = {str(id): f"#turn-{position}" for id, position in turns.values_list("id", "position")}
    return {
        access.id: f"/threads/{access.thread_id}/{places.get(access.object_id, '')}"
        for access in accesses
        if access.thread_id in kept
    }
