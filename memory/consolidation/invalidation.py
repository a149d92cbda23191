"""What was noted of turns leaves at once when they come to count no more, or count again; the part is made anew (F5, F10).

Until then nothing of what the part told is given to any request.
"""

import uuid
from collections.abc import Collection, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet

from artifacts.models import Artifact, ArtifactVersion
from conversations.context.turns.filtering import ARTIFACT_CORRELATION_WINDOW, FilterArtifact, identify_fulfilled_pairs
from conversations.context.turns.turn import Turn
from conversations.models import Message, Thread
from conversations.runtime import clock
from memory.consolidation import store
from memory.consolidation.pending_parts import BESIDE
from memory.models import IndexedPassage
from memory.services import preferences_of, zone_of


def lock(user_id: int, thread_id: uuid.UUID) -> None:
    """Keep a thread's turns and notes from other writers until the transaction ends. Before its artifacts are locked."""
    Thread.objects.select_for_update(no_key=True).filter(user=user_id, id=thread_id).first()


def artifact_changed(artifact: Artifact) -> None:
    """It was made, deleted or restored: what asked for it, and what answered that, counts no more, or again.

    Must run in the transaction of that, with the thread locked.
    """
    versions = [
        FilterArtifact(created_at=version.created_at, message=version.message_id, reply=version.reply_id)
        for version in artifact.versions.filter(user=artifact.user_id).exclude(origin=ArtifactVersion.Origin.HAND)
    ]
    user_id, thread_id = artifact.user_id, artifact.thread_id
    positions = list(_makers(user_id, thread_id, versions).values_list("position", flat=True))
    _amend(user_id, thread_id, _exchanges(user_id, thread_id, positions, versions))


@transaction.atomic
def answered_anew(user_id: int, thread_id: uuid.UUID, question_id: uuid.UUID) -> None:
    """A reply to a turn made something, or a model declined the turn, or answered it after all."""
    lock(user_id, thread_id)
    turns = Message.objects.filter(user=user_id, thread=thread_id, is_active=True)
    _amend(user_id, thread_id, turns.filter(Q(id=question_id) | Q(parent=question_id)))


@transaction.atomic
def answer_replaced(user_id: int, thread_id: uuid.UUID, *, answer: uuid.UUID, position: int, depth: int) -> None:
    """Another answer took the place of this one at the end of the active path, after a turn of this ``depth``."""
    lock(user_id, thread_id)
    path_moved(user_id, thread_id, left=[answer], positions=[position], depth=depth)


def path_moved(
    user_id: int,
    thread_id: uuid.UUID,
    *,
    left: Sequence[uuid.UUID],
    positions: Sequence[int],
    depth: int,
) -> None:
    """Another path became the active one of a thread, which is locked. ``left`` are the turns that are on it no longer,
    ``positions`` theirs and those of the turns that came to it, ``depth`` that of the last turn of both.

    Parts that lie after that are read anew, and the one that reaches over it.
    """
    IndexedPassage.objects.filter(user_id=user_id, thread=thread_id, depth__gt=depth).delete()
    user = User.objects.get(id=user_id)
    zone = zone_of(preferences_of(user))
    store.remove_parts_from(user_id, thread_id, min(positions), zone=zone, at=clock.now())
    store.unsettle(user_id, thread_id, positions=positions, turns=left, zone=zone, at=clock.now())


def _makers(user_id: int, thread_id: uuid.UUID, versions: Sequence[FilterArtifact]) -> QuerySet[Message]:
    """The turns that may have made them."""
    may = Q(pk__in=[])
    for version in versions:
        if version.message or version.reply:
            may |= Q(id=version.message) if version.message else Q(reply=version.reply)
        else:
            may |= Q(created_at__range=(version.created_at - ARTIFACT_CORRELATION_WINDOW, version.created_at))
    mine = Message.objects.filter(user=user_id, thread=thread_id)
    return mine.filter(may, is_active=True, role=Message.Role.ASSISTANT)


def _exchanges(
    user_id: int, thread_id: uuid.UUID, makers: Collection[int], versions: Sequence[FilterArtifact]
) -> QuerySet[Message]:
    """The turns that the rule leaves out for these versions."""
    turns = Message.objects.filter(user=user_id, thread=thread_id, is_active=True)
    ids: set[uuid.UUID] = set()
    for position in makers:
        near = turns.filter(position__range=(position - BESIDE, position + BESIDE)).order_by("position")
        ids |= identify_fulfilled_pairs([Turn.of(turn) for turn in near], versions)
    return turns.filter(id__in=ids)


def _amend(user_id: int, thread_id: uuid.UUID, turns: QuerySet[Message]) -> None:
    rows = list(turns.values_list("id", "position"))
    if not store.parts_at(user_id, thread_id, [position for _, position in rows]).exists():
        return
    user = User.objects.get(id=user_id)
    store.unsettle(
        user.pk,
        thread_id,
        positions=[position for _, position in rows],
        turns=[id for id, _ in rows],
        zone=zone_of(preferences_of(user)),
        at=clock.now(),
    )
