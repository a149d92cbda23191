"""What is kept for a while only, and for how long: the kinds, each deleted in small transactions, and what would go now."""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django_tasks_db.models import DBTaskResult

from conversations.accounts import lifecycle
from conversations.audit import chain
from conversations.context.record import snapshots
from conversations.errors import ReplyInProgress
from conversations.files import storage, store
from conversations.models import ContextBlock, ContextSnapshot, Reply, Thread, TokenReservation
from conversations.runtime import clock, interruption
from conversations.runtime.ids import lowest_uuid7
from conversations.threads import deletion
from conversations.threads.deletion import allow_deletion
from conversations.upkeep import expired, partitions
from conversations.upkeep.expired import Expired
from memory import forgetting

AT_ONCE = 500
TASKS_KEPT = timedelta(days=7)
RESERVATIONS_KEPT = timedelta(days=2)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What is deleted once it is as old as ``kept``; ``None``: kept for good.

    ``setting`` names what ``kept`` follows from; empty: it is fixed. ``preview`` and ``delete`` are given the time before
    which it goes.
    """

    name: str
    what: str
    setting: str
    kept: timedelta | None
    preview: Callable[[datetime], Expired]
    delete: Callable[[datetime], None]


def kinds(days: Mapping[str, int] | None = None) -> list[Kind]:
    """All there are. ``days`` by name, 0 for good, hold in place of the settings."""

    def since(name: str, configured: int) -> timedelta | None:
        number = (days or {}).get(name, configured)
        return timedelta(days=number) if number else None

    return [*_kinds_by_setting(since), *_fixed_kinds()]


def _kinds_by_setting(since: Callable[[str, int], timedelta | None]) -> list[Kind]:
    """Those whose time is a setting. ``since`` makes one of its days; ``None``: for good."""
    return [
        Kind(
            name="threads",
            what="conversations without a turn, with all that is remembered of them alone",
            setting="OPENBOOK_THREAD_DAYS",
            kept=since("threads", settings.OPENBOOK_THREAD_DAYS),
            preview=lambda before: expired.threads(_quiet(before)),
            delete=delete_threads,
        ),
        Kind(
            name="snapshots",
            what="recorded model requests, but the newest of each conversation and purpose",
            setting="OPENBOOK_SNAPSHOT_DAYS",
            kept=since("snapshots", settings.OPENBOOK_SNAPSHOT_DAYS),
            preview=lambda before: expired.rows(_old(before).order_by("id"), at="created_at"),
            delete=_delete_requests,
        ),
        Kind(
            name="accesses",
            what="notes of staff's accesses to content, in whole months",
            setting="OPENBOOK_ACCESS_DAYS",
            kept=since("accesses", settings.OPENBOOK_ACCESS_DAYS),
            preview=lambda before: expired.tables(partitions.ACCESSES, partitions.accesses_over(before)),
            delete=partitions.drop_accesses,
        ),
        Kind(
            name="audit",
            what="events of the audit record",
            setting="OPENBOOK_AUDIT_DAYS",
            kept=since("audit", settings.OPENBOOK_AUDIT_DAYS),
            preview=lambda before: expired.rows(chain.old_events(before), at="at"),
            delete=chain.prune,
        ),
        Kind(
            name="events",
            what="events of ended replies, in whole days",
            setting="OPENBOOK_EVENT_MINUTES",
            kept=timedelta(minutes=settings.OPENBOOK_EVENT_MINUTES),
            preview=lambda before: expired.tables(partitions.EVENTS, partitions.events_over(before)),
            delete=partitions.drop_events,
        ),
    ]


def _fixed_kinds() -> list[Kind]:
    return [
        Kind(
            name="files",
            what="uploaded files that are in no message",
            setting="",
            kept=store.ORPHANED,
            preview=lambda before: expired.rows(store.orphans(before), at="created_at", size=F("size")),
            delete=lambda before: _until_done(partial(store.delete_orphans, before)),
        ),
        Kind(
            name="sign_ins",
            what="sign-ins that have run out",
            setting="",
            kept=timedelta(),
            preview=lambda before: expired.rows(_over(before).order_by("expire_date"), at="expire_date"),
            delete=lifecycle.clear_sign_ins,
        ),
        Kind(
            name="reservations",
            what="tokens that were set aside for calls of models beside replies",
            setting="",
            kept=RESERVATIONS_KEPT,
            preview=lambda before: expired.rows(_old_reservations(before).order_by("created_at"), at="created_at"),
            delete=lambda before: _until_done(partial(delete_reservations, before)),
        ),
        Kind(
            name="tasks",
            what="tasks of workers that have ended",
            setting="",
            kept=TASKS_KEPT,
            preview=lambda before: expired.rows(_ended_tasks(before).order_by("finished_at"), at="finished_at"),
            delete=lambda before: _until_done(partial(delete_tasks, before)),
        ),
    ]


def apply() -> None:
    """Delete what is older than the settings say."""
    now = clock.now()
    partitions.make_ahead(now)
    storage.remove_scratch()
    for kind in kinds():
        if kind.kept is not None:
            kind.delete(now - kind.kept)


def _old_reservations(before: datetime) -> QuerySet[TokenReservation]:
    return TokenReservation.objects.filter(created_at__lt=before)


def delete_reservations(before: datetime) -> int:
    """The oldest rows from before then. Returns how many."""
    ids = list(_old_reservations(before).values_list("id", flat=True)[:AT_ONCE])
    deleted, _ = TokenReservation.objects.filter(id__in=ids).delete()
    return deleted


def _ended_tasks(before: datetime) -> QuerySet[DBTaskResult[..., Any]]:
    return DBTaskResult.objects.finished().filter(finished_at__lt=before)


def delete_tasks(before: datetime) -> int:
    """The oldest rows of tasks that ended before then. Returns how many."""
    ids = list(_ended_tasks(before).values_list("id", flat=True)[:AT_ONCE])
    deleted, _ = DBTaskResult.objects.filter(id__in=ids).delete()
    return deleted


def _over(before: datetime) -> QuerySet[Session]:
    return Session.objects.filter(expire_date__lte=before)


def _quiet(before: datetime) -> QuerySet[Thread]:
    return Thread.objects.filter(updated_at__lt=before).order_by("updated_at")


def delete_threads(before: datetime) -> None:
    """Some of those without a turn since then, as their person would. One that a reply is in the way of is for later.

    Raises ``LedgerAway``.
    """
    for thread_id, user_id in list(_quiet(before).values_list("id", "user_id")[:AT_ONCE]):
        if interruption.is_requested():
            return
        try:
            _delete_thread(thread_id, user_id, before)
        except ReplyInProgress:
            continue


@transaction.atomic
def _delete_thread(thread_id: uuid.UUID, user_id: int, before: datetime) -> None:
    forgetting.hold_off(user_id)
    thread = _quiet(before).filter(id=thread_id).first()
    if thread is not None:  # nobody has gone on with it meanwhile
        deletion.delete_thread(thread)


def _delete_requests(before: datetime) -> None:
    delete_snapshots(before)
    partitions.drop_requests(before)


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
