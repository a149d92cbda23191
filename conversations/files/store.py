"""The one way to ask for a person's files. What isn't the person's is not found."""

import uuid
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet

from conversations import threads
from conversations.errors import FileNotFound, PartNotFound, PictureNotFound
from conversations.models import File, FilePart
from conversations.runtime.ids import lowest_uuid7

ORPHANED = timedelta(days=1)
"""A file that was in no message by then goes."""
AT_ONCE = 500


def of(user: User) -> QuerySet[File]:
    """Newest first."""
    return File.objects.filter(user=user).order_by("-id")


def get(user: User, file_id: str | uuid.UUID) -> File:
    """Raises ``FileNotFound`` where the id is malformed, unknown or another user's."""
    file = of(user).filter(id=threads.identifier(file_id, FileNotFound)).first()
    if file is None:
        raise FileNotFound
    return file


def parts_of(file: File) -> QuerySet[FilePart]:
    """In the order of the file; while it is read, those that there are by now."""
    return FilePart.objects.filter(file=file).order_by("number")


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


def delete(file: File) -> None:
    """With its parts. A worker removes the bytes within seconds."""
    file.delete()


def delete_orphans(now: datetime) -> int:
    """Some of those that were uploaded a day ago and are in no message. Returns how many."""
    orphans = File.objects.filter(thread=None, id__lt=lowest_uuid7(now - ORPHANED)).order_by("id")
    deleted, _ = File.objects.filter(id__in=list(orphans.values_list("id", flat=True)[:AT_ONCE])).delete()
    return deleted
