"""The one way to ask for a person's files. What isn't the person's is not found."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum

from conversations import threads
from conversations.accounts.limits import files_limit_of
from conversations.context.turns.groups import FILE
from conversations.errors import FileElsewhere, FileNotFound, FileUnreadable, PartNotFound, PictureNotFound
from conversations.holds import coverage, custody
from conversations.models import File, FilePart, Thread
from conversations.runtime.ids import lowest_uuid7

ORPHANED = timedelta(days=1)
"""A file that was in no message by then goes."""
AT_ONCE = 500


def of(user: User) -> QuerySet[File]:
    """Newest first."""
    return File.objects.filter(user=user).order_by("-id")


def listed(user: User) -> QuerySet[File]:
    """As lists have them: without those of temporary threads."""
    temporary = Thread.objects.filter(user=user, id=OuterRef("thread_id"), temporary=True)
    return of(user).filter(~Exists(temporary))


def get(user: User, file_id: str | uuid.UUID) -> File:
    """Raises ``FileNotFound`` where the id is malformed, unknown or another user's."""
    return threads.row_with_id(of(user), file_id, FileNotFound)


def attachable(user: User, ids: Sequence[uuid.UUID], thread_id: uuid.UUID) -> list[File]:
    """Those that a message of the thread brings, in this order. Raises ``FileNotFound``, ``FileElsewhere`` and, where nothing
    of one could be read, ``FileUnreadable``."""
    files = {file.id: file for file in of(user).filter(id__in=ids)} if ids else {}
    for id in ids:
        if id not in files:
            raise FileNotFound
        if files[id].thread_id not in (None, thread_id) or files[id].project_id:
            raise FileElsewhere(file=str(id))
        if files[id].state == File.State.FAILED:
            raise FileUnreadable(file=str(id), name=files[id].name)
    return [files[id] for id in ids]


def are_being_read(user_id: int, ids: Sequence[str]) -> bool:
    """Whether any of them is."""
    return File.objects.filter(user=user_id, id__in=ids, state=File.State.READING).exists()


@dataclass(frozen=True, kw_only=True)
class Room:
    """What a person's files take with the pictures of their parts, and may take, in bytes; ``most`` 0: no limit."""

    used: int
    most: int


def room_of(user: User) -> Room:
    used = (
        of(user).order_by().aggregate(used=Sum(F("size") + F("picture_bytes") + F("thumbnail_size"), default=0))["used"]
    )
    return Room(used=used, most=files_limit_of(user))


def file_block(file: File) -> dict[str, str]:
    """As a user turn names it."""
    return {"type": FILE, "file": str(file.id), "name": file.name}


def parts_of(file: File) -> QuerySet[FilePart]:
    """In the order of the file; while it is read, those that there are by now."""
    return FilePart.objects.filter(user=file.user_id, file=file).order_by("number")


def part_of(file: File, number: str) -> FilePart:
    """Raises ``PartNotFound``."""
    is_number = number.isascii() and number.isdecimal() and len(number) < 10
    part = parts_of(file).filter(number=int(number)).first() if is_number else None
    if part is None:
        raise PartNotFound
    return part


def picture_of(part: FilePart) -> str:
    """Its place. Raises ``PictureNotFound``."""
    if not part.picture:
        raise PictureNotFound
    return part.picture


@transaction.atomic
def delete_unsent(user: User, ids: Sequence[uuid.UUID]) -> None:
    """Those of these files that are in no message."""
    unsent = of(user).filter(id__in=ids, thread=None, project=None)
    custody.keep_files(user.pk, unsent)
    unsent.delete()


def delete_orphans(before: datetime) -> int:
    """Some of those that were uploaded by then and are in no message. Returns how many."""
    ids = orphans(before).values_list("id", flat=True)[:AT_ONCE]
    deleted, _ = File.objects.filter(id__in=list(ids)).delete()
    return deleted


def orphans(before: datetime) -> QuerySet[File]:
    """Those that were uploaded by then, are in no message and under no hold, the oldest first."""
    return (
        File.objects.filter(thread=None, project=None, id__lt=lowest_uuid7(before))
        .exclude(coverage.exempt())
        .order_by("id")
    )
