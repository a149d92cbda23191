"""What a delete takes along, counted and not loaded: a thread may have a hundred thousand turns."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import QuerySet

from artifacts.models import Artifact
from conversations.models import ContextSnapshot, File, Message, Reply, Thread


def goes_with(threads: QuerySet[Thread]) -> dict[str, int]:
    return {
        "threads": threads.count(),
        "turns": Message.objects.filter(thread__in=threads).count(),
        "replies": Reply.objects.filter(thread__in=threads).count(),
        "artifacts": Artifact.objects.filter(thread__in=threads).count(),
        "files": File.objects.filter(thread__in=threads).count(),
        "model requests": ContextSnapshot.objects.filter(thread__in=threads).count(),
    }


def log_thread_deletions(user_id: Any, threads: Iterable[Thread]) -> list[LogEntry]:
    """Django's log would keep the title, which is the user's own words, beyond the delete."""
    content_type = ContentType.objects.get_for_model(Thread)
    return LogEntry.objects.bulk_create(
        LogEntry(
            user_id=user_id,
            content_type=content_type,
            object_id=str(thread.pk),
            object_repr=f"thread {thread.pk}",
            action_flag=DELETION,
        )
        for thread in threads
    )
