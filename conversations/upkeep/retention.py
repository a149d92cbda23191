"""What is kept for a while only: events, requests, files in no message, rows of tasks. A small transaction at a time."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from conversations.accounts import lifecycle
from conversations.context import snapshots
from conversations.files import storage, store
from conversations.models import ContextBlock, ContextSnapshot, Reply, Thread
from conversations.runtime import interruption
from conversations.runtime.ids import lowest_uuid7
from conversations.threads.deletion import allow_deletion
from conversations.upkeep import partitions

AT_ONCE = 500
TASKS_KEPT = timedelta(days=7)


def apply() -> None:
    """Delete what is older than the settings say."""
    now = timezone.now()
    partitions.make_ahead(now)
    partitions.drop_events(now)
    _until_done(lambda: delete_tasks(now - TASKS_KEPT))
    _until_done(lambda: store.delete_orphans(now))
    storage.remove_scratch()
    lifecycle.clear_sign_ins(now)
    if settings.OPENBOOK_SNAPSHOT_DAYS:
        before = now - timedelta(days=settings.OPENBOOK_SNAPSHOT_DAYS)
        delete_snapshots(before)
        partitions.drop_requests(before)


def delete_tasks(before: datetime) -> int:
    """The oldest rows of tasks that ended before then. Returns how many."""
    old = DBTaskResult.objects.finished().filter(finished_at__lt=before).values_list("id", flat=True)
    deleted, _ = DBTaskResult.objects.filter(id__in=list(old[:AT_ONCE])).delete()
    return deleted


def delete_snapshots(before: datetime) -> None:
    """Those made before then, with the texts that no other names. The newest of each thread and purpose stays."""
    for thread_id in list(_old(before).order_by().values_list("thread_id", flat=True).distinct()):
        _until_done(lambda thread_id=thread_id: _delete_snapshots_of(thread_id, before))  # type: ignore[misc]


def _delete_snapshots_of(thread_id: uuid.UUID, before: datetime) -> int:
    with allow_deletion():
        # A request is recorded by a running reply, or together with the reply by whoever can write to the thread;
        # one for notes of it under this lock.
        if Thread.objects.select_for_update(no_key=True).filter(id=thread_id).first() is None:
            return 0
        if Reply.objects.filter(thread=thread_id, status=Reply.Status.RUNNING).exists():
            return 0
        old = list(_digests_only(_old(before).filter(thread=thread_id).order_by("id"))[:AT_ONCE])
        ContextSnapshot.objects.filter(id__in=[snapshot.id for snapshot in old]).delete()
        unnamed = set(_block_digests(old)) - set(
            _block_digests(_digests_only(ContextSnapshot.objects.filter(thread=thread_id)))
        )
        ContextBlock.objects.filter(thread=thread_id, sha256__in=unnamed).delete()
    return len(old)


def _old(before: datetime) -> QuerySet[ContextSnapshot]:
    # The prompt cache is planned by the newest request of a reply.
    newer = ContextSnapshot.objects.filter(
        thread=OuterRef("thread"), purpose=OuterRef("purpose"), created_at__gt=OuterRef("created_at")
    )
    return ContextSnapshot.objects.filter(Exists(newer), id__lt=lowest_uuid7(before), created_at__lt=before)


def _digests_only(snapshots: QuerySet[ContextSnapshot]) -> QuerySet[ContextSnapshot]:
    return snapshots.only("sections", "additions", "runs", "items")


def _block_digests(requests: Iterable[ContextSnapshot]) -> Iterator[bytes]:
    return (bytes.fromhex(digest) for snapshot in requests for digest in snapshots.digests_of(snapshot))


def _until_done(step: Callable[[], int]) -> None:
    while not interruption.is_requested() and step():
        pass
